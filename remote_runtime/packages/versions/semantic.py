"""The order of semantic versions (both sides)."""

from typing import Any, Tuple

from remote_runtime.health.semver import parse_version

Key = Tuple[Any, ...]


def key(version: str) -> Key:
    """Return the sort key of a version; a text that is not a version sorts first."""
    try:
        return (1, parse_version(version).key)
    except ValueError:
        return (0, version)


def is_version(text: str) -> bool:
    """Return whether a text is one version and not a range such as ``1.x``."""
    return bool(key(text)[0] == 1)


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1."""
    one, other = key(left), key(right)
    return (one > other) - (one < other)
