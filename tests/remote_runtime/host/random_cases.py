"""Random trees and operations for ``differential``: a case is data, so it can be made smaller.

Paths are written below ``@``, which stands for the directory of the tree.
"""

from __future__ import annotations

import os
import random
import struct
from typing import Any, NamedTuple

from remote_runtime.host.ports import Host
from tests.remote_runtime.host import own_mounts

USERS = (0, 4711, 4712)
PLACES = ("disk", "disk", "memory", "full", "read_only", "mounts", "flags", "acls")
NAMES = ("a", "b", "c")
MODES = (0o755, 0o700, 0o2775, 0o1777, 0o555, 0o311, 0o644, 0o600, 0o444, 0o4755, 0)
STEPS = 12
IMMUTABLE, APPEND_ONLY = 0x10, 0x20
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 1, 2, 4, 8, 16, 32  # tags of entries
_NOBODY = 0xFFFFFFFF
_TWICE = ("write", "mkdir", "symlink", "set_attributes")
_NEAR = ("a", "b", "c", "../a", "../b/c", "..", "nowhere", "a/b", "./c")
_CALLS = (*_TWICE, *_TWICE, "rewrite", "unlink", "rmdir", "remove_tree")


class Thing(NamedTuple):
    """What the tree has at a path: ``data`` is the content, target, or the file of another name."""

    path: str
    kind: str
    uid: int = 0
    gid: int = 0
    mode: int = -1
    data: str = ""
    flags: int = 0
    acl: tuple[tuple[int, int, int], ...] = ()
    acl_of_new: tuple[tuple[int, int, int], ...] = ()

    def make(self, root: str) -> None:
        """Create it, where what it needs is there."""
        path = placed(self.path, root)
        free = os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path)
        if not free and self.path != "@":
            return
        if self.kind == "directory":
            os.makedirs(path, exist_ok=True)
        elif self.kind == "symlink":
            os.symlink(placed(self.data, root), path)
        elif self.kind == "name":
            other = placed(self.data, root)
            if not os.path.isfile(other) or os.path.islink(other):
                return
            os.link(other, path)
        elif self.kind == "pipe":
            os.mkfifo(path)
        else:
            with open(path, "wb") as out:
                out.write(self.data.encode())
        self._dress(path)

    def _dress(self, path: str) -> None:
        os.chown(path, self.uid, self.gid, follow_symlinks=False)
        if self.mode >= 0 and self.kind in ("directory", "file"):
            os.chmod(path, self.mode)
        if self.acl:
            os.setxattr(path, "system.posix_acl_access", _packed(self.acl))
        if self.acl_of_new:
            os.setxattr(path, "system.posix_acl_default", _packed(self.acl_of_new))

    def flag(self, root: str) -> None:
        """Give it its flags, once all is there."""
        if self.flags:
            own_mounts.set_flags(placed(self.path, root), self.flags)

    def unflag(self, root: str) -> None:
        """Take them away again, so that it can be removed."""
        if self.flags:
            own_mounts.set_flags(placed(self.path, root), 0)


def _packed(entries: tuple[tuple[int, int, int], ...]) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def placed(text: str, root: str) -> str:
    """A path or target with the tree's directory in it."""
    return root + text[1:] if text[:1] == "@" else text


class Step(NamedTuple):
    """One call: the port, the name of a method, and what it is given."""

    port: str
    call: str
    given: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...] = ()

    def on(self, host: Host, root: str) -> None:
        """Call it."""
        given = [placed(one, root) if isinstance(one, str) else one for one in self.given]
        getattr(getattr(host, self.port), self.call)(*given, **dict(self.named))

    def __str__(self) -> str:
        words = [_short(one) for one in self.given]
        words += [f"{k}={oct(v)}" if k == "mode" else f"{k}={v!r}" for k, v in self.named]
        return f"{self.port}.{self.call}({', '.join(words)})"


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:40]}... of {len(value)}"


class Case(NamedTuple):
    """A tree, and the steps that are taken in it; ``uid`` is who takes them.

    ``place`` is where the tree is, with the paths that this is about.
    """

    seed: int
    uid: int
    place: str
    at: tuple[str, ...]
    tree: tuple[Thing, ...]
    steps: tuple[Step, ...]
    looks: tuple[bool, ...]

    def told(self) -> str:
        """All of it, to be read."""
        who = "root" if self.uid == 0 else f"user {self.uid}"
        lines = [f"seed {self.seed}, {who}, {' '.join((self.place, *self.at))}"]
        lines += [f"  {_shown(thing)}" for thing in self.tree]
        return "\n".join(lines + [f"  {step}" for step in self.steps])


def _shown(thing: Thing) -> str:
    mode = f" {thing.mode:04o}" if thing.mode >= 0 else ""
    extra = "".join(
        f" {name} {value}"
        for name, value in (
            ("flags", thing.flags),
            ("acl", thing.acl),
            ("default acl", thing.acl_of_new),
        )
        if value
    )
    data = f" {_short(thing.data)}" if thing.data else ""
    return f"{thing.path}: {thing.kind}{data} of {thing.uid}:{thing.gid}{mode}{extra}"


