"""Snapshots of two hosts are compared line by line."""

from typing import Any

import pytest

from tests.importing.snapshot import Snapshot, differences, take
from tests.lab import Host

FILE = {
    "kind": "file",
    "mode": "0644",
    "owner": "root",
    "group": "root",
    "sha256": "1",
    "text": "a\n",
}


def of_files(**files: dict[str, Any]) -> Snapshot:
    """A snapshot with files below /etc."""
    return {"files": {f"/etc/{name}": value for name, value in files.items()}}


def test_equal_hosts_have_no_differences() -> None:
    """The same snapshot twice."""
    assert differences(of_files(motd=FILE), of_files(motd=FILE)) == []


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ({"mode": "0600"}, "files /etc/motd: mode 0644 != 0600"),
        ({"owner": "anna", "group": "x"}, "files /etc/motd: group root != x; owner root != anna"),
        ({"text": "b\n", "sha256": "2"}, "files /etc/motd: \n    @@ -1 +1 @@\n    -a\n    +b"),
    ],
)
def test_each_property_counts(other: dict[str, str], line: str) -> None:
    """Mode, owner, group and content, with a diff."""
    assert differences(of_files(motd=FILE), of_files(motd={**FILE, **other})) == [line]


def test_a_missing_file_is_a_difference() -> None:
    """The line says what the other host has."""
    (line,) = differences(of_files(), of_files(motd=FILE))
    assert line.startswith("files /etc/motd: missing != {'kind': 'file'")


def test_ignored_differences_have_a_pattern() -> None:
    """Only what the pattern fits is left out."""
    other = of_files(motd={**FILE, "mode": "0600"}, issue=FILE)
    (line,) = differences(of_files(motd=FILE), other, {"^files /etc/motd": "why"})
    assert "issue" in line


def test_a_booted_host_is_seen_with_all_its_parts(host: Host) -> None:
    """Files, accounts, packages, units and kernel; a change shows as one difference each."""
    before = take(host)
    assert set(before) == {"files", "accounts", "packages", "units", "kernel"}
    host.run("useradd -M -u 4444 zoe && echo x > /etc/new && ln -s /etc/new /etc/other")
    found = [line.partition(":")[0] for line in differences(before, take(host))]
    assert found == [
        *("files /etc/new", "files /etc/other", "files /etc/subgid", "files /etc/subuid"),
        *("accounts group zoe", "accounts shadow zoe", "accounts user zoe"),
    ]
