"""``pamd``."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks

_RULE = "name: su, type: auth, control: '[success=1 default=ignore]', module_path: pam_a.so"
_PATTERN = r"^auth\s+\[success=1\s+default=ignore\]\s+pam_a\.so"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("new_control: required", r"replace: 'auth       required pam_a.so\g<1>'"),
        (
            "module_arguments: 'a b=1'",
            'replace: "auth       [success=1 default=ignore] pam_a.so a b=1"',
        ),
        ("state: absent", "ensure: absent"),
        (
            "state: before, new_type: auth, new_control: required, new_module_path: pam_b.so",
            f"line: auth       required pam_b.so\n            before: '{_PATTERN}(\\s.*)?$'",
        ),
        ("state: args_absent, module_arguments: nullok", r"(?:\s+\S+)*?)\s+nullok(\s.*)?$'"),
    ],
)
def test_rules(tmp_path: Path, arguments: str, expected: str) -> None:
    """Changes of a rule are edits of its file."""
    result, text = convert_tasks(tmp_path, f"- pamd: {{{_RULE}, {arguments}}}\n")
    assert result.records[0].outcome != "not converted"
    assert "- /etc/pam.d/su:" in text
    assert expected in text.replace(
        '"auth       required pam_b.so"', "auth       required pam_b.so"
    )
    check_valid(tmp_path / "site")


def test_an_argument_that_must_be_there(tmp_path: Path) -> None:
    """A command adds it, in place of another value."""
    result, text = convert_tasks(
        tmp_path,
        f"""
        - pamd: {{{_RULE}, state: args_present, module_arguments: "remember={{{{ count }}}}"}}
        - pamd: {{{_RULE}, state: args_present, module_arguments: ["a'b"]}}
        """,
        defaults__main="count: 5\n",
    )
    assert [one.outcome for one in result.records] == ["check", "not converted"]
    assert r"s#\s+remember=\S*(\s|$)#\1#g;s#\s*$# remember={{ Data.count }}#" in text
    assert "NOT CONVERTED: the argument a'b" in text
    check_valid(tmp_path / "site")
