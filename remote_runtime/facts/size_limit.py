"""Limits the gathered facts to one frame of the protocol (target; Python 3.6 and newer).

A frame that is too large would end the session, so the excess is omitted and reported.
"""

from typing import Any, Dict, List, Sequence, Tuple

from remote_runtime.protocol.wire import MAX_FROM_TARGET
from remote_runtime.stdlib_light import json_text

_WARNINGS, _WARNING_CHARACTERS = 20, 500

# Room for the envelope, the reasons and the warnings, where one character takes at most 6 bytes.
LIMIT = MAX_FROM_TARGET - 6 * (_WARNINGS + 10) * _WARNING_CHARACTERS


def facts(families: Dict[str, Any], limit: int) -> Tuple[int, Dict[str, str]]:
    """Remove the largest ``families`` until the rest fits into ``limit`` bytes of JSON.

    Return how many bytes are left, and why each removed family is unavailable.
    """
    too_large: Dict[str, str] = {}
    sizes = {name: _size(value) + len(name) + 4 for name, value in families.items()}
    while sum(sizes.values()) > limit:
        name = max(sizes, key=lambda family: sizes[family])
        too_large[name] = "it has %d bytes, too many to send" % sizes.pop(name)
        del families[name]
    return limit - sum(sizes.values()), too_large


def custom(files: Sequence[Dict[str, str]], limit: int) -> Tuple[List[Dict[str, str]], List[str]]:
    """Return the files that fit into ``limit`` bytes of JSON, and a line for each of the others."""
    kept: List[Dict[str, str]] = []
    bad = []
    for entry in files:
        size = _size(entry)
        if size <= limit:
            kept.append(entry)
            limit -= size
        else:
            text = "%s is omitted: it needs %d bytes, but only %d remain"
            bad.append(text % (entry["path"], size, limit))
    return kept, bad


def warnings(lines: List[str]) -> List[str]:
    """Return the first lines, each cut to a reasonable length, and how many more there are."""
    shown = [line[:_WARNING_CHARACTERS] for line in lines[:_WARNINGS]]
    if len(lines) > _WARNINGS:
        shown.append("and %d more warnings" % (len(lines) - _WARNINGS))
    return shown


def _size(value: Any) -> int:
    return len(json_text.dumps(value)) + 1
