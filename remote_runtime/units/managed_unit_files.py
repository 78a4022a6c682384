"""The files of a unit that a resource manages: its own file, and a drop-in with
settings (target).
"""

import os
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Tuple

from remote_runtime.changes import HASHED, Missing, Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import OURS
from remote_runtime.host.file_text import FileText
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.plan_item import Properties
from remote_runtime.units.unit import full_name
from remote_runtime.units.unit_settings import written

if TYPE_CHECKING:
    from remote_runtime.system.account_files import User

TEXTS = ("unit", "settings")
UNREAD = "\0"
"""Represents an unknown text; no file of a unit contains it."""
LINKED = "\0symlink"
"""Represents a link in place of the file."""

DIRECTORY = "/etc/systemd/system"
OF_USERS = ".config/systemd/user"  # below the home directory
DROP_IN = "ccm.conf"
_MODE = 0o644
_LINKED_FROM = (".wants", ".requires", ".upholds")
_INSTALL = ("WantedBy", "RequiredBy", "UpheldBy", "Alias", "Also")


class Place(NamedTuple):
    """The directory for the units of a manager; ``user`` is None for that of the system."""

    directory: str
    user: "Optional[User]" = None


class Text(NamedTuple):
    """A desired file, by its path in the directory of units; ``text`` is None for one that must not
    exist."""

    name: str
    text: Optional[str]

    def path(self, place: Place) -> str:
        """The path of the file."""
        return "%s/%s" % (place.directory, self.name)

    def apply(self, host: Host, place: Place) -> None:
        """Write or remove it, and create the directories that it needs. A link is replaced."""
        path = self.path(place)
        node = host.files.lstat(path)
        linked = node is not None and node.kind == "symlink"
        if self.text is None:
            host.files.unlink(path, kind="symlink" if linked else "file")
            return
        uid, gid = _owner(place)
        for above in _above(place, path):
            if host.files.stat(above) is None:
                host.files.mkdir(above, 0o755, uid, gid)
        mode = _MODE if node is None or linked else mode_after(node.mode)
        host.files.write(path, self.text.encode("utf-8"), mode=mode, uid=uid, gid=gid)


def _owner(place: Place) -> Tuple[int, int]:
    if place.user is None:
        return OURS, OURS
    if min(place.user.uid, place.user.gid) < 0:
        raise Unknowable("the uid of %s is not known until it is created" % place.user.name)
    return place.user.uid, place.user.gid


def _above(place: Place, path: str) -> List[str]:
    """The directories to create, outermost first; those of a user start below the
    home directory.
    """
    first = len(place.directory if place.user is None else place.user.home.rstrip("/"))
    ends = [at for at, char in enumerate(path) if char == "/" and at > first]
    return [path[:at] for at in ends]


def split(name: str, properties: Properties) -> Tuple[str, str]:
    """The user of a resource's unit, "" for a unit of the system, and the name of the unit.

    ``USER/UNIT`` is also such a name, so that units of several users can have the same name.
    """
    user, _, unit = name.rpartition("/")
    return user or str(properties.get("user") or ""), unit


def full_of(name: str, properties: Properties) -> str:
    """The name of a unit among those of all managers: ``USER/UNIT`` for a user's unit."""
    user, unit = split(name, properties)
    return "%s/%s" % (user, unit) if user else unit


def place_of(host: HostReader, user: str) -> Place:
    """The location of a user's units, or of the system's for "". ``Missing`` for an
    unknown user.
    """
    if not user:
        return Place(DIRECTORY)
    entry = host.accounts.user(user)
    if entry is None:
        what = "the user %s does not exist" % user
        raise Missing(what, hint="add an earlier user resource that creates it")
    return Place("%s/%s" % (entry.home.rstrip("/"), OF_USERS), entry)


def paths(name: str) -> Dict[str, str]:
    """The path of each of the files in the directory of units."""
    own = full_name(name)
    return {"unit": own, "settings": "%s.d/%s" % (own, DROP_IN)}


def desired(name: str, properties: Properties) -> Dict[str, Text]:
    """Return the files to manage, by property."""
    texts, at = {}, paths(split(name, properties)[1])
    if properties.get("unit") is not None:
        texts["unit"] = Text(at["unit"], properties["unit"])
    if properties.get("settings") is not None:
        texts["settings"] = Text(at["settings"], written(properties["settings"]) or None)
    return texts


def read(host: HostReader, path: str) -> Tuple[Optional[str], int]:
    """The text of a file, None if it does not exist, and its mode."""
    node = host.files.lstat(path)
    if node is None:
        return None, _MODE
    if node.kind == "symlink":
        return LINKED, _MODE
    if node.kind != "file":
        raise ResourceError("%s is a %s" % (path, node.kind), kind="resource.file.kind")
    return host.files.read(path).decode("utf-8", "surrogateescape"), node.mode


def mode_after(mode: int) -> int:
    """The mode of a file that replaces one with ``mode``; never less strict."""
    return _MODE & mode


def file_text(text: Optional[str], mode: int, path: str) -> Optional[FileText]:
    """One side of a diff; None if there is no file."""
    if text is None or text == LINKED:
        return None
    return FileText(text.encode("utf-8", "surrogateescape"), mode, path)


def hashed(text: Optional[str]) -> Optional[str]:
    """Return the hash of a text in the form used in records."""
    if text is None or text == UNREAD:
        return None
    if text == LINKED:
        return "symlink"
    from remote_runtime.stdlib_light.sha256_digest import sha256

    return "%s%s" % (HASHED, sha256(text.encode("utf-8", "surrogateescape")).hexdigest())


def has_links(host: HostReader, place: Place, name: str, text: Optional[str]) -> bool:
    """Return whether existing links enable a unit with this text."""
    if host.files.stat(place.directory) is None:
        return False
    own, entries = full_name(name), host.files.entries(place.directory)
    pulled = ["%s/%s" % (each, own) for each in entries if each.endswith(_LINKED_FROM)]
    if any(host.files.lstat("%s/%s" % (place.directory, link)) is not None for link in pulled):
        return True
    aliases = [alias for alias in install(name, text).get("Alias", ()) if alias in entries]
    nodes = [host.files.lstat("%s/%s" % (place.directory, alias)) for alias in aliases]
    return any(node is not None and os.path.basename(node.target) == own for node in nodes)


def install(name: str, text: Optional[str]) -> Dict[str, List[str]]:
    """Return the settings of a text that enable the unit."""
    from remote_runtime.units.unit_text import UnitText

    unit_text = UnitText(full_name(name))
    unit_text.add("" if text is None or text == LINKED else text)
    words = {key: unit_text.words("Install", key) for key in _INSTALL}
    return {key: value for key, value in words.items() if value}
