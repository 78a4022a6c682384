"""Names of --data that nothing asks for."""

from pathlib import Path

import pytest

from orchestrator.planning.site.unknown_data import keep_common
from tests.orchestrator.planning.planned import planner
from tests.texts import expect_text

SITE = """
data: {port: 80, app: {name: x}, empty: {}, url: "x{{ Data.domain }}"}
overrides: {prod: {level: 1}}
ccm:
  resources:
    - exec:
        - "{{ key }}": {foreach: "Data.looped ?? {}"}
        - show: {command: "echo {{ lookup('data.given', '') }}", control: {if: "Data.on ?? true"}}
        - jet: {command: "echo {{ jet('part.jet') }}"}
    - scaffold:
        - /srv/app: {source: app}
    - apply: [{child.yaml: {}}]
"""


def warnings(directory: Path, *data: str) -> list[str]:
    """What is said of these assignments."""
    (directory / "app").mkdir(exist_ok=True)
    (directory / "app" / "conf").write_text("[[ Data.scaffolded ]]")
    (directory / "part.jet").write_text("[[ isset(Data.jetted) ]]")
    child = "data: {below: 1}\nccm: {resources: [{exec: [{'true': {}}]}]}\n"
    (directory / "child.yaml").write_text(child)
    return [str(p) for p in planner(directory, SITE, data=data).site.warnings]


@pytest.mark.parametrize(
    "name",
    ["port", "app.name", "app.name.below", "empty.new", "level", "given", "on", "below",
     "scaffolded", "jetted", "domain", "looped.x"],
)  # fmt: skip
def test_what_something_knows_is_no_warning(tmp_path: Path, name: str) -> None:
    """Data, overrides, expressions, templates and child manifests know names."""
    assert warnings(tmp_path, f"{name}=1") == []


def test_what_nothing_knows_is_a_warning(tmp_path: Path) -> None:
    """A misspelt name is told with the nearest one, and only once."""
    said = warnings(tmp_path, "prt=1", "prt=2", "app.nothing=3", "port=4")
    expect_text(said)


def test_a_template_that_is_missing_names_nothing(tmp_path: Path) -> None:
    """Under control it may never be needed, so it is no reason to stop."""
    left_out = "exec: [{a: {command: \"{{ jet('gone') }}\", control: {if: 'false'}}}]"
    made = planner(tmp_path, f"ccm: {{resources: [{{{left_out}}}]}}", data=["prt=1"])
    expect_text(str(made.site.warnings[0]))


def test_of_several_manifests_that_are_pushed_only_what_none_knows_is_told(tmp_path: Path) -> None:
    """A stage that does not ask for a name says nothing where another one does; and once."""
    sites = []
    for name, known in (("one", "port"), ("two", "size")):
        (tmp_path / name).mkdir()
        text = f"data: {{{known}: 1}}\nccm: {{resources: [{{exec: [{{'true': {{}}}}]}}]}}"
        sites.append(planner(tmp_path / name, text, data=["port=2", "size=2", "siz=2"]).site)
    keep_common(sites)
    assert [[str(problem) for problem in site.warnings] for site in sites] == [
        ["--data siz has no effect (did you mean size?)"],
        [],
    ]
