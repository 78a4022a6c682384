"""Kills of the runtime between any two steps of a push, for every type in each of its scenarios.

A profile function, set in a forked process, ends it before the chosen call. Nothing in the runtime
knows of it. Each scenario is killed at a few points; the long form kills it at every one.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from orchestrator.manifest.resource_types import types_beside
from remote_runtime.system import state_directory as state_directory
from remote_runtime.system.temp_journal import sweep
from tests.contract.scenario import Maker, module_of
from tests.contract.test_types import SITES, Case, every_scenario
from tests.contract.world import World
from tests.long_form import VARIABLE

CALLS = frozenset(
    (
        *("posix_spawn", "fork_exec", "fsync", "mkdir", "rmdir", "rename", "replace", "unlink"),
        *("remove", "link", "symlink", "chmod", "fchmod", "chown", "fchown", "lchown"),
        *("truncate", "ftruncate", "setxattr", "utime"),
    )
)
LOGS = ("updates",)
"""What programs of the scenarios write of their calls."""
POINTS = 3
"""How many points of each scenario are tried in the short form."""


class Kept(NamedTuple):
    """A path of a world: its mode, and what it holds or leads to."""

    mode: int
    content: bytes | None


class Tried:
    """A scenario in a world of its own below ``root``."""

    def __init__(self, type_name: str, maker: Maker, root: Path) -> None:
        root.mkdir()
        self.world = World(root)
        self._name, self._maker, self._root = type_name, maker, root
        self._state = self.world.path("state-of-ccm")

    def __enter__(self) -> Tried:
        type_ = (types := types_beside(SITES.get(self._name, self._root))).get(self._name)
        assert type_ is not None
        self.world.later.__enter__()
        self._case = Case(type_, types, self.world, self._maker(self.world))
        return self

    def __exit__(self, *_: object) -> None:
        self.world.later.close()

    def push(self) -> list[Any]:
        """The errors of a push, which removes first what killed ones have left."""
        scenario = self._case.scenario

        def ready(provider: Any) -> None:
            provider.context.files.note_in(self._state, pytest.fail)
            scenario.ready(provider)

        for journal in state_directory.journals(self._state):
            sweep(journal, pytest.fail)
        events = self.world.run(self._case.item(), ready, meanwhile=scenario.meanwhile)
        return [event["error"] for event in events if event["failed"]]

    def kill(self, at: int) -> int:
        """Push in another process that ends before its call number ``at``, counted from 1.

        How many calls it has made.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            made = 0
            sys.dont_write_bytecode = True  # it would count as steps of the push that is the first

            def count(_: Any, event: str, called: Any) -> None:
                nonlocal made
                if event == "c_call" and called.__name__ in CALLS:
                    made += 1
                    if made == at:
                        _leave(writing, made - 1)

            sys.setprofile(count)
            try:
                self.push()
            finally:
                sys.setprofile(None)
                _leave(writing, made)
        os.close(writing)
        with os.fdopen(reading) as told:
            found = told.read()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        return int(found)

    def look(self) -> dict[str, Kept]:
        """What the world holds by path, but for ccm's own state."""
        found = {}
        root = os.fsencode(self._root)
        for directory, directories, names in os.walk(self._root):
            if directory == str(self._root):
                directories[:] = [one for one in directories if one != "state-of-ccm"]
            for name in (*directories, *names):
                path = os.path.join(directory, name)
                status = os.lstat(path)
                content = None
                if stat.S_ISLNK(status.st_mode):
                    content = os.fsencode(os.readlink(path))
                elif stat.S_ISREG(status.st_mode):
                    content = Path(path).read_bytes()
                relative = os.path.relpath(path, self._root)
                if name in LOGS or "/.git/" in relative:
                    continue
                found[relative] = Kept(status.st_mode, content and content.replace(root, b"/ROOT"))
        return found


def _leave(writing: int, made: int) -> None:
    os.write(writing, str(made).encode())
    os._exit(0)


def points(count: int, title: str, every: bool) -> Sequence[int]:
    """The calls before which a scenario is killed, of ``count``."""
    if every or count <= POINTS:
        return range(1, count + 1)
    first = zlib.crc32(title.encode()) % count
    return sorted({1 + (first + at * count // POINTS) % count for at in range(POINTS)})


@pytest.fixture
def unswept() -> Iterator[None]:
    """Homes of this machine's users are not looked at."""
    with mock.patch("pwd.getpwall", return_value=[]):
        yield


@pytest.mark.parametrize(("type_name", "maker"), list(every_scenario()))
def test_kills(
    type_name: str, maker: Maker | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """After a kill each file is the old or the new one, and the next push does the rest."""
    if maker is None or getattr(module_of(type_name), "PASSIVE", False):
        return
    if type_name == "user":
        return  # test_user_kills.py looks at its tables
    title = request.node.nodeid
    with Tried(type_name, maker, tmp_path / "whole") as tried:
        before = tried.look()
        count = tried.kill(0)
        assert tried.push() == []
        whole = tried.look()
    for at in points(count, title, bool(os.environ.get(VARIABLE))):
        with Tried(type_name, maker, tmp_path / str(at)) as tried:
            assert tried.kill(at) == at - 1
            for path, kept in tried.look().items():
                known = [one[path].content for one in (before, whole) if path in one]
                assert not known or kept.content in known, f"{path} after a kill before call {at}"
            assert tried.push() == [], f"after a kill before call {at}"
            assert tried.look() == whole, f"after a kill before call {at}"
