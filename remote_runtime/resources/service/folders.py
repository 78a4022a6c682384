"""The folders that systemd makes and removes with a service (target; in previews only)."""

import os
from typing import TYPE_CHECKING, List, Optional, Tuple

from remote_runtime.effects import PathEffect
from remote_runtime.resources.service.unit_files import Definition

if TYPE_CHECKING:
    from remote_runtime.context import Context

_FOLDERS = (
    ("RuntimeDirectory", "/run"),
    ("StateDirectory", "/var/lib"),
    ("CacheDirectory", "/var/cache"),
    ("LogsDirectory", "/var/log"),
    ("ConfigurationDirectory", "/etc"),
)


def named_folders(unit: Definition) -> List[str]:
    """The paths of the folders that systemd keeps for a service."""
    return [
        os.path.join(base, word.partition(":")[0])
        for key, base in _FOLDERS
        for word in unit.text.words("Service", key)
    ]


def own_folders(unit: Definition, context: "Context") -> List[PathEffect]:
    """The folders that systemd makes for a service before it starts it."""
    found: List[PathEffect] = []
    for key, base in _FOLDERS:
        mode = unit.text.last("Service", key + "Mode")
        for word in unit.text.words("Service", key):
            relative = word.partition(":")[0]
            path = os.path.join(base, relative)
            above = os.path.dirname(path)
            if above != base and not context.files.is_directory(above):
                found.append(PathEffect(above, "directory", mode=0o755, uid=0, gid=0))
            if unit.text.flag("Service", "DynamicUser"):
                found.append(PathEffect(path, "something"))
                continue
            uid, gid = (0, 0) if base == "/etc" else _owner(unit, context)
            found.append(
                PathEffect(path, "directory", mode=parsed_mode(mode, 0o755), uid=uid, gid=gid)
            )
    return found


def runtime_folders(unit: Definition, context: "Context") -> List[PathEffect]:
    """The folders that systemd removes when it stops a service."""
    kept = unit.text.last("Service", "RuntimeDirectoryPreserve")
    if kept in ("yes", "true", "1", "restart"):
        return []
    names = [word.partition(":")[0] for word in unit.text.words("Service", "RuntimeDirectory")]
    paths = {os.path.join("/run", name) for name in names}
    return [made for made in own_folders(unit, context) if made.path in paths]


def parsed_mode(text: str, default: int) -> int:
    """The number of a mode; what is none is left out, as systemd does."""
    octal = len(text) <= 5 and bool(text) and set(text) <= set("01234567")
    return int(text, 8) if octal else default


def _owner(unit: Definition, context: "Context") -> Tuple[Optional[int], Optional[int]]:
    user, group = (unit.text.last("Service", key) for key in ("User", "Group"))
    uid = context.accounts.number("user", user) if user else 0
    if group:
        return uid, context.accounts.number("group", group)
    return uid, context.accounts.identity(user).gid if user else 0
