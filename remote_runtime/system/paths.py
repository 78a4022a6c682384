"""Paths as they are written, links aside (target)."""

import os

_LONGEST_NAME = 255  # bytes
_LONGEST_PATH = 4095


def is_within(path: str, folder: str) -> bool:
    """Whether a path is that of a folder, or one below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def is_too_long(path: str) -> bool:
    """Whether it is longer than the system lets anybody name a path."""
    return len(path) * 4 > _LONGEST_PATH and len(os.fsencode(path)) > _LONGEST_PATH


def has_long_name(path: str) -> bool:
    """Whether one of its names is longer than any folder holds."""
    return any(len(name) > _LONGEST_NAME for name in os.fsencode(path).split(b"/"))
