"""What an action will have left on the target, as a preview must know it (target)."""

from typing import TYPE_CHECKING, Callable, List, NamedTuple, Optional, Sequence, Union

if TYPE_CHECKING:
    from remote_runtime.content import Content

ASSUMED, UNKNOWN = "assumed", "unknown"
_ORDER = ("", ASSUMED, UNKNOWN)
DATABASES = {"user": "/etc/passwd", "group": "/etc/group"}
_OF_ACCOUNTS = (*DATABASES.values(), "/etc/shadow", "/etc/gshadow")
_UNITS = ("/etc/systemd/system/", "/lib/systemd/system/", "/usr/lib/systemd/system/")


class Uncertainty(NamedTuple):
    """How sure a prediction is not: ``assumed``, ``unknown`` or "", and why in a few words."""

    level: str = ""
    reason: str = ""

    def worse(self, other: "Uncertainty") -> "Uncertainty":
        """The greater of the two, this one where they are equal."""
        return other if _ORDER.index(other.level) > _ORDER.index(self.level) else self


class PathEffect(NamedTuple):
    """What there will be at a path: ``kind`` is file, directory, symlink, absent or something.

    ``something``: it is there, and nobody can tell more. None for ``mode``, ``uid``, ``gid`` and
    ``content`` is as it is now; a path that is absent has nothing below it either. ``firm``: each
    run sees to owner and mode again, not only when it makes what is there. ``once``: no run sees
    to the path again, since it came with something else, such as a package.
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


class MountEffect(NamedTuple):
    """A file system that comes to a folder, over what is there: what the folder ``source`` has, or
    an empty one in memory; or one that goes from it.

    ``size`` is how many bytes an empty one holds and ``inodes`` how many files with its root, 0
    for any number.
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


class AccountEffect(NamedTuple):
    """A user or group (``kind``) that comes or goes; a negative ``number`` is not known yet."""

    kind: str
    name: str
    number: int = -1
    present: bool = True


class PackageEffect(NamedTuple):
    """The version that a package will have, "" for none.

    ``is_so`` looks whether what the other effects say of its files is so, where that is another
    host's word; None where it is not.
    """

    name: str
    version: str
    is_so: Optional[Callable[[], bool]] = None


class UnitEffect(NamedTuple):
    """What becomes of a unit, by its full name; None is as it is now."""

    name: str
    active: Optional[bool] = None
    enabled: Optional[bool] = None
    masked: Optional[bool] = None


class UnknownEffect(NamedTuple):
    """What an action does that nobody can tell beforehand.

    ``covers(kind, value, present)`` says whether it may change a thing: ``kind`` is path, content
    (of a file, by its path), attributes (owner and mode, by the path), user, group, package, unit,
    lists, creates (the path that makes a resource needless), text (of a command that may read
    anything) or host (anything whatever); ``present`` whether it is there now. ``text`` is what the
    action says of itself, such as a command: a name in it is likely to be what the action is about.
    """

    doubt: Uncertainty
    covers: Callable[[str, str, bool], bool]
    text: str = ""


def tells_accounts(kind: str, value: str) -> bool:
    """Whether a thing is the content of a file that the accounts stand in."""
    return kind == "content" and value in _OF_ACCOUNTS


def everything(kind: str, value: str, present: bool) -> bool:
    """What a command covers that may do anything."""
    return True


def below(path: str, *, itself: bool = False) -> Callable[[str, str, bool], bool]:
    """What is covered by something that writes below a path, or ``itself`` at it, too.

    Accounts and units are what the files say in which they stand; root is root whatever happens.
    """
    inside = path.rstrip("/") + "/"

    def holds(place: str) -> bool:
        return place.startswith(inside) or (itself and place == path)

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind == "host":  # what reads it may read here
            return True
        if kind == "unit":
            texts = [folder + value for folder in _UNITS]
            return any(holds(text) or inside.startswith(text + ".d/") for text in texts)
        if kind == "path":
            return holds(value)
        return value != "root" and holds(DATABASES.get(kind, ""))

    return covers


Effect = Union[PathEffect, MountEffect, AccountEffect, PackageEffect, UnitEffect, UnknownEffect]


def once(effects: Sequence[Effect]) -> List[Effect]:
    """The same, where no run sees again to what is at the paths."""
    return [e._replace(once=True) if isinstance(e, PathEffect) else e for e in effects]
