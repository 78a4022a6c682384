"""The files that a site's plans can need."""

from pathlib import Path

import pytest

from tests.texts import expect_text

from ..planned import planner, refused

FILE = "owner: root, group: root, mode: '0644'"
LITERAL = f"""
ccm:
  resources:
    - file:
        - /a: {{source: in.txt, {FILE}}}
        - "/{{{{ Host.name }}}}": {{source: other.txt, {FILE}, control: {{if: "Host.name == 'x'"}}}}
    - apply: [{{child.yaml: {{control: {{if: "Host.name == 'x'"}}}}}}]
"""
CHILD = f"ccm: {{resources: [{{file: [{{/c: {{source: deep/in.txt, {FILE}}}}}]}}]}}"


def reach(directory: Path, text: str) -> "set[str] | None":
    """Names from the directory, in which more lies than a manifest names."""
    for name in ("in.txt", "other.txt", "deep/in.txt", "deep/more.txt", "stray.key"):
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(name)
    (directory / "child.yaml").write_text(CHILD)
    found = planner(directory, text).reach()
    return None if found is None else {str(path.relative_to(directory)) for path in found}


def test_what_a_manifest_spells_out(tmp_path: Path) -> None:
    """Its sources and those of its children, whatever control says of them, and no more."""
    named = {"site.yaml", "child.yaml", "in.txt", "other.txt", "deep/in.txt"}
    assert reach(tmp_path, LITERAL) == named


@pytest.mark.parametrize(
    "text",
    [
        LITERAL.replace("source: in.txt", 'source: "{{ Host.name }}.txt"'),
        LITERAL.replace("child.yaml", '"{{ Host.name }}.yaml"'),
        LITERAL + f"    - file: [{{/x: {{content: \"{{{{ file('in.txt') }}}}\", {FILE}}}}}]\n",
        LITERAL + f"    - file: [{{/x: {{content: \"{{{{ jet ('in.txt') }}}}\", {FILE}}}}}]\n",
        LITERAL + "    - scaffold: [{/x: {source: deep, engine: jet}}]\n",
    ],
)
def test_what_a_template_may_name(tmp_path: Path, text: str) -> None:
    """A computed name, a function that reads, or a tree may need any file of the directory."""
    assert reach(tmp_path, text) is None


def test_types_of_the_site_may_need_any_file(tmp_path: Path) -> None:
    """What the code of a site's own types reads is not known."""
    (tmp_path / "types").mkdir()
    assert reach(tmp_path, LITERAL) is None


@pytest.mark.parametrize(
    "text",
    [
        "data: {x: CALL}\nccm: {resources: [{exec: [{a: {}}]}]}",
        "data: {}\noverrides: {o: {x: [CALL]}}\nccm: {resources: [{exec: [{a: {}}]}]}",
        "ccm: {resources: [{exec: [{CALL: {}}]}]}",
        "ccm: {resources: [{exec: [{a: {control: {if: BARE}}}]}]}",
        "ccm: {resources: [{exec: [{a: {control: {command: CALL}}}]}]}",
        "ccm: {resources: [{exec: [{'{{ item }}': {foreach: BARE}}]}]}",
        "ccm: {assert: [{that: BARE, message: m}], resources: [{exec: [{a: {}}]}]}",
        "ccm: {ask: {k: {command: CALL}}, resources: [{exec: [{a: {}}]}]}",
    ],
)
def test_a_template_is_checked_wherever_it_is_named(tmp_path: Path, text: str) -> None:
    """Its mistakes refuse the run with their position in it."""
    (tmp_path / "t.j2").write_text("\n{% if %}")
    text = text.replace("CALL", "\"{{ template('t.j2') }}\"").replace(
        "BARE", "\"template('t.j2')\""
    )
    expect_text(refused(tmp_path, text))


def test_a_file_that_only_data_names_may_be_missing(tmp_path: Path) -> None:
    """Its value may be that of other hosts; a file of a name or a condition may not."""
    text = "data: {x: \"{{ file('gone') }}\"}\nccm: {resources: [{exec: [{a: {}}]}]}"
    assert planner(tmp_path, text).site.warnings == []
    text = "ccm: {resources: [{exec: [{a: {control: {if: \"file('gone') == ''\"}}}]}]}"
    expect_text(refused(tmp_path, text))
