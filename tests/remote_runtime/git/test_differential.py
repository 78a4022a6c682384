"""Random operations on checkouts, on the overlay and then on the machine: both end alike."""

import os
import random
import shutil
import unittest
from typing import Any, Callable, Dict, List, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.checkout_ports import Source
from remote_runtime.host.machine.machine_host import machine
from remote_runtime.host.ports import Host
from remote_runtime.host.preview.preview_host import Overlay
from tests.remote_runtime.fakes import DirectoryTest, close, context, item
from tests.remote_runtime.git.repositories import commit, git, repository

UNKNOWN = "unknown"
CASES = 24


def _touched(path: str) -> None:
    with open(os.path.join(path, "app"), "w") as file:
        file.write("mine")


def _untracked(path: str) -> None:
    with open(os.path.join(path, "own"), "w") as file:
        file.write("mine")


def _emptied(path: str) -> None:
    shutil.rmtree(path)
    os.mkdir(path)


def _linked(path: str) -> None:
    shutil.rmtree(path)
    os.symlink("x", path)


STATES: Dict[str, Callable[[str], Any]] = {
    "same": lambda path: None,
    "behind": lambda path: git("-C", path, "reset", "-q", "--hard", "HEAD~1"),
    "touched": _touched,
    "untracked": _untracked,
    "committed": lambda path: commit(path, "mine"),
    "elsewhere": lambda path: git("-C", path, "remote", "set-url", "origin", "/elsewhere"),
    "nothing": shutil.rmtree,
    "empty": _emptied,
    "broken": lambda path: shutil.rmtree(os.path.join(path, ".git")),
    "link": _linked,
}
CALLS = ("clone", "update", "force", "remove")


def _call(host: Host, path: str, source: Source, name: str) -> None:
    if name == "remove":
        host.checkouts.remove(path)
        return
    target = host.checkouts.resolve(path, source)
    if name == "clone":
        if host.checkouts.find(path, source) is None:
            host.checkouts.clone(path, source, target)
        return
    host.checkouts.update(path, source, target, force=name == "force")


def _said(host: Host, path: str, source: Source, name: str) -> Optional[str]:
    try:
        _call(host, path, source, name)
    except Unknowable:
        return UNKNOWN
    except ResourceError as error:
        return "%s (%s)" % (error.message, error.kind)
    return None


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class DifferentialTest(DirectoryTest):
    def predicted(self, path: str, source: Source, calls: List[str]) -> List[Any]:
        ctx = context(noop=True)
        thing = item("thing", "x")
        found: List[Any] = []
        with ctx.for_resource(thing, True):
            overlay = Overlay(ctx.overlay_with(()), thing.id)
            for name in calls:
                found.append(_said(overlay, path, source, name))
                if found[-1] == UNKNOWN:
                    break
                node = overlay.files.lstat(path)
                found[-1] = (found[-1], node and node.kind, node and oct(node.mode))
        close(ctx)
        return found

    def test_both_end_alike(self) -> None:
        """What the overlay says of each step is what the machine does, or it does not know."""
        url = self.path("source")
        repository(url, "one", "two")
        draw = random.Random(20261129)
        known = 0
        for number in range(CASES):
            path = self.path("app%d" % number)
            git("clone", "-q", url, path)
            state = draw.choice(sorted(STATES))
            STATES[state](path)
            calls = [draw.choice(CALLS) for _ in range(draw.randint(1, 3))]
            source = Source(url=url, ref="main", depth=draw.choice((0, 1)))
            for name, said in zip(calls, self.predicted(path, source, calls)):
                if said == UNKNOWN:
                    break
                known += 1
                ctx = context()
                host = machine(ctx)
                done = _said(host, path, source, name)
                node = host.files.lstat(path)
                close(ctx)
                told = "case %d: %s, %s of %s" % (number, state, name, calls)
                self.assertEqual(said, (done, node and node.kind, node and oct(node.mode)), told)
        self.assertGreater(known, CASES // 2)


if __name__ == "__main__":
    unittest.main()
