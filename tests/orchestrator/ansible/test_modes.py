"""Modes that depend on the mode that is there."""

from pathlib import Path

import pytest

from orchestrator.ansible.source.symbolic_modes import mode_of_new_directory, relative_mode
from tests.orchestrator.ansible.sites import check_valid, convert_tasks


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("u+rwX,g+rwX,o=rX", "0775"), ("go-w", "0755"), ("o-rx", "0750"), ("a-x,u+x", "0744")],
)
def test_the_mode_of_a_new_directory(mode: str, expected: str) -> None:
    """It is what the bits make of 0755."""
    assert mode_of_new_directory(mode) == expected


def test_the_tests_of_a_mode() -> None:
    """Bits that are set are asked for, and those that are not are refused."""
    assert relative_mode("u+x,o=r") == ["-perm -u+x", "-perm -o+r", "! -perm /o+wx"]
    assert relative_mode("0644") == []
    assert relative_mode("u=rw,g=r,o=") == []


def test_modes_that_change_bits_of_files(tmp_path: Path) -> None:
    """A file that a task writes gets the mode of a new one, and an existing path is changed."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: "u-x,go-rwx"}
        - lineinfile: {path: /etc/b, line: x, create: true, mode: "go-w"}
        - file: {path: /etc/c, owner: root, group: root, mode: "u-x,go-wx"}
        - file: {path: /etc/d, state: directory, owner: root, group: root, mode: "go-rx"}
        """,
    )
    assert [one.outcome for one in result.records] == ["check", "check", "converted", "check"]
    assert text.count('mode: "0600"') == 1
    assert text.count('mode: "0644"') == 1
    assert text.count('mode: "0700"') == 1
    assert "chown root:root /etc/c" in text
    assert "command: chmod u-x,go-wx /etc/c" in text
    assert "the original changes an existing one by u-x,go-rwx" in text
    check_valid(tmp_path / "site")


def test_a_mode_of_a_file_that_may_be_missing(tmp_path: Path) -> None:
    """If the task ignores failures, a missing file is not a change on each push."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: /usr/bin/rcp, mode: a-s, state: file}
          failed_when: false
        - file: {path: /etc/x, owner: root, mode: "0600", state: file}
          ignore_errors: true
        - file: {path: /etc/y, mode: a-s, state: file}
        """,
    )
    assert "test ! -e /usr/bin/rcp || find /usr/bin/rcp" in text
    assert "test ! -e /etc/x || test" in text
    assert "test ! -e /etc/y" not in text
