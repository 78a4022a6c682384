"""The planned node at one path in a preview (target)."""

import os
import stat
from typing import NamedTuple, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import MountEffect
from remote_runtime.overlay.planned_content import CachedContent
from remote_runtime.system.paths import walk
from remote_runtime.system.preconditions import PAGE

UNTOLD = "something"


class Node(NamedTuple):
    """The predicted state of one path; see ``PathEffect`` for the kinds.

    ``opaque``: the host's paths below it no longer count. ``content`` None: unknown. ``since`` is
    when it was planned; ``began`` is when a directory that still exists was created, 0 if that is
    the same; ``by`` is its resource. ``implied``: a directory that exists because of paths below
    it, so its other content is unknown. ``inode``: of a file of the host that keeps its content and
    has more names, which share its attributes. ``mount``: the file system mounted there; a separate
    one has a negative ``device``. ``via`` are the links that led to it when it was planned;
    ``unsure``: a directory that may have existed by then, with content. ``guessed``: a directory
    whose owner and mode are those of a new one, but a command creates it. ``filled``: its resource
    manages the content. ``kept``: a file of the host that keeps its content and its time.
    """

    kind: str
    mode: int = 0
    uid: int = 0
    gid: int = 0
    content: Optional[CachedContent] = None
    target: str = ""
    opaque: bool = True
    since: int = 0
    began: int = 0
    by: str = ""
    device: int = 0
    implied: bool = False
    firm: bool = False
    once: bool = False
    part: bool = False
    inode: Optional[Tuple[int, int]] = None
    mount: Optional[MountEffect] = None
    via: Tuple[str, ...] = ()
    unsure: bool = False
    guessed: bool = False
    filled: bool = False
    kept: bool = False

    def counts_since(self, inside: bool) -> int:
        """Return the time since when its content, or its ``inside``, is known; 0 if it
        is unknown.
        """
        if not inside:
            return self.since
        settled = self.opaque and not (self.implied or self.unsure)
        return (self.began or self.since) if settled else 0


class ResolvedPath(NamedTuple):
    """The target of a path: ``path`` without links; the ``node`` of the layer, if there is one.

    ``there``: neither the layer nor a parent hides the host's own path; ``laid`` says whether the
    layer was involved, and ``since`` when it last was. ``within`` is a node on the way with unknown
    kind, so whether anything is below it is unknown. ``links`` are the followed links, each with
    its time. ``below_file``: a parent is a planned file.
    """

    path: str
    node: Optional[Node]
    there: bool
    laid: bool
    since: int
    within: Optional[Node] = None
    links: Tuple[Tuple[str, int], ...] = ()
    below_file: bool = False


def shared(path: str) -> Optional[Tuple[int, int]]:
    """The device and inode of a file of the host that also has other names."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    many = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    return (status.st_dev, status.st_ino) if many else None


def undoes(new: Node, old: Node) -> bool:
    """Return whether two resources that both changed the path want different states."""
    if UNTOLD in (new.kind, old.kind) or old.implied or old.once or new.once:
        return False
    if new.kind != old.kind:
        return True
    both_filled = new.filled and old.filled and not (new.part and old.part)
    if new.content is not None and old.content is not None and both_filled:
        try:
            if new.content.sha256 != old.content.sha256:
                return True
        except Unknowable:
            return False
    attributes = (new.mode, new.uid, new.gid) != (old.mode, old.uid, old.gid)
    return new.firm and old.firm and attributes


def space_used_at(path: str, below: bool) -> Tuple[int, int]:
    """Return the bytes and files that the host has at a path, with those ``below`` it."""
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0
    if not stat.S_ISDIR(status.st_mode):
        return -(-status.st_size // PAGE) * PAGE, 1
    size, count = 0, 1
    for directory, directories, files in walk(path) if below else ():
        count += len(directories) + len(files)
        size += sum(space_used_at(os.path.join(directory, name), False)[0] for name in files)
    return size, count


def kind_at(node: Optional[Node], full: str, hidden: bool) -> Tuple[str, str]:
    """Return the kind of the node at a path, and the target of a link."""
    if node is not None:
        return node.kind, node.target
    if hidden:
        return "absent", ""
    try:
        mode = os.lstat(full).st_mode
    except OSError:
        return "absent", ""
    if stat.S_ISLNK(mode):
        return "symlink", os.readlink(full)
    return "directory" if stat.S_ISDIR(mode) else "file", ""
