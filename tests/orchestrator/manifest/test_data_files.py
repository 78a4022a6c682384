"""The files of a project's data directory."""

from pathlib import Path

import pytest

from inventory import load
from orchestrator.cli.app import main
from orchestrator.manifest.data_files import DataFiles
from remote_runtime.errors import Problem
from tests.orchestrator.planning.planned import FakeHost, gathered, plan, planner, refused, show
from tests.texts import expect_text


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A data directory with files for two roles."""
    write(tmp_path / "data", "default", "a: default\nb: default\nl: [1]\n")
    write(tmp_path / "data", "role/web", "a: web\nl: [2]\nport: 80\n")
    write(tmp_path / "data", "role/db", "a: db\n")
    return tmp_path


def write(directory: Path, name: str, text: str) -> None:
    """One data file."""
    path = directory / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def shown(
    directory: Path, head: str, expression: str = "{{ Data.a }} {{ Data.b }} {{ Data.l }}"
) -> str:
    """What an expression comes to with the data directory."""
    return str(show(directory, expression, head, data_dir=str(directory / "data")))


def test_default_is_found_without_a_hierarchy(directory: Path) -> None:
    """The order is [default], and default.yaml is laid over data."""
    assert shown(directory, "data: {a: base, b: base}") == "default default [1]"


def test_an_entry_finds_the_file_of_its_name(directory: Path) -> None:
    """role:web is role/web.yaml; with deep all files of the order are merged."""
    head = "hierarchy: {order: [default, 'role:{{ Facts.role | default(\"web\") }}'], merge: deep}"
    assert shown(directory, head) == "web default [1, 2]"


def test_overrides_win_over_the_file_of_the_same_entry(directory: Path) -> None:
    """With first both replace, the override last; entries behind them do not count."""
    head = "hierarchy: {order: ['role:web', default]}\noverrides: {'role:web': {b: own}}"
    assert shown(directory, head + "\ndata: {b: base}") == "web own [2]"


def test_the_first_entry_that_has_a_key_counts_for_that_key(directory: Path) -> None:
    """keys: {b: first} goes on to the entry that has b, and the others are merged."""
    head = (
        "hierarchy: {order: ['role:web', default, more], merge: deep, keys: {b: first, l: unique}}"
        "\noverrides: {more: {b: more, l: [2, 3]}}"
    )
    assert shown(directory, head) == "default default [2, 1, 3]"


def test_a_fact_never_leads_out_of_the_directory(directory: Path) -> None:
    """What was not found in the directory when it was read is no data file."""
    (directory / "secret.yaml").write_text("a: stolen\n")
    for path in ("../secret", "role/../../secret", str(directory / "secret")):
        head = f"data: {{a: base}}\nhierarchy: {{order: ['{{{{ \"{path}\" }}}}']}}"
        assert shown(directory, head, "{{ Data.a }}") == "base"


def test_a_child_finds_the_same_files(directory: Path) -> None:
    """By its own order."""
    (directory / "child.yaml").write_text(
        "hierarchy: {order: ['role:db']}\nccm: {resources: [{exec: [{'{{ Data.a }}': {}}]}]}"
    )
    text = "ccm: {resources: [{apply: [{child.yaml: {}}]}]}"
    made = plan(directory, text, data_dir=str(directory / "data"))
    assert [item.name for item in made.items] == ["child.yaml", "db"]


def test_templates_and_checks_of_files_count_where_they_are_reached(directory: Path) -> None:
    """A file may hold templates; what its comments demand holds for hosts that reach it."""
    write(directory / "data", "role/web", "host: '{{ Host.name }}'\n# @require\nkey: ''\n")
    text = "hierarchy: {order: ['role:ROLE']}\nccm: {resources: [{exec: [{x: {}}]}]}"
    options = {"data_dir": str(directory / "data")}
    assert planner(directory, text.replace("ROLE", "db"), **options).plan(FakeHost(), gathered())
    with pytest.raises(Exception, match=r"web\.yaml:3:1: data\.key is required"):
        planner(directory, text.replace("ROLE", "web"), **options).plan(FakeHost(), gathered())


def test_a_broken_file_refuses_the_run(directory: Path) -> None:
    """Each mistake with its place, before any host is contacted."""
    write(directory / "data", "host/a", "- 1\n")
    write(directory / "data", "host/b", "x: 1\nx: 2\n")
    write(directory / "data", "host/c", "hierarchy: {order: [x]}\n")
    write(directory / "data", "host/d", "x: '{{ nope }}'\n")
    text = refused(
        directory, "ccm: {resources: [{exec: [{x: {}}]}]}", data_dir=str(directory / "data")
    )
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
    expect_text([one.hint for one in warnings])


def test_a_file_that_no_host_reaches_is_told(directory: Path) -> None:
    """With the variables of an inventory, and without."""
    write(directory / "data", "role/wbe", "x: 1\n")
    (directory / "hosts.yaml").write_text(
        "hosts: {web1: {vars: {role: web}}, db1: {vars: {role: db}}}\n"
    )
    order = "hierarchy: {order: [default, 'role:{{ Facts.role }}']}"
    text = f"{order}\nccm: {{resources: [{{exec: [{{x: {{}}}}]}}]}}"
    made = planner(directory, text, data_dir=str(directory / "data"))
    hosts = list(load([str(directory / "hosts.yaml")]).hosts.values())
    assert [str(one) for one in made.data_warnings()] == []
    (told,) = made.data_warnings(hosts)
    assert told.message.endswith("data/role/wbe.yaml applies to no host")
    expect_text(told.hint)


def test_the_project_file_names_the_directory(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """data: in ccm.yaml is relative to that file; one that is missing is refused there."""
    (directory / "site.yaml").write_text("ccm: {resources: [{exec: [{'{{ Data.a }}': {}}]}]}")
    (directory / "ccm.yaml").write_text("data: data\n")
    monkeypatch.chdir(directory)
    assert main(["hiera", "parse", "--offline", "site.yaml", "--query", "a"]) == 0
    assert capsys.readouterr().out == '"default"\n'
    (directory / "ccm.yaml").write_text("forks: 3\ndata: dta\n")
    assert main(["validate", "site.yaml"]) == 2
    expect_text(capsys.readouterr().err)


def test_the_files_are_among_those_that_a_plan_is_made_of(directory: Path) -> None:
    """A plan's digests cover them."""
    made = planner(
        directory, "ccm: {resources: [{exec: [{x: {}}]}]}", data_dir=str(directory / "data")
    )
    assert directory / "data" / "role" / "web.yaml" in made.files()


def test_values_below_data_are_warned_of(tmp_path: Path) -> None:
    """They would be data.data; a value of that name that is no map is the user's own."""
    write(tmp_path / "data", "default", "data:\n  a: 1\n")
    write(tmp_path / "data", "role/web", "data: x\n")
    warnings: list[Problem] = []
    DataFiles(str(tmp_path / "data"), [], warnings)
    (found,) = map(str, warnings)
    expect_text(found)