def all_paths() -> list[str]:
    """Every path of a tree, those above first."""
    found, last = [], ["@"]
    for _ in range(3):
        last = [f"{path}/{name}" for path in last for name in NAMES]
        found += last
    return found


def drawn(seed: int, places: tuple[str, ...] = PLACES) -> Case:
    """The case of a seed."""
    return _Draw(seed, places).case()


class _Draw:
    def __init__(self, seed: int, places: tuple[str, ...]) -> None:
        self.seed = seed
        self.pick = random.Random(seed)
        self.paths = all_paths()
        self.place = self.pick.choice(places)

    def case(self) -> Case:
        pick = self.pick
        tree = tuple(self._tree())
        at: tuple[str, ...] = ()
        if self.place in ("mounts", "read_only"):
            directories = [thing.path for thing in tree[1:] if thing.kind == "directory"]
            at = tuple(pick.sample(directories, min(2, len(directories))))
        steps = tuple(self._step() for _ in range(STEPS))
        looks = tuple(pick.random() < 0.3 for _ in steps)
        uid = pick.choice((0, 0, 4711)) if self.place != "acls" else pick.choice((0, 4711, 4711))
        return Case(self.seed, uid, self.place, at, tree, steps, looks)

    def _tree(self) -> list[Thing]:
        pick = self.pick
        mode = pick.choice((0o755, 0o1777, 0o2775))
        tree = [Thing("@", "directory", pick.choice(USERS), pick.choice(USERS), mode)]
        kinds = {"@": "directory"}
        for path in self.paths:
            if kinds.get(os.path.dirname(path)) != "directory":
                continue
            kind = pick.choice(("directory", "directory", "file", "symlink", "", "name", "pipe"))
            files = [there for there, its in kinds.items() if its == "file"]
            if (kind == "pipe" and pick.random() < 0.7) or (kind == "name" and not files):
                kind = ""
            if kind:
                kinds[path] = kind
                tree.append(self._thing(path, kind, files))
        return tree

    def _thing(self, path: str, kind: str, files: list[str]) -> Thing:
        pick = self.pick
        usual = 0o755 if kind == "directory" else 0o644
        mode = pick.choice(MODES) if pick.random() < 0.5 else usual
        data = ""
        if kind == "file":
            data = self._data().decode()
        elif kind in ("symlink", "name"):
            data = self._target(path) if kind == "symlink" else pick.choice(files)
        thing = Thing(path, kind, pick.choice(USERS), pick.choice(USERS), mode, data)
        if kind in ("directory", "file") and self.place == "flags" and pick.random() < 0.2:
            thing = thing._replace(flags=pick.choice((IMMUTABLE, APPEND_ONLY)))
        if kind in ("directory", "file") and self.place == "acls" and pick.random() < 0.4:
            thing = thing._replace(acl=self._acl())
        if kind == "directory" and self.place == "acls" and pick.random() < 0.3:
            thing = thing._replace(acl_of_new=self._acl())
        return thing

    def _acl(self) -> tuple[tuple[int, int, int], ...]:
        pick = self.pick

        def bits() -> int:
            return pick.choice((7, 7, 5, 4, 0, 6, 3))

        named = [(_USER, bits(), uid) for uid in USERS[1:] if pick.random() < 0.5]
        groups = [(_GROUP, bits(), gid) for gid in USERS[1:] if pick.random() < 0.4]
        mask = [(_MASK, bits(), _NOBODY)] if named or groups else []
        own = [(_USER_OBJ, 7, _NOBODY)]
        return (
            *own,
            *named,
            (_GROUP_OBJ, bits(), _NOBODY),
            *groups,
            *mask,
            (_OTHER, bits(), _NOBODY),
        )

    def _data(self) -> bytes:
        longest = 6000 if self.place == "full" else 100
        return b"%d\n" % self.pick.randrange(10) * self.pick.choice((0, 1, longest))

    def _target(self, path: str) -> str:
        pick = self.pick
        target = pick.choice((*_NEAR, *_NEAR, pick.choice(self.paths), pick.choice(self.paths)))
        loop = target.lstrip("./").startswith(os.path.basename(path))
        return pick.choice(_NEAR) if loop else target

    def _step(self) -> Step:
        pick, path = self.pick, self.pick.choice(self.paths)
        uid, gid = pick.choice((-1, *USERS)), pick.choice((-1, *USERS))
        owner = (("uid", uid), ("gid", gid))
        call, mode = pick.choice(_CALLS), pick.choice(MODES)
        if call == "write":
            return Step("files", call, (path, self._data()), (("mode", mode), *owner))
        if call == "rewrite":
            return Step("files", call, (path, self._data()))
        if call in ("mkdir", "set_attributes"):
            return Step("files", call, (path,), (("mode", mode), *owner))
        if call == "symlink":
            replace = ("replace", pick.random() < 0.5)
            return Step("files", call, (self._target(path), path), (replace,))
        if call == "unlink":
            return Step("files", call, (path, pick.choice(("", "symlink", "file"))))
        return Step("files", call, (path,))
