"""Compares texts with patterns of the shell, in bounded time (target; in previews only)."""

from typing import Optional

from remote_runtime.changes import Unknowable
from remote_runtime.packages.dpkg.path_patterns import compiled

MAX_STARS = 32
MAX_COMPARED = 1 << 20  # characters of a text times those of a pattern


def fits(text: str, pattern: str) -> Optional[bool]:
    """Return whether a text matches a pattern of ``fnmatch``; None if the match would take too
    long, or if the result is unknown.
    """
    if len(text) * len(pattern) > MAX_COMPARED or pattern.count("*") > MAX_STARS:
        return None
    plain = pattern.replace("\\", "\\\\").encode("utf-8", "surrogatepass")
    try:
        return compiled(plain).match(text.encode("utf-8", "surrogatepass")) is not None
    except Unknowable:
        return None
