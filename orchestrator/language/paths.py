"""``lookup()`` paths: GJSON, with a fast way for plain dotted ones (controller)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

ROOTS = ("facts", "data", "environ")
MISSING = object()
"""What a path gives that leads nowhere; a present null is None."""

# What gjson says where the query is well formed and the tree does not have it.
_NOT_THERE = (
    "does not have key",
    "out of range",
    "does not match",
    "No key matching",
    "requires a mapping",
    "only for sequence",
    "unsupported object type",
    "Expected a sequence",
    "Invalid or unsupported query part",
)
_PLAIN = re.compile(r"[^.*?|#@!{}\[\]()\\\"]+(?:\.[^.*?|#@!{}\[\]()\\\"]+)*\Z")


class BadPathError(ValueError):
    """The path cannot be used; the message is for people."""


@lru_cache(maxsize=4096)
def split_path(path: str) -> tuple[str, str, tuple[str, ...] | None]:
    """Root, the rest, and the parts of the rest where it is a plain dotted path; BadPathError."""
    root, dot, rest = path.partition(".")
    if root not in ROOTS or (dot and not rest):
        raise BadPathError(f"a path begins with facts., data. or environ., not {path!r}")
    if not dot:
        return root, "", ()
    return root, rest, tuple(rest.split(".")) if _PLAIN.match(rest) else None


def find(tree: Any, rest: str, parts: tuple[str, ...] | None) -> Any:
    """What stands at the path, or ``MISSING``; BadPathError for a query that GJSON refuses."""
    if parts is None:
        return _query(tree, rest)
    for part in parts:
        if isinstance(tree, Mapping):
            if part not in tree:
                return MISSING
            tree = tree[part]
        elif isinstance(tree, list) and part.isdecimal() and int(part) < len(tree):
            tree = tree[int(part)]
        else:
            return MISSING
    return tree


def _query(tree: Any, query: str) -> Any:
    import gjson

    try:
        return gjson.get(tree, query)
    except gjson.GJSONParseError as error:
        reason = str(error).splitlines()[0]
        if any(words in reason for words in _NOT_THERE):
            return MISSING
        raise BadPathError(f"{query!r} is not a GJSON path: {reason}") from error
    except gjson.GJSONError:
        return MISSING
