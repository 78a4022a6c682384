"""Whether command lines only read."""

from pathlib import Path

import pytest

from orchestrator.ansible.source.read_only_commands import changes, only_reads
from tests.orchestrator.ansible.sites import check_valid, convert_tasks


@pytest.mark.parametrize(
    "line",
    [
        "cat /etc/x",
        "LC_ALL=C dpkg-query -W nginx",
        "grep -E 'a|b > c' /etc/x 2>/dev/null | head -1 || true",
        "test -f /x && cat /x",
        "command -v {{ program }} >/dev/null 2>&1",
        "set -o pipefail\nnginx -v 2>&1 | awk '{print $3}' | cut -d/ -f2",
        'echo "$(uname -r)"',
        "[ -d /x ] || exit 3",
    ],
)
def test_lines_that_only_read(line: str) -> None:
    """Known programs, joined by pipes and conditions, with output to nowhere."""
    assert only_reads(line)
    assert not changes(line)


@pytest.mark.parametrize(
    "line",
    [
        "test -f {{ item }} && swapoff -v {{ item }} || true",
        "cat /etc/x; rm /etc/x",
        "ls /x | tee /y",
        "grep a /x > /y",
        "echo a >> /y",
        "find /tmp -name x | xargs rm",
        "if ! grep -q a /x; then systemctl restart a; fi",
        "sed -i s/a/b/ /x",
        "find /tmp -delete",
        "systemctl daemon-reload",
        "apt-get -y install x",
        "/opt/v/bin/pip install x",
    ],
)
def test_lines_that_do_more(line: str) -> None:
    """One program that is not known to only read is enough, and so is a file that is written."""
    assert not only_reads(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("update-ca-certificates", True),
        ("update-alternatives --display java", False),
        ("mysqladmin ping", False),
        ("cat /x && touch /y", True),
        ("getenforce", False),
        ("unzip -l /x", False),
        ("./configure > /tmp/log", True),
        ("a --rm-of x", False),
        ("systemctl --user enable x", True),
    ],
)
def test_lines_that_are_known_to_change(line: str, expected: bool) -> None:
    """Other lines may only read, if their task says so."""
    assert changes(line) is expected


def test_standard_input(tmp_path: Path) -> None:
    """A command reads the text of `stdin`, also with quotes in its own words."""
    _, text = convert_tasks(
        tmp_path,
        """
        - name: one
          command: tee "a b"
          args: {stdin: "{{ key }}"}
        - name: two
          shell: cat > $x
          args: {stdin: "a $b", stdin_add_newline: false}
        """,
        defaults__main='key: "a b"\n',
    )
    assert """'sh -c ''printf "%s\\n" "$CCM_STDIN" | "$@"'' sh tee "a b"'""" in text
    assert 'environment: ["CCM_STDIN={{ Data.key }}"]' in text
    assert 'printf "%s" "$CCM_STDIN" | {\n              cat > $x\n              }' in text
    check_valid(tmp_path / "site")
