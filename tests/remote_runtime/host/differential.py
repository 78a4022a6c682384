"""Random operations through the ports, on the overlay and then on the machine (Linux, as root).

``python -m tests.remote_runtime.host.differential --minutes 10`` draws cases for so long. Each is a
tree and the steps that are taken in it, as root or as another user. The two must agree on how each
step ends and on what can be read then, or the overlay must have said that it does not know. What
differs is made as small as it gets, and told.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pkgutil
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.host_reader import reader
from remote_runtime.host.machine.machine_host import machine
from remote_runtime.host.ports import HostReader
from remote_runtime.host.preview.preview_host import Overlay
from remote_runtime.system.paths import Status
from tests.remote_runtime.fakes import close, context, item
from tests.remote_runtime.host import own_mounts
from tests.remote_runtime.host.random_cases import Case, all_paths, drawn

UNKNOWN = "unknown"
_SMALL = "size=160k,nr_inodes=60"
_ROOMY = "size=64m"

View = dict[str, dict[str, Any]]


class Outcome(NamedTuple):
    """Of one case: ``differs`` tells in what, "" where nothing does; and what was counted."""

    differs: str
    counts: dict[str, int]


# -- what is looked at ----------------------------------------------------------------------------


class _Look:
    """Reads all of the tree; ``uncertainties`` counts what the overlay has noted so far."""

    def __init__(self, host: HostReader, root: str, uncertainties: Callable[[], int]) -> None:
        self._host, self._root, self._uncertainties = host, root, uncertainties

    def all(self) -> View:
        """By path and by what was asked; nothing of what is below a path that is not there."""
        found: View = {}
        for path in all_paths():
            above = found.get(os.path.dirname(path))
            if above is not None and (_is_leaf(above["stat"]) or _is_far(above, path)):
                found[path] = {"stat": None, "lstat": None}
                continue
            found[path] = self.one(path)
        return found

    def one(self, path: str) -> dict[str, Any]:
        """All that can be read of one path."""
        files, at = self._host.files, path.replace("@", self._root, 1)
        asked: dict[str, Callable[[], Any]] = {
            "lstat": lambda: files.lstat(at),
            "stat": lambda: files.stat(at),
            "read": lambda: files.read(at),
            "entries": lambda: files.entries(at),
        }
        found: dict[str, Any] = {}
        for name, ask in asked.items():
            if name in ("lstat", "stat") or found["stat"] is not None:
                found[name] = self.said(ask)
        return found

    def said(self, call: Callable[[], Any]) -> Any:
        """What a call returns, or the message that it fails with."""
        before = self._uncertainties()
        try:
            said = _plain(call())
        except Unknowable:
            return UNKNOWN
        except ResourceError as error:
            said = f"error: {error.message} ({error.kind})"
        said = json.loads(json.dumps(said).replace(self._root, "@"))
        return UNKNOWN if self._uncertainties() > before else said


def _plain(found: Any) -> Any:
    """Without times, and without the size of a directory or link, which the file system chooses."""
    if isinstance(found, Status):
        size = found.size if found.kind == "file" else 0
        return found._replace(size=size, mtime=0, identity=(found.device,))
    return found.decode("latin-1") if isinstance(found, bytes) else found


def _is_leaf(stat: Any) -> bool:
    return stat is None or (isinstance(stat, list) and stat[0] != "directory")


def _is_far(above: dict[str, Any], path: str) -> bool:
    """Behind a link one name is enough: what it leads to is looked at itself."""
    lstat = above["lstat"]
    return isinstance(lstat, list) and lstat[0] == "symlink" and not path.endswith("a")


def _kind(said: Any) -> Any:
    """Of a failure its kind: a path is named by where it leads."""
    failed = isinstance(said, str) and said.startswith("error: ")
    return said.rpartition("(")[2] if failed else said


# -- one case -------------------------------------------------------------------------------------


def compared(case: Case, root: str, counts: Counter[str]) -> str:
    """In what the overlay and the machine differ; the tree is made in ``root`` by now."""
    predicted, before, views = _predicted(case, root)
    now = context()
    host = machine(now)
    look = _Look(host, root, lambda: 0)
    try:
        told = _differing("before", before, _seen(root), counts)
        for number, (step, said) in enumerate(zip(case.steps, predicted)):
            if told or said == UNKNOWN:
                counts["unknown steps"] += not told
                break
            counts["steps"] += 1
            done = look.said(partial(step.on, host, root))
            if done != said:
                told = f"how it ends\n    overlay: {said}\n    machine: {done}"
            elif number in views:
                told = _differing("then", views[number], _seen(root), counts)
            told = told and f"after step {number + 1}, {told}"
        return told
    finally:
        close(now)


def _predicted(case: Case, root: str) -> tuple[list[Any], View, dict[int, View]]:
    """How each step ends on the overlay, and what is seen there first and after some of them."""
    ctx = context(noop=True)
    thing = item("thing", "x")
    outcomes: list[Any] = []
    views: dict[int, View] = {}
    with ctx.for_resource(thing, True):
        overlay = Overlay(ctx.overlay_with(()), thing.id, context=ctx)
        world = overlay.record.overlay

        def look() -> _Look:
            there = reader(world)
            return _Look(there, root, lambda: ctx.uncertainties)

        before = look().all()
        for number, step in enumerate(case.steps):
            outcomes.append(look().said(partial(step.on, overlay, root)))
            if outcomes[-1] == UNKNOWN:
                break
            if case.looks[number] or number == len(case.steps) - 1:
                views[number] = look().all()
    close(ctx)
    return outcomes, before, views


def _seen(root: str) -> View:
    """What a run reads that has not read before."""
    ctx = context()
    try:
        host = machine(ctx)
        return _Look(host, root, lambda: 0).all()
    finally:
        close(ctx)


def _differing(when: str, overlay: View, machine: View, counts: Counter[str]) -> str:
    for path, found in machine.items():
        for name, got in found.items():
            said = overlay[path].get(name)
            counts["reads"] += 1
            counts["unknown reads"] += said == UNKNOWN
            if said != UNKNOWN and _kind(said) != _kind(got):
                return f"{when} {name} of {path}\n    overlay: {said}\n    machine: {got}"
            if said == UNKNOWN and name == "stat":
                break
    return ""


@contextlib.contextmanager
def built(case: Case) -> Iterator[str]:
    """The directory that the tree of a case is made in."""
    outside = os.path.realpath(tempfile.mkdtemp(prefix="ccm-test-"))
    os.chmod(outside, 0o755)
    root, mounts = os.path.join(outside, "t"), []
    try:
        os.mkdir(root)
        if case.place != "disk":
            own_mounts.mount(
                "ccm-test", root, "tmpfs", 0, _SMALL if case.place == "full" else _ROOMY
            )
            mounts.append(root)
        for thing in case.tree:
            with contextlib.suppress(OSError):  # it does not fit
                thing.make(root)
        for at in case.at:
            place = at.replace("@", root, 1)
            if os.path.isdir(place) and os.path.realpath(place) == place:
                _mount(case, place, root, mounts)
        for thing in case.tree:
            thing.flag(root)
        yield root
    finally:
        for thing in case.tree:
            thing.unflag(root)
        for at in reversed(mounts):
            own_mounts.unmount(at)
        shutil.rmtree(outside, ignore_errors=True)


def _mount(case: Case, place: str, root: str, mounts: list[str]) -> None:
    if case.place == "read_only":
        own_mounts.mount(place, place, flags=own_mounts.BIND)
        flags = own_mounts.BIND | own_mounts.REMOUNT | own_mounts.READ_ONLY
        own_mounts.mount("none", place, flags=flags)
    elif place == case.at[0].replace("@", root, 1):
        own_mounts.mount("ccm-test", place, "tmpfs", 0, _ROOMY)
    else:
        source = case.at[0].replace("@", root, 1)
        if place.startswith(source + "/") or source.startswith(place + "/"):
            return
        own_mounts.mount(source, place, flags=own_mounts.BIND)
    mounts.append(place)


def run(case: Case) -> Outcome:
    """The outcome of a case, in a process of its own."""
    reading, writing = os.pipe()
    with built(case) as root:
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.write(writing, json.dumps(_as_user(case, root)).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
    return Outcome(*json.loads(data))


def _as_user(case: Case, root: str) -> Outcome:
    setattr(os, "fsync", lambda descriptor: None)  # noqa: B010 - mypy refuses to assign to a function
    counts: Counter[str] = Counter()
    try:
        if case.uid != 0:
            os.setgroups([4711, 4712])
            os.setresgid(case.uid, case.uid, case.uid)
            os.setresuid(case.uid, case.uid, case.uid)
        return Outcome(compared(case, root, counts), counts)
    except BaseException:  # a crash is a difference
        return Outcome(traceback.format_exc(), counts)


# -- making a case smaller ------------------------------------------------------------------------


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest case found that still fails: without steps, things and attributes."""
    found = case
    smaller = True
    while smaller:
        smaller = False
        for one in _smaller(found):
            if fails(one):
                found, smaller = one, True
                break
    return found


