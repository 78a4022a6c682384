"""Paths of a preview (target): what the machine would refuse is refused, the rest is recorded."""

import errno
import os
import stat
from typing import Optional, Tuple

from remote_runtime import requirements
from remote_runtime.content import Bytes, Content
from remote_runtime.effects import PathEffect
from remote_runtime.host import file_ports
from remote_runtime.host.machine.files import FileReader
from remote_runtime.host.overlay.record import Record
from remote_runtime.system.errno_messages import refusal

_LONGEST = 4095  # bytes of a symlink's text
_LIMIT = 16 << 20  # bytes of a file that is copied
_IN_INODE = 60  # bytes of a symlink's text that need no block of their own


class Files(FileReader, file_ports.Files):
    """Records changes; nothing of the machine is written."""

    def __init__(self, record: Record) -> None:
        super().__init__(record.world.files)
        self._record = record

    def _write(
        self,
        path: str,
        data: bytes,
        *,
        mode: int,
        uid: int,
        gid: int,
        validate: str,
        part: bool,
    ) -> None:
        self._door.obstacles(path).writing(len(data), uid, gid, mode)
        own_uid, own_gid = self.own(path)
        effect = PathEffect(
            path,
            "file",
            mode=mode,
            uid=own_uid if uid < 0 else uid,
            gid=own_gid if gid < 0 else gid,
            content=Bytes(data),
            part=part,
        )
        if validate:
            from remote_runtime.host.validation import preview

            preview(self._record.world, validate, effect)
        self._record.add(effect)

    def put(self, path: str, content: Content, *, mode: int, uid: int, gid: int) -> None:
        """See the base class."""
        if self._record.checks:
            self.require_file_place(path)
            self._door.obstacles(path).writing(content.size, uid, gid)
        uid, gid = self.owned(path, uid, gid)
        self._record.add(
            PathEffect(path, "file", mode, uid=uid, gid=gid, content=content, firm=False)
        )

    def make_directory(self, path: str, mode: int) -> None:
        """See the base class."""
        above = requirements.parents(self._door, path, mode)
        if self._record.checks:
            self.require_free(path)
            top = self.stat(os.path.dirname(above[0].path if above else path))
            if top is not None and top.kind != "directory":
                raise refusal("create the directory", path, errno.ENOTDIR)
            self._door.obstacles(path).making()
        self._record.add(*above, PathEffect(path, "directory", mode, firm=False))

    def set_mode(self, path: str, mode: int) -> None:
        """See the base class."""
        if self._record.checks:
            self.require_kind(path, "file")
            self._door.obstacles(path).changing(-1, -1)
        self._record.add(PathEffect(path, "file", mode, firm=False))

    def _mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._door.obstacles(path).making(uid, gid, mode)
        own_uid, own_gid = self.own(path)
        self._record.add(
            PathEffect(
                path,
                "directory",
                mode=mode,
                uid=own_uid if uid < 0 else uid,
                gid=own_gid if gid < 0 else gid,
            )
        )

    def _copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        self._door.obstacles(path).making(uid, gid, mode)
        self._record.add(PathEffect(path, "directory", mode=mode, uid=uid, gid=gid, once=True))
        self._fill(source, path, uid, gid)

    def _fill(self, source: str, path: str, uid: int, gid: int) -> None:
        found = self.stat(source)
        for name in self.entries(source) if found is not None and found.kind == "directory" else ():
            here, there = os.path.join(source, name), os.path.join(path, name)
            node = self.lstat(here)
            if node is None or node.kind == "other":
                continue
            content = None
            if node.kind == "file":
                self._door.obstacles(there).writing(node.size, uid, gid, node.mode)
                if node.size > _LIMIT:
                    self._record.add(PathEffect(there, "something", once=True))
                    continue
                content = Bytes(self.read(here, _LIMIT))
            self._record.add(
                PathEffect(
                    there,
                    node.kind,
                    mode=node.mode,
                    uid=uid,
                    gid=gid,
                    content=content,
                    target=node.target,
                    once=True,
                )
            )
            if node.kind == "directory":
                self._fill(here, there, uid, gid)

    def require_building(self, path: str, mode: int, uid: int, gid: int) -> None:
        """``ResourceError`` for a directory that cannot be built and put there."""
        self.require_parent(path)
        if self.lstat(path) is None:
            self._door.obstacles(path).making(uid, gid, mode)
        else:
            self._door.obstacles(path).removing()

    def owned(self, path: str, uid: int, gid: int) -> Tuple[int, int]:
        """Owner and group of what is made at a path, where ``OURS`` leaves them to the kernel."""
        own_uid, own_gid = self.own(path)
        return own_uid if uid < 0 else uid, own_gid if gid < 0 else gid

    def _symlink(self, target: str, path: str, in_directory: bool) -> None:
        size = len(os.fsencode(target))
        if size > _LONGEST:
            raise refusal("write", path, errno.ENAMETOOLONG)
        self._door.obstacles(path).writing(size if size >= _IN_INODE else 0)
        uid, gid = self.own(path)
        self._record.add(PathEffect(path, "symlink", 0o777, uid=uid, gid=gid, target=target))

    def _set_attributes(self, path: str, mode: int, uid: int, gid: int) -> None:
        node = self.lstat(path)
        kind = node.kind if node is not None else "file"
        self._door.obstacles(path).changing(uid, gid, mode)
        self._record.add(PathEffect(path, kind, mode=mode, uid=_given(uid), gid=_given(gid)))

    def _unlink(self, path: str) -> None:
        if self._record.checks:
            self._door.obstacles(path).removing()
        self._record.add(PathEffect(path, "absent"))

    def _remove_tree(self, path: str) -> None:
        self._door.obstacles(path).removing(tree=True)
        self._record.add(PathEffect(path, "absent"))

    def require_replaceable(self, path: str) -> None:
        """``ResourceError`` for a file that a program could not put another in place of."""
        self._door.obstacles(path).writing(0)

    def own(self, path: str) -> Tuple[int, int]:
        """Owner and group of what the run makes at a path."""
        above = self.stat(os.path.dirname(path))
        inherits = above is not None and above.mode & stat.S_ISGID
        return os.geteuid(), above.gid if above is not None and inherits else os.getegid()


def _given(number: int) -> Optional[int]:
    return None if number < 0 else number
