"""Random operations through the file port, on the overlay and then on the machine (Python 3.6+).

``python -m tests.remote_runtime.host.differential SEED COUNT`` runs as many sequences as root and
as another user, and tells those in which the two differ: in the outcome of a step, or in what can
be read after it. A sequence ends where the overlay says that it does not know.
"""

import os
import random
import shutil
import sys
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.machine.machine import machine, reader
from remote_runtime.host.overlay.overlay import Overlay
from remote_runtime.host.ports import Files
from tests.remote_runtime.fakes import close, context, item

USERS = (0, 4711, 4712)
NAMES = ("a", "b", "c")
STEPS = 8
UNKNOWN = "unknown"
MODES = (0o755, 0o700, 0o2775, 0o1777, 0o555, 0o311, 0o644, 0o600, 0o444, 0o4755, 0)


class Step(NamedTuple):
    """One call: the name of a method, and what it is given."""

    call: str
    given: Tuple[Any, ...]
    named: Tuple[Tuple[str, Any], ...] = ()

    def on(self, files: Files) -> None:
        getattr(files, self.call)(*self.given, **dict(self.named))


class Case(object):
    """A tree, and the steps that are taken in it."""

    def __init__(self, seed: int, root: str, as_root: bool) -> None:
        self._random = random.Random(seed)
        self.root = root
        self.as_root = as_root
        self.paths = [
            os.path.join(root, *names) for depth in (1, 2, 3) for names in self._combined(depth)
        ]

    def _combined(self, depth: int) -> List[List[str]]:
        found: List[List[str]] = [[]]
        for _ in range(depth):
            found = [names + [name] for names in found for name in NAMES]
        return found

    def build(self) -> None:
        """Make the tree, as root."""
        pick = self._random
        os.chmod(self.root, pick.choice((0o755, 0o1777, 0o2775)))
        os.chown(self.root, pick.choice(USERS), pick.choice(USERS))
        for path in self.paths:
            folder = os.path.dirname(path)
            if not os.path.isdir(folder) or os.path.realpath(folder) != folder:
                continue
            kind = pick.choice(("directory", "directory", "file", "link", "", "hard", "pipe"))
            if kind == "directory":
                os.mkdir(path)
            elif kind == "link":
                os.symlink(self._target(), path)
            elif kind == "hard":
                others = [p for p in self.paths if os.path.isfile(p) and not os.path.islink(p)]
                if others:
                    os.link(pick.choice(others), path)
            elif kind == "pipe" and not os.path.lexists(path):
                if pick.random() < 0.3:
                    os.mkfifo(path)
            elif kind == "file":
                with open(path, "wb") as out:
                    out.write(self._data())
            if os.path.lexists(path):
                os.chown(path, pick.choice(USERS), pick.choice(USERS), follow_symlinks=False)
                if kind in ("directory", "file"):
                    usual = 0o755 if kind == "directory" else 0o644
                    os.chmod(path, pick.choice(MODES) if pick.random() < 0.5 else usual)

    def _data(self) -> bytes:
        return b"%d\n" % self._random.randrange(10) * self._random.choice((0, 1, 100))

    def _path(self) -> str:
        return self._random.choice(self.paths)

    def _target(self) -> str:
        pick = self._random
        if pick.random() < 0.3:
            return self._path()
        return pick.choice(("a", "b", "c", "../a", "../b/c", "..", "nowhere", "a/b", "./c"))

    def steps(self) -> List[Step]:
        return [self._step() for _ in range(STEPS)]

    def _step(self) -> Step:
        pick, path = self._random, self._path()
        owner = (("uid", pick.choice((-1,) + USERS)), ("gid", pick.choice((-1,) + USERS)))
        call = pick.choice(
            ("write", "write", "mkdir", "mkdir", "symlink", "symlink", "set_attributes", "unlink")
            + ("rmdir", "remove_tree")
        )
        mode = pick.choice(MODES)
        if call == "write":
            return Step(call, (path, self._data()), (("mode", mode),) + owner)
        if call == "mkdir":
            return Step(call, (path, mode), owner)
        if call == "symlink":
            return Step(call, (self._target(), path), (("replace", pick.random() < 0.5),))
        if call == "set_attributes":
            return Step(call, (path, mode, pick.choice((-1,) + USERS), pick.choice((-1,) + USERS)))
        if call == "unlink":
            return Step(call, (path, pick.choice(("", "symlink", "file"))))
        return Step(call, (path,))

    def view(self, files: Any) -> Dict[str, Any]:
        """All that can be read of the tree."""
        found: Dict[str, Any] = {}
        for path in self.paths:
            node = _said(lambda: files.lstat(path))  # noqa: B023 - it is called at once
            behind = _said(lambda: files.stat(path))  # noqa: B023 - it is called at once
            found[path] = [_plain(node), _plain(behind)]
            if getattr(behind, "kind", "") == "file":
                found[path].append(_said(lambda: files.read(path)))  # noqa: B023 - as above
            if getattr(node, "kind", "") == "directory":
                found[path].append(_said(lambda: files.entries(path)))  # noqa: B023 - as above
        return found


