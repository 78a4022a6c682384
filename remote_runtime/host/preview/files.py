"""Paths in a preview (target): changes that the machine would refuse fail, and all others are
recorded.
"""

import errno
import os
from typing import Callable, Optional, Sequence, Tuple

from remote_runtime import missing_parents
from remote_runtime.changes import differs_by_size
from remote_runtime.content import Bytes, Content
from remote_runtime.effects import PathEffect
from remote_runtime.errors import UnsettledError
from remote_runtime.host import file_ports
from remote_runtime.host.file_ports import NewAttributes, NewFile
from remote_runtime.host.preview.change_record import Record
from remote_runtime.system.errno_messages import refusal
from remote_runtime.system.files import Files as Adapter

_MAX_LENGTH = 4095  # bytes of a symlink's text
_LIMIT = 16 << 20  # bytes of a file that is copied
_IN_INODE = 60  # bytes of a symlink's text that need no separate block
_AS_ANOTHER = 0o6000


class Files(file_ports.Files):
    """Records changes without writing anything on the machine."""

    def __init__(self, record: Record) -> None:
        super().__init__(record.overlay.files)
        self._record = record
        self._staged = 0  # bytes of a file that is written after the earlier changes

    @property
    def _adapter(self) -> Adapter:
        return self._record.overlay.files

    def _write(self, file: NewFile, validate: str, *, firm: bool, part: bool) -> None:
        path, content, mode = file.path, file.content, file.mode
        self._adapter.obstacles(path).writing(content.size, file.uid, file.gid, mode)
        uid, gid = self.owned(path, file.uid, file.gid)
        effect = PathEffect(
            path, "file", mode, uid=uid, gid=gid, content=content, firm=firm, part=part
        )
        self._validate(validate, effect)
        self._record.add(effect)

    def _validate(self, command: str, effect: PathEffect) -> None:
        if command:
            from remote_runtime.host.file_validation import preview

            preview(self._record.overlay, command, effect)

    def put(
        self,
        path: str,
        content: Optional[Content],
        *,
        mode: int,
        uid: int,
        gid: int,
        validate: str = "",
        before: Optional[Callable[[], None]] = None,
        firm: bool = False,
        part: bool = False,
    ) -> None:
        """See the base class. Refuses what the push would refuse, for example for lack of space,
        and previews ``validate``.
        """
        size = content.size if content is not None else 0
        own_uid, own_gid = self.owned(path, uid, gid)
        effect = PathEffect(
            path, "file", mode, uid=own_uid, gid=own_gid, content=content, firm=firm, part=part
        )
        if self._record.checks:
            self.require_file_place(path)
            self._adapter.obstacles(path).writing(size, uid, gid, mode)
            if size and os.geteuid() != 0 and not mode & 0o400:
                raise UnsettledError(
                    "cannot tell whether %s has the new content: permission denied" % path
                )
            if content is not None:
                self._validate(validate, effect)
        if before is not None:
            self._staged = size  # the bytes written by then
            before()
            self._staged = 0
        self._record.add(effect)

    def back_up(self, path: str, copy: str) -> None:
        """See the base class. The copy has the current content; that of a large file is
        not known.
        """
        from remote_runtime.host.machine.contents import LocalContent

        node = self.lstat(path)
        if node is None or node.kind != "file":
            return
        mode = node.mode & ~_AS_ANOTHER
        if self._record.checks:
            size = self._staged + node.size
            self._adapter.obstacles(copy).writing(size, node.uid, node.gid, mode)
        content = None if differs_by_size(node.size, None) else LocalContent(path, self._adapter)
        self._record.add(
            PathEffect(copy, "file", mode, uid=node.uid, gid=node.gid, content=content, firm=False)
        )

    def make_directory(
        self,
        path: str,
        mode: int,
        *,
        uid: int = file_ports.OURS,
        gid: int = file_ports.OURS,
        firm: bool = False,
    ) -> None:
        """Record the directory and its missing parents, and refuse what the host would refuse."""
        above = missing_parents.parents(self._adapter, path, mode & 0o755)
        if self._record.checks:
            self.require_free(path)
            top = self.stat(os.path.dirname(above[0].path if above else path))
            if top is not None and top.kind != "directory":
                raise refusal("create the directory", path, errno.ENOTDIR)
            self._adapter.obstacles(path).making(uid, gid, mode)
        owner, group = _given(uid), _given(gid)
        effect = PathEffect(path, "directory", mode, uid=owner, gid=group, firm=firm)
        self._record.add(*above, effect)

    def set_mode(self, path: str, mode: int) -> None:
        if self._record.checks:
            self.require_kind(path, "file")
            self._adapter.obstacles(path).changing(-1, -1)
        self._record.add(PathEffect(path, "file", mode, firm=False))

    def _mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._adapter.obstacles(path).making(uid, gid, mode)
        uid, gid = self.owned(path, uid, gid)
        self._record.add(PathEffect(path, "directory", mode, uid=uid, gid=gid))

    def _copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        self._adapter.obstacles(path).making(uid, gid, mode)
        self._record.add(PathEffect(path, "directory", mode=mode, uid=uid, gid=gid, once=True))
        self._fill(source, path, uid, gid)

    def _fill(self, source: str, path: str, uid: int, gid: int) -> None:
        status = self.stat(source)
        for name in (
            self.entries(source) if status is not None and status.kind == "directory" else ()
        ):
            here, there = os.path.join(source, name), os.path.join(path, name)
            node = self.lstat(here)
            if node is None or node.kind == "other":
                continue
            content = None
            if node.kind == "file":
                self._adapter.obstacles(there).writing(node.size, uid, gid, node.mode)
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
        """``ResourceError`` for a directory that cannot be built and put in place."""
        self.require_parent(path)
        if self.lstat(path) is None:
            self._adapter.obstacles(path).making(uid, gid, mode)
        else:
            self._adapter.obstacles(path).removing()

    def owned(self, path: str, uid: int, gid: int) -> Tuple[int, int]:
        """Return the owner and group of a new path if ``OURS`` leaves them to the kernel."""
        if file_ports.OURS not in (uid, gid):
            return uid, gid  # that of a planned account is negative, too
        own_uid, own_gid = self.own(path)
        return (
            own_uid if uid == file_ports.OURS else uid,
            own_gid if gid == file_ports.OURS else gid,
        )

    def _symlink(self, target: str, path: str, in_directory: bool) -> None:
        size = len(os.fsencode(target))
        if size > _MAX_LENGTH:
            raise refusal("write", path, errno.ENAMETOOLONG)
        place = self._adapter.obstacles(path)
        place.writing(size if size >= _IN_INODE else 0)
        uid, gid = place.owner()
        self._record.add(PathEffect(path, "symlink", 0o777, uid=uid, gid=gid, target=target))

    def _set_attributes(self, path: str, mode: int, *, uid: int, gid: int, follow: bool) -> None:
        node = None if follow else self.lstat(path)
        kind = "directory" if follow else node.kind if node is not None else "file"
        if self._record.checks:
            self._adapter.obstacles(path, follow).changing(uid, gid, mode)
        self._record.add(PathEffect(path, kind, mode=mode, uid=_given(uid), gid=_given(gid)))

    def set_all_attributes(self, wanted: Sequence[NewAttributes]) -> None:
        """See the base class. If the push fails midway, only some attributes are set, so each path
        is unfinished.
        """
        for path, kind, mode, uid, gid in wanted:
            is_link = kind == "symlink"
            if self._record.checks:
                place = self._adapter.obstacles(path)
                if is_link:
                    place.changing_link(uid, gid)
                else:
                    place.changing(uid, gid, mode)
            target = self._adapter.link(path) if is_link else ""
            effect = PathEffect(path, kind, mode, uid=uid, gid=gid, target=target)
            self._record.add(effect)
            self._record.unfinished.append(effect)

    def _unlink(self, path: str) -> None:
        if self._record.checks:
            self._adapter.obstacles(path).removing()
        self._record.add(PathEffect(path, "absent"))

    def _remove_tree(self, path: str) -> None:
        if self._record.checks:
            self._adapter.obstacles(path).removing(tree=True)
        self._record.add(PathEffect(path, "absent"))

    def require_replaceable(self, path: str) -> None:
        """``ResourceError`` for a file that a program could not replace."""
        self._adapter.obstacles(path).writing(0)

    def own(self, path: str) -> Tuple[int, int]:
        """Return owner and group of a path that the run creates."""
        return self._adapter.obstacles(path).owner()


def _given(number: int) -> Optional[int]:
    return None if number == file_ports.OURS else number
