"""Predicts ``dpkg-maintscript-helper`` in an upgrade (target; in previews only).

Several scripts of a package call it; this module predicts the result of all calls together.
"""

from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence, Set

from remote_runtime.content import Text
from remote_runtime.effects import PathEffect
from remote_runtime.packages.maintainer_scripts.builtins import compared
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.effects import Declared
from remote_runtime.packages.maintainer_scripts.shell import Call

if TYPE_CHECKING:
    from remote_runtime.system.files import Files
    from remote_runtime.system.paths import Status

_LIMIT = 1 << 16  # bytes of a configuration file that is read
NAME = "dpkg-maintscript-helper"
_VERSION_AT = {"rm_conffile": 1, "mv_conffile": 2, "symlink_to_dir": 2, "dir_to_symlink": 2}


class Request(NamedTuple):
    """A request of a package: ``kind`` is the command, ``paths`` are its arguments."""

    kind: str
    paths: Sequence[str]
    prior: str

    @property
    def touched(self) -> List[str]:
        """All paths that it may change."""
        paths = list(self.paths[:1]) if self.kind.endswith(("_dir", "_symlink")) else []
        for path in () if paths else self.paths:
            paths += [path, path + ".dpkg-bak", path + ".dpkg-new"]
        return paths


def request(call: Call) -> Optional[Request]:
    """Return the request of a call; None for another call."""
    if call.name != NAME or len(call.words) < 3:
        return None
    kind = call.words[1]
    words = list(call.words[2:])
    words = words[: words.index("--")] if "--" in words else words
    at = _VERSION_AT.get(kind)
    if at is None or len(words) < at:
        return Request(kind, (), "")
    return Request(kind, tuple(words[:at]), words[at] if len(words) > at else "")


class Conffiles(NamedTuple):
    """The previous version, as far as it is known: its paths, and the conffiles that
    nobody edited.
    """

    paths: Set[str]
    unedited: Set[str]


def moves(requests: Sequence[Request], files: "Files", before: str, paths: Set[str]) -> Set[str]:
    """Return the paths at which a directory replaces a link, or a link a directory, before
    unpacking.

    ``files`` are the host's, ``before`` is the version that is upgraded, and ``paths`` are its own.
    """
    changing_paths = set()
    for kind, request_paths, prior in requests:
        if len(request_paths) < 2 or not before or compared(before, "le-nl", prior) is not True:
            continue
        path = request_paths[0].rstrip("/")
        if UNKNOWN in path + request_paths[1]:
            continue
        if kind == "symlink_to_dir" and files.link(path).rstrip("/") == request_paths[1].rstrip(
            "/"
        ):
            changing_paths.add(path)
        status = files.status(path)
        directory = status is not None and status.kind == "directory"
        if kind == "dir_to_symlink" and directory:
            own = ["%s/%s" % (path, name) in paths for name in files.entries(path)]
            changing_paths |= {path} if all(own) else set()
    return changing_paths


def declared(
    request: Request, files: "Files", *, before: str, old: Conffiles, moved: Set[str]
) -> Declared:
    """Return the result of a request after a version is configured.

    ``before`` is the version that was upgraded, "" for none; ``moved`` are the paths of ``moves``.
    """
    if request.kind == "supports" or not before:
        return Declared([], [])
    if not request.paths or UNKNOWN in "".join(request.paths) + before:
        return Declared([], request.touched or [UNKNOWN])
    due = compared(before, "le-nl", request.prior)
    if due is None:
        return Declared([], request.touched)
    if not due:
        return Declared([], [])
    if request.kind.endswith("_conffile"):
        return Declared(_conffile(request, files, old), [])
    path = request.paths[0].rstrip("/")
    link = bool(files.link(path))
    settled = path in moved or link is (request.kind == "dir_to_symlink")
    return Declared([], [] if settled or not files.is_there(path) else request.touched)


def _conffile(request: Request, files: "Files", old: Conffiles) -> List[PathEffect]:
    """Return the effects on a conffile that is removed or renamed; an edited one is kept."""
    path = request.paths[0]
    status = files.status(path)
    if status is None or status.kind != "file" or path not in old.paths:
        return []
    gone = PathEffect(path, "absent")
    if path in old.unedited:
        return [gone]
    if request.kind == "rm_conffile":
        return [_as(path + ".dpkg-bak", path, status, files), gone]
    new = request.paths[1]
    beside = files.status(new)
    effects = [_as(new, path, status, files), gone]
    if beside is not None and beside.kind == "file":
        effects.insert(0, _as(new + ".dpkg-new", new, beside, files))
    return effects


def _as(name: str, path: str, status: "Status", files: "Files") -> PathEffect:
    """Return a file under another name; a long or binary file has unknown content."""
    content = None
    if status.size <= _LIMIT:
        try:
            content = Text(files.read(path, _LIMIT).decode("utf-8"))
        except UnicodeDecodeError:
            pass
    return PathEffect(name, "file", status.mode, uid=status.uid, gid=status.gid, content=content)