def _smaller(case: Case) -> Iterator[Case]:
    everywhere = case._replace(looks=(True,) * len(case.steps))
    if everywhere != case:
        yield everywhere
    for number in reversed(range(len(case.steps))):
        yield case._replace(
            steps=case.steps[:number] + case.steps[number + 1 :],
            looks=case.looks[:number] + case.looks[number + 1 :],
        )
    for number in reversed(range(1, len(case.tree))):
        path = case.tree[number].path
        kept = [t for t in case.tree if t.path != path and not t.path.startswith(path + "/")]
        yield case._replace(tree=tuple(kept))
    for number, thing in enumerate(case.tree):
        usual = 0o755 if thing.kind == "directory" else 0o644
        simple = [
            thing._replace(acl=()),
            thing._replace(acl_of_new=()),
            thing._replace(flags=0),
            thing._replace(mode=usual if thing.kind in ("directory", "file") else thing.mode),
            thing._replace(uid=0),
            thing._replace(gid=0),
        ]
        for one in simple:
            if one != thing:
                yield case._replace(tree=case.tree[:number] + (one,) + case.tree[number + 1 :])
    if case.at or case.place != "disk":
        yield case._replace(place="disk", at=())


# -- many cases -----------------------------------------------------------------------------------


def prepare() -> None:
    """Import all that a child may need: as another user it may read nothing of it."""
    import remote_runtime

    for name in ("grp", "pwd", "struct"):
        __import__(name)
    for module in pkgutil.walk_packages(remote_runtime.__path__, "remote_runtime."):
        if "__main__" not in module.name and ".resources." not in module.name:
            __import__(module.name)


