"""The files of a unit that a resource manages: its own, and a drop-in with settings (target)."""

import os
from typing import Dict, List, NamedTuple, Optional, Tuple

from remote_runtime.base import Properties
from remote_runtime.changes import HASHED
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_text import FileText
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.units.unit import full_name
from remote_runtime.units.unit_settings import written

TEXTS = ("unit", "settings")
UNREAD = "\0"
"""Stands for a text that is not known; no file of a unit has it."""
LINKED = "\0symlink"
"""Stands for a link in the place of the file."""

DIRECTORY = "/etc/systemd/system"
DROP_IN = "ccm.conf"
_MODE = 0o644
_LINKED_FROM = (".wants", ".requires", ".upholds")
_INSTALL = ("WantedBy", "RequiredBy", "UpheldBy", "Alias", "Also")


class Text(NamedTuple):
    """A file as it is to be; ``text`` None for one that is not to be there."""

    path: str
    text: Optional[str]

    def apply(self, host: Host) -> None:
        """Write or remove it, and make the directory of a drop-in. A link is replaced."""
        node = host.files.lstat(self.path)
        linked = node is not None and node.kind == "symlink"
        if self.text is None:
            host.files.unlink(self.path, kind="symlink" if linked else "file")
            return
        above = os.path.dirname(self.path)
        if above != DIRECTORY and host.files.stat(above) is None:
            host.files.mkdir(above, 0o755)
        mode = _MODE if node is None or linked else mode_after(node.mode)
        host.files.write(self.path, self.text.encode("utf-8"), mode=mode)


def paths(name: str) -> Dict[str, str]:
    """The path of each of the files."""
    own = "%s/%s" % (DIRECTORY, full_name(name))
    return {"unit": own, "settings": "%s.d/%s" % (own, DROP_IN)}


def desired(name: str, properties: Properties) -> Dict[str, Text]:
    """The files that are to be managed, by property."""
    found, at = {}, paths(name)
    if properties.get("unit") is not None:
        found["unit"] = Text(at["unit"], properties["unit"])
    if properties.get("settings") is not None:
        found["settings"] = Text(at["settings"], written(properties["settings"]) or None)
    return found


def read(host: HostReader, path: str) -> Tuple[Optional[str], int]:
    """The text of a file, None where there is none, and its mode."""
    node = host.files.lstat(path)
    if node is None:
        return None, _MODE
    if node.kind == "symlink":
        return LINKED, _MODE
    if node.kind != "file":
        raise ResourceError("%s is a %s" % (path, node.kind), kind="resource.file.kind")
    return host.files.read(path).decode("utf-8", "surrogateescape"), node.mode


def mode_after(mode: int) -> int:
    """The mode of a file that is written in place of one with ``mode``: never less strict."""
    return _MODE & mode


def file_text(text: Optional[str], mode: int) -> Optional[FileText]:
    """The side of a diff; None where there is no file."""
    if text is None or text == LINKED:
        return None
    return FileText(text.encode("utf-8", "surrogateescape"), mode)


def hashed(text: Optional[str]) -> Optional[str]:
    """What records have of a text."""
    if text is None or text == UNREAD:
        return None
    if text == LINKED:
        return "symlink"
    from remote_runtime.lean.digest import sha256

    return "%s%s" % (HASHED, sha256(text.encode("utf-8", "surrogateescape")).hexdigest())


def has_links(host: HostReader, name: str, text: Optional[str]) -> bool:
    """Whether links that are there enable a unit with this text."""
    if host.files.stat(DIRECTORY) is None:
        return False
    own, entries = full_name(name), host.files.entries(DIRECTORY)
    pulled = ["%s/%s" % (each, own) for each in entries if each.endswith(_LINKED_FROM)]
    if any(host.files.lstat("%s/%s" % (DIRECTORY, link)) is not None for link in pulled):
        return True
    aliases = [alias for alias in install(name, text).get("Alias", ()) if alias in entries]
    nodes = [host.files.lstat("%s/%s" % (DIRECTORY, alias)) for alias in aliases]
    return any(node is not None and os.path.basename(node.target) == own for node in nodes)


def install(name: str, text: Optional[str]) -> Dict[str, List[str]]:
    """How a text says that the unit is enabled."""
    from remote_runtime.units.text import UnitText

    found = UnitText(full_name(name))
    found.add("" if text is None or text == LINKED else text)
    words = {key: found.words("Install", key) for key in _INSTALL}
    return {key: value for key, value in words.items() if value}
