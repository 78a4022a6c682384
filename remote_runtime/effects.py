"""The effects of an action on the target, for previews (target)."""

from typing import TYPE_CHECKING, Callable, List, NamedTuple, Optional, Sequence, Union

from remote_runtime.system.paths import is_within
from remote_runtime.uncertainty import Uncertainty

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.system.account_files import Group, User
    from remote_runtime.system.kernel.mounts import MountEntry

DATABASES = {"user": "/etc/passwd", "group": "/etc/group"}
SHADOW = "/etc/shadow"
ACCOUNT_FILES = (*DATABASES.values(), SHADOW, "/etc/gshadow")
_UNITS = ("/etc/systemd/system/", "/lib/systemd/system/", "/usr/lib/systemd/system/")

Covers = Callable[[str, str, bool], bool]
"""Tests whether an effect may change a thing, see ``UnknownEffect``."""


class PathEffect(NamedTuple):
    """The predicted state of a path: ``kind`` is file, directory, symlink, absent or something.

    ``something``: it exists, and the rest is unknown. If ``mode``, ``uid``, ``gid`` or ``content``
    is None, it does not change; an absent path has nothing below it. ``firm``: each run sets owner
    and mode again, not only when it creates the path. ``once``: no run manages the path again,
    because it was created by something else, such as a package. ``part``: the resource manages a
    part of the content, so that others may manage other parts.
    """

    path: str
    kind: str
    mode: Optional[int] = None
    uid: Optional[int] = None
    gid: Optional[int] = None
    content: Optional["Content"] = None
    target: str = ""
    firm: bool = True
    once: bool = False
    part: bool = False


class MountEffect(NamedTuple):
    """A file system that is mounted on a directory: the content of the directory ``source``, or an
    empty one in memory; or one that is unmounted.

    ``size`` is the capacity of an empty one in bytes and ``inodes`` the number of files with its
    root, 0 for no limit. ``entry`` is the resulting entry in the table of mounts, if known.
    ``table_only``: the content of the directory does not change. ``remounts``: it only gets other
    options; ``gains`` has those of ``rw`` and ``exec`` that it lacks today. ``reloads``: the only
    effect is that systemd reads fstab.
    """

    path: str
    source: str = ""
    present: bool = True
    mode: int = 0o1777
    uid: int = 0
    gid: int = 0
    size: int = 0
    inodes: int = 0
    read_only: bool = False
    no_execution: bool = False
    gains: Sequence[str] = ()
    entry: "Optional[MountEntry]" = None
    table_only: bool = False
    remounts: bool = False
    reloads: bool = False


OWN_GROUP = -1
"""The number of the primary group of a new user if it is the user's own, which is new, too."""


class AccountEffect(NamedTuple):
    """A user or group (``kind``) that is added, changed or removed; a negative ``number`` is not
    known yet. ``entry`` is its full record, None if only the number may be known."""

    kind: str
    name: str
    number: int = -1
    present: bool = True
    entry: "Union[User, Group, None]" = None


class KernelEffect(NamedTuple):
    """A kernel parameter, by its path in /proc/sys, or a module, by its path in /sys/module, that
    is added, changed or removed; a ``value`` of None is unknown. ``by`` causes it."""

    path: str
    value: Optional[str] = None
    present: bool = True
    by: str = ""


class PackageEffect(NamedTuple):
    """The version that a package will have, "" for none.

    ``is_so`` verifies the other effects on its files if another host reported them; None if they
    were read here.
    """

    name: str
    version: str
    is_so: Optional[Callable[[], bool]] = None


class UnitEffect(NamedTuple):
    """The predicted state of a unit, by its full name; None means no change.

    ``ended``: it runs now, and would be stopped or restarted. ``reloaded``: it runs on, and reads
    its configuration again.
    """

    name: str
    active: Optional[bool] = None
    enabled: Optional[bool] = None
    masked: Optional[bool] = None
    ended: bool = False
    reloaded: bool = False


class UnknownEffect(NamedTuple):
    """An action with unknown effects.

    ``covers(kind, value, present)`` says whether it may change a thing: ``kind`` is path, content
    (of a file, by its path), attributes (owner and mode, by the path), user, group, package, unit,
    lists, creates (the path that makes a resource unnecessary), text (of a command that may read
    anything), space (on the file system with this mount point) or host (anything at all);
    ``present`` whether it exists now. ``text`` describes the action, such as a command: a name in
    it probably identifies its subject.
    """

    uncertainty: Uncertainty
    covers: Covers
    text: str = ""


FILE_READS = ("path", "content", "attributes", "creates")
"""The kinds whose value is a path."""


class Things(object):
    """The coverage of an action that may write these things: ``values`` of one of the ``kinds``."""

    def __init__(self, kinds: Sequence[str], values: Sequence[str]) -> None:
        self.kinds, self.values = frozenset(kinds), frozenset(values)

    def __call__(self, kind: str, value: str, present: bool) -> bool:
        return value in self.values and kind in self.kinds


class Named(Things):
    """The coverage of an action on one thing; what reads the host may read it."""

    def __init__(self, kind: str, *names: str) -> None:
        super().__init__([kind], names)

    def __call__(self, kind: str, value: str, present: bool) -> bool:
        return kind == "host" or super().__call__(kind, value, present)


class AnyOf(object):
    """The coverage of several others."""

    def __init__(self, parts: Sequence[Covers]) -> None:
        self.parts = parts

    def __call__(self, kind: str, value: str, present: bool) -> bool:
        return any(part(kind, value, present) for part in self.parts)


ACCOUNT_DATABASES = Things(["content"], ACCOUNT_FILES)


def everything(kind: str, value: str, present: bool) -> bool:
    """Return True: a command without a declaration may change anything."""
    return True


NETWORK = "network"
"""Used instead of ``""`` with the kind ``host`` if only answers from the network are read."""


def sources(kind: str, value: str) -> List[str]:
    """Return the paths that define a thing: itself, the files of a unit, or an account database,
    except for root.
    """
    if kind == "path":
        return [value]
    if kind == "unit":
        return [directory + value for directory in _UNITS]
    return [DATABASES[kind]] if kind in DATABASES and value != "root" else []


class Below(object):
    """The coverage of an action that writes below a path, or with ``itself`` also at it.

    Accounts and units are covered by their files; the account root is never covered.
    """

    def __init__(self, path: str, *, itself: bool = False) -> None:
        self.top = path.rstrip("/") or "/"
        self._path = path if itself else None
        self._inside = path.rstrip("/") + "/"

    def __call__(self, kind: str, value: str, present: bool) -> bool:
        if kind == "host":  # what reads it may read here
            return True
        if kind == "space":
            return self._holds(value) or is_within(self.top, value)
        paths = sources(kind, value)
        dropins = kind == "unit" and any(self._inside.startswith(path + ".d/") for path in paths)
        return dropins or any(map(self._holds, paths))

    def _holds(self, place: str) -> bool:
        return place.startswith(self._inside) or place == self._path


Effect = Union[
    PathEffect,
    MountEffect,
    AccountEffect,
    KernelEffect,
    PackageEffect,
    UnitEffect,
    UnknownEffect,
]


def once(effects: Sequence[Effect]) -> List[Effect]:
    """Return the same effects, marked as effects that no later run repeats."""
    return [e._replace(once=True) if isinstance(e, PathEffect) else e for e in effects]
