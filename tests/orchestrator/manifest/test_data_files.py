"""The files of a project's data directory."""

from pathlib import Path

import pytest

from inventory import load
from orchestrator.cli.app import main
from orchestrator.manifest.data_files import DataFiles
from remote_runtime.errors import Problem
from tests.orchestrator.planning.planned import FakeHost, gathered, plan, planner, refused, show


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data directory with files for two roles."""
    write(tmp_path / "data", "default", "a: default\nb: default\nl: [1]\n")
    write(tmp_path / "data", "role/web", "a: web\nl: [2]\nport: 80\n")
    write(tmp_path / "data", "role/db", "a: db\n")
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    """One data file."""
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def shown(
    folder: Path, head: str, expression: str = "{{ Data.a }} {{ Data.b }} {{ Data.l }}"
) -> str:
    """What an expression comes to with the data directory."""
    return str(show(folder, expression, head, data_dir=str(folder / "data")))


def test_default_is_found_without_a_hierarchy(folder: Path) -> None:
    """The order is [default], and default.yaml is laid over data."""
    assert shown(folder, "data: {a: base, b: base}") == "default default [1]"


def test_an_entry_finds_the_file_of_its_name(folder: Path) -> None:
    """role:web is role/web.yaml; with deep all files of the order are merged."""
    head = "hierarchy: {order: [default, 'role:{{ Facts.role | default(\"web\") }}'], merge: deep}"
    assert shown(folder, head) == "web default [1, 2]"


def test_overrides_win_over_the_file_of_the_same_entry(folder: Path) -> None:
    """With first both replace, the override last; entries behind them do not count."""
    head = "hierarchy: {order: ['role:web', default]}\noverrides: {'role:web': {b: own}}"
    assert shown(folder, head + "\ndata: {b: base}") == "web own [2]"


def test_the_first_entry_that_has_a_key_counts_for_that_key(folder: Path) -> None:
    """keys: {b: first} goes on to the entry that has b, and the others are merged."""
    head = (
        "hierarchy: {order: ['role:web', default, more], merge: deep, keys: {b: first, l: unique}}"
        "\noverrides: {more: {b: more, l: [2, 3]}}"
    )
    assert shown(folder, head) == "default default [2, 1, 3]"


def test_a_fact_never_leads_out_of_the_directory(folder: Path) -> None:
    """What was not found in the directory when it was read is no data file."""
    (folder / "secret.yaml").write_text("a: stolen\n")
    for path in ("../secret", "role/../../secret", str(folder / "secret")):
        head = f"data: {{a: base}}\nhierarchy: {{order: ['{{{{ \"{path}\" }}}}']}}"
        assert shown(folder, head, "{{ Data.a }}") == "base"


def test_a_child_finds_the_same_files(folder: Path) -> None:
    """By its own order."""
    (folder / "child.yaml").write_text(
        "hierarchy: {order: ['role:db']}\nccm: {resources: [{exec: [{'{{ Data.a }}': {}}]}]}"
    )
    text = "ccm: {resources: [{apply: [{child.yaml: {}}]}]}"
    made = plan(folder, text, data_dir=str(folder / "data"))
    assert [item.name for item in made.items] == ["child.yaml", "db"]


def test_templates_and_checks_of_files_count_where_they_are_reached(folder: Path) -> None:
    """A file may hold templates; what its comments demand holds for hosts that reach it."""
    write(folder / "data", "role/web", "host: '{{ Host.name }}'\n# @require\nkey: ''\n")
    text = "hierarchy: {order: ['role:ROLE']}\nccm: {resources: [{exec: [{x: {}}]}]}"
    options = {"data_dir": str(folder / "data")}
    assert planner(folder, text.replace("ROLE", "db"), **options).plan(FakeHost(), gathered())
    with pytest.raises(Exception, match=r"web\.yaml:3:1: data\.key is required"):
        planner(folder, text.replace("ROLE", "web"), **options).plan(FakeHost(), gathered())


def test_a_broken_file_refuses_the_run(folder: Path) -> None:
    """Each mistake with its place, before any host is contacted."""
    write(folder / "data", "host/a", "- 1\n")
    write(folder / "data", "host/b", "x: 1\nx: 2\n")
    write(folder / "data", "host/c", "hierarchy: {order: [x]}\n")
    write(folder / "data", "host/d", "x: '{{ nope }}'\n")
    text = refused(folder, "ccm: {resources: [{exec: [{x: {}}]}]}", data_dir=str(folder / "data"))
    assert "host/a.yaml:1:1: a data file must be a map" in text
    assert "host/b.yaml:2:1" in text
    assert "host/c.yaml:1:1: a data file cannot contain hierarchy" in text
    assert "host/d.yaml:1:" in text


def test_names_that_no_entry_can_have_are_told(tmp_path: Path) -> None:
    """A colon in a name, another ending; what begins with a dot is left alone."""
    for name in ("a.yml", "role:web.yaml", ".hidden.yaml", "README.md"):
        (tmp_path / name).write_text("x: 1\n")
    warnings: list[Problem] = []
    files = DataFiles(str(tmp_path), [], warnings)
    assert list(files.names()) == []
    assert [one.hint for one in warnings] == ["rename it to a.yaml", "make it role/web.yaml"]


def test_a_file_that_no_host_reaches_is_told(folder: Path) -> None:
    """With the variables of an inventory, and without."""
    write(folder / "data", "role/wbe", "x: 1\n")
    (folder / "hosts.yaml").write_text(
        "hosts: {web1: {vars: {role: web}}, db1: {vars: {role: db}}}\n"
    )
    order = "hierarchy: {order: [default, 'role:{{ Facts.role }}']}"
    text = f"{order}\nccm: {{resources: [{{exec: [{{x: {{}}}}]}}]}}"
    made = planner(folder, text, data_dir=str(folder / "data"))
    hosts = list(load([str(folder / "hosts.yaml")]).hosts.values())
    assert [str(one) for one in made.data_warnings()] == []
    (told,) = made.data_warnings(hosts)
    assert told.message.endswith("data/role/wbe.yaml")
    assert told.hint == "did you mean role:web?"


def test_the_project_file_names_the_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """data: in ccm.yaml is relative to that file; one that is missing is refused there."""
    (folder / "site.yaml").write_text("ccm: {resources: [{exec: [{'{{ Data.a }}': {}}]}]}")
    (folder / "ccm.yaml").write_text("data: data\n")
    monkeypatch.chdir(folder)
    assert main(["hiera", "parse", "--offline", "site.yaml", "--query", "a"]) == 0
    assert capsys.readouterr().out == '"default"\n'
    (folder / "ccm.yaml").write_text("forks: 3\ndata: dta\n")
    assert main(["validate", "site.yaml"]) == 2
    assert "ccm.yaml:2:7: the data directory dta does not exist" in capsys.readouterr().err


def test_the_files_are_among_those_that_a_plan_is_made_of(folder: Path) -> None:
    """A plan's digests cover them."""
    made = planner(folder, "ccm: {resources: [{exec: [{x: {}}]}]}", data_dir=str(folder / "data"))
    assert folder / "data" / "role" / "web.yaml" in made.files()


def test_values_below_data_are_warned_of(tmp_path: Path) -> None:
    """They would be data.data; a value of that name that is no map is the user's own."""
    write(tmp_path / "data", "default", "data:\n  a: 1\n")
    write(tmp_path / "data", "role/web", "data: x\n")
    warnings: list[Problem] = []
    DataFiles(str(tmp_path / "data"), [], warnings)
    (found,) = map(str, warnings)
    assert "default.yaml:1:1: this key is data.data" in found
