"""Files and directories of the controller that cannot be read."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import plan, refused
from tests.texts import expect_text

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


@pytest.mark.parametrize("name", ["file", "jet"])
@pytest.mark.parametrize("choice", ["GONE if IT else 'x'", "IT ? GONE : 'x'", "IT and GONE"])
def test_a_file_that_an_expression_may_leave_out_is_needed_where_it_is_read(
    tmp_path: Path, name: str, choice: str
) -> None:
    """A file that is missing matters only where the branch is taken; it fails the resource then."""

    def deferred_error(condition: str) -> str:
        source = choice.replace("GONE", f"{name}('gone')").replace("IT", condition)
        resource = f'exec: [{{a: {{command: "echo {{{{ {source} }}}}"}}}}]'
        (item,) = plan(tmp_path, f"ccm: {{resources: [{{{resource}}}]}}").items
        return item.deferred_error

    assert deferred_error("1 > 2") == ""
    assert "gone" in deferred_error("2 > 1")


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICWLfrJU26RdnLHGbvUJT3pF/2hm7puhxZ0+ij1EUs1c\n"


@pytest.mark.parametrize("source", ["keys.pub", "{{ 'keys' }}.pub"])
def test_a_file_of_keys_becomes_a_property(tmp_path: Path, source: str) -> None:
    """The plan has the text of the file, which is checked as the property that it becomes."""
    site = f'ccm: {{resources: [{{authorized_key: [{{anna: {{source: "{source}"}}}}]}}]}}'
    (tmp_path / "keys.pub").write_text(KEY)
    (item,) = plan(tmp_path, site).items
    assert item.properties == {"key": KEY}
    (tmp_path / "keys.pub").write_text(KEY + "ssh-rsa " + KEY.split()[1])
    if "{" in source:
        (item,) = plan(tmp_path, site).items
        expect_text(item.deferred_error)
    else:
        expect_text(refused(tmp_path, site))
        (tmp_path / "keys.pub").unlink()
        expect_text(refused(tmp_path, site))