def tried(seeds: Iterator[int], until: float, maximum: int = 1) -> tuple[list[str], Counter[str]]:
    """What differs in the cases of these seeds, at most so many, and what was counted."""
    prepare()
    isolated = own_mounts.own_namespace()
    found: list[str] = []
    counts: Counter[str] = Counter()
    for seed in seeds:
        if time.monotonic() > until or len(found) >= maximum:
            break
        case = drawn(seed) if isolated else drawn(seed, ("disk",))
        outcome = run(case)
        counts["cases"] += 1
        counts.update(outcome.counts)
        if outcome.differs:
            small = shrunk(case, lambda one: bool(run(one).differs))
            found.append(f"{small.told()}\n  {run(small).differs}")
            print(found[-1], flush=True)
    return found, counts


def in_process(first: int, count: int) -> tuple[int, str]:
    """Exit code and output of so many cases, in a process whose mounts are its own."""
    words = ["--seed", str(first), "--cases", str(count)]
    done = subprocess.run(
        [sys.executable, "-m", __name__, *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def main(argv: Sequence[str] | None = None) -> int:
    """Exit with 1 where something differs."""
    parser = argparse.ArgumentParser(prog=f"python -m {__name__}", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="draw cases for so long")
    parser.add_argument("--cases", type=int, default=0, help="draw so many")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1_000_000), help="of the first"
    )
    parser.add_argument("--maximum", type=int, default=1, help="differences, then stop")
    given = parser.parse_args(argv)
    count = given.cases or (1 if not given.minutes else 1 << 40)
    until = time.monotonic() + given.minutes * 60 if given.minutes else float("inf")
    found, counts = tried(iter(range(given.seed, given.seed + count)), until, given.maximum)
    told = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
    print(f"{len(found)} differences from seed {given.seed} on: {told}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
