"""The order of semantic versions (both sides)."""

from typing import Any, Tuple

from remote_runtime.health.semver import parse_version

Key = Tuple[Any, ...]


def key(version: str) -> Key:
    """What orders a version; a text that is none comes first."""
    try:
        return (1, parse_version(version).key)
    except ValueError:
        return (0, version)


def is_version(text: str) -> bool:
    """Whether a text is one version, and no range such as ``1.x``."""
    return bool(key(text)[0] == 1)


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1."""
    one, other = key(left), key(right)
    return (one > other) - (one < other)