def _said(call: Callable[[], Any]) -> Any:
    """What a call returns, or the message that it fails with."""
    try:
        return call()
    except Unknowable:
        return UNKNOWN
    except ResourceError as error:
        return "error: %s (%s)" % (error.message, error.kind)


def _kind(said: Any) -> Any:
    """Of a failure its kind: a path is named by where it leads."""
    failed = isinstance(said, str) and said.startswith("error: ")
    return said.rpartition("(")[2] if failed else said


def _plain(node: Any) -> Any:
    """Without the size of a directory or link, which the file system chooses."""
    return (
        node
        if isinstance(node, str) or node is None
        else node._replace(size=node.size if node.kind == "file" else 0)
    )


def differing(seed: int, root: str, as_root: bool = True) -> Optional[str]:
    """What differs in the case of a seed, None where nothing does; root builds it in ``root``."""
    case = Case(seed, root, as_root)
    case.build()
    steps = case.steps()
    if not as_root:
        os.setgroups([4711, 4712])
        os.setresgid(4711, 4711, 4711)
        os.setresuid(4711, 4711, 4711)
    expected: List[Tuple[Any, Dict[str, Any]]] = []
    ctx = context(noop=True)
    thing = item("thing", "x")
    with ctx.turn(thing, True):
        overlay = Overlay(ctx.world_with(()), thing.id)
        before = case.view(_reader(overlay.record.world))
        for step in steps:
            expected.append((_said(lambda: step.on(overlay.files)), {}))  # noqa: B023 - as above
            if expected[-1][0] == UNKNOWN:
                break
            expected[-1][1].update(case.view(_reader(overlay.record.world)))
    close(ctx)
    return _compared(case, before, steps, expected)


def _reader(world: Any) -> Any:
    return reader(world.files, world.accounts, world.commands).files


def _compared(
    case: Case, before: Dict[str, Any], steps: List[Step], expected: List[Tuple[Any, Any]]
) -> Optional[str]:
    ctx = context()
    host = machine(ctx.files, ctx.accounts, ctx.commands, set())
    try:
        told = _views("before", before, _view(case))
        done: List[Step] = []
        for step, (outcome, view) in zip(steps, expected):
            if told or outcome == UNKNOWN:
                break
            done.append(step)
            now = _said(lambda: step.on(host.files))  # noqa: B023 - it is called at once
            if now != outcome:
                told = "outcome\n    overlay: %s\n    machine: %s" % (outcome, now)
            else:
                told = _views("after", view, _view(case))
        return told and "%s\n    %s" % (told, "\n    ".join(map(str, done)))
    finally:
        close(ctx)


def _view(case: Case) -> Dict[str, Any]:
    """What a run reads that has not read before."""
    ctx = context()
    try:
        return case.view(machine(ctx.files, ctx.accounts, ctx.commands, set()).files)
    finally:
        close(ctx)


def _views(when: str, overlay: Dict[str, Any], machine: Dict[str, Any]) -> Optional[str]:
    for path, found in machine.items():
        for expected, got in zip(overlay[path], found):
            if _kind(expected) != _kind(got) and expected != UNKNOWN:
                return "%s: %s\n    overlay: %s\n    machine: %s" % (when, path, expected, got)
    return None


def run(seed: int, as_root: bool) -> Optional[str]:
    """The same in a process and a tree of its own."""
    root = tempfile.mkdtemp(prefix="ccm-test-")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        setattr(os, "fsync", lambda descriptor: None)  # noqa: B010 - nobody pulls the plug
        try:
            told = differing(seed, os.path.realpath(root), as_root) or ""
        except BaseException:
            import traceback

            told = traceback.format_exc()
        os.write(writing, told.encode("utf-8", "replace"))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    shutil.rmtree(root, ignore_errors=True)
    return "seed %d, %s: %s" % (seed, "root" if as_root else "a user", text) if text else None


def prepare() -> None:
    """Import all that a child may need: as another user it may read nothing of it."""
    import grp  # noqa: F401 - see above
    import pkgutil
    import pwd  # noqa: F401 - see above
    import struct  # noqa: F401 - see above

    import remote_runtime

    for module in pkgutil.walk_packages(remote_runtime.__path__, "remote_runtime."):
        if "__main__" not in module.name and ".resources." not in module.name:
            __import__(module.name)


def main(first: int, count: int) -> int:
    prepare()
    failed = 0
    for seed in range(first, first + count):
        for as_root in (True, False):
            told = run(seed, as_root)
            if told:
                failed += 1
                print(told, flush=True)
    print("%d of %d sequences differ" % (failed, 2 * count))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
