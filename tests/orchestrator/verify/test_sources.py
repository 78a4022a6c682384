"""Each type has a check, which reads from another source than the type (see the design page)."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import pytest

from remote_runtime import registry
from tests.architecture.source import ROOT

PAGE = ROOT / "docs/design/verification.md"
USERS_OWN = ("exec", "reboot", "wait")
"""Types with commands of the user, which verify runs as a push does."""
_WORD = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """A row of the table of sources."""

    type: str
    own: str
    other: str


def rows() -> list[Row]:
    """The table of sources."""
    section = PAGE.read_text("utf-8").split("## Sources\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]
    return [Row(_WORD.findall(first)[0], own, other) for first, own, other in cells]


@cache
def _text(directory: str) -> str:
    paths = sorted((ROOT / directory).rglob("*.py"))
    return "\n".join(path.read_text("utf-8") for path in paths)


def _check(name: str) -> str:
    """The code of a check, with the modules of verify that several checks use."""
    room = ROOT / "orchestrator/verify"
    modules = [room / f"checks/{name}.py", *room.glob("*.py")]
    return "\n".join(path.read_text("utf-8") for path in modules)


def test_every_type_has_a_check() -> None:
    """Only apply has none: the resources of its child have theirs."""
    checks = {path.stem for path in (ROOT / "orchestrator/verify/checks").glob("[a-z]*.py")}
    assert set(registry.types()) - checks == {"apply"}


def test_every_type_has_its_sources() -> None:
    """The table has a row for each type."""
    assert {row.type for row in rows()} == set(registry.types())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.type)
def test_sources_differ(row: Row) -> None:
    """The two sources are in the code of their side, and are not the same."""
    own, other = (set(_WORD.findall(cell)) - {"creates"} for cell in (row.own, row.other))
    assert row.own != row.other or row.type in USERS_OWN
    assert own.isdisjoint(other)
    assert [word for word in sorted(own) if word not in _text("remote_runtime")] == []
    if row.type != "apply":
        assert [word for word in sorted(other) if word not in _check(row.type)] == []
