"""Files and folders of the controller that cannot be read."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import plan, refused

FILE = "file: [{/a: {source: gone, owner: root, group: root, mode: '0644'CONTROL}}]"
DEFERRED = "exec: [{a: {command: \"{{ file('gone') }}\"CONTROL}}]"
TEMPLATE = "exec: [{a: {command: \"{{ jet('gone') }}\"CONTROL}}]"
SCAFFOLD = "scaffold: [{/a: {source: goneCONTROL}}]"


@pytest.mark.parametrize("resource", [FILE, DEFERRED, TEMPLATE, SCAFFOLD])
def test_a_source_that_control_may_leave_out_is_needed_at_its_turn_only(
    tmp_path: Path, resource: str
) -> None:
    """A literal file that is missing refuses the run; under control it fails its resource."""

    def site(condition: str) -> str:
        control = condition and f", control: {{if: {condition}}}"
        return f"ccm: {{resources: [{{{resource.replace('CONTROL', control)}}}]}}"

    assert "gone" in refused(tmp_path, site(""))
    (left_out,) = plan(tmp_path, site("'1 > 2'")).items
    assert not left_out.managed
    (tried,) = plan(tmp_path, site("'2 > 1'")).items
    assert tried.managed
    assert "gone" in tried.deferred_error
