"""The paths that a unit's own settings hide from its programs (target; in previews only)."""

from typing import Iterator, List, Tuple

from remote_runtime.system.paths import is_within
from remote_runtime.units.unit_text import UnitText

_HOMES = ("/home", "/root", "/run/user")
_TEMPORARY = ("/tmp", "/var/tmp")
BINDING = ("BindPaths", "BindReadOnlyPaths")


def hiding_setting(text: UnitText, path: str) -> str:
    """The setting of a service that hides a path; "" if nothing hides it."""
    if any(is_within(path, shown) for shown in _bound(text)):
        return ""
    return next((setting for setting, at in _covered(text) if is_within(path, at)), "")


def _covered(text: UnitText) -> Iterator[Tuple[str, str]]:
    for word in text.words("Service", "InaccessiblePaths"):
        yield "InaccessiblePaths", word.lstrip("-+")
    for word in text.words("Service", "TemporaryFileSystem"):
        yield "TemporaryFileSystem", word.partition(":")[0]
    if text.flag("Service", "ProtectHome") or text.last("Service", "ProtectHome") == "tmpfs":
        yield from (("ProtectHome", directory) for directory in _HOMES)
    if text.flag("Service", "PrivateTmp") or text.flag("Service", "DynamicUser"):
        yield from (("PrivateTmp", directory) for directory in _TEMPORARY)


def _bound(text: UnitText) -> List[str]:
    """The paths at which something is bound: SOURCE, or SOURCE:PLACE and options."""
    words = [word.lstrip("-+").split(":") for key in BINDING for word in text.words("Service", key)]
    return [parts[1] if len(parts) > 1 else parts[0] for parts in words]
