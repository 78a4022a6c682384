"""``lookup()`` paths: GJSON, with a fast path for simple dotted ones (controller)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from orchestrator.language.ansible_names import hint_for_lookup
from remote_runtime.text.suggestions import nearest

ROOTS = ("facts", "data", "environ")
MISSING = object()
"""The value of a path that does not exist; an existing null is None."""

# Errors of gjson for a well-formed query whose value is missing.
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
_PLAIN = r"[^.*?|#@!{}\[\]()\\\"]+(?:\.[^.*?|#@!{}\[\]()\\\"]+)*\Z"


class BadPathError(ValueError):
    """The path cannot be used; the message is for the user."""


class PathText(NamedTuple):
    """The origin of a string in an expression: a literal ``text``, ``either`` of some nodes, or
    ``joined`` nodes; none of them if it is known only at evaluation.

    A ``text`` that is not ``literal`` is the start of the string.
    """

    text: str = ""
    literal: bool = False
    either: Sequence[Any] = ()
    joined: Sequence[Any] = ()


def check_path_text(node: Any, path_text: Callable[[Any], PathText]) -> None:
    """Check the literal start of the path of a node.

    Its first part must be literal, because otherwise a host's facts could choose the source.
    BadPathError.
    """
    for text, whole in _beginnings([node], path_text):
        root, dot, _ = text.partition(".")
        if not whole and not dot:
            raise BadPathError(
                "the path up to its first dot must be literal text, such as 'data.' ~ Facts.role; "
                "otherwise a host could choose what is read"
            )
        split_path(text if whole else f"{root}.x")


def _beginnings(
    nodes: Sequence[Any], path_text: Callable[[Any], PathText]
) -> Iterator[tuple[str, bool]]:
    """The possible starts of the joined nodes, and whether they are complete."""
    if not nodes:
        yield "", True
        return
    first = path_text(nodes[0])
    for choice in first.either:
        yield from _beginnings([choice, *nodes[1:]], path_text)
    if first.joined:
        yield from _beginnings([*first.joined, *nodes[1:]], path_text)
    elif first.literal and "." in first.text and nodes[1:]:
        yield first.text, False
    elif first.literal:
        for rest, whole in _beginnings(nodes[1:], path_text):
            yield first.text + rest, whole
    elif not first.either:
        yield first.text, False


@lru_cache(maxsize=4096)
def split_path(path: str) -> tuple[str, str, tuple[str, ...] | None]:
    """The root, the rest, and the parts of the rest if it is a simple dotted path; BadPathError."""
    root, dot, rest = path.partition(".")
    if root not in ROOTS or (dot and not rest):
        message = f"a path starts with facts., data. or environ., not {path!r}"
        asks = root.lower() == "asked" and rest
        hint = f"write Asked.{rest} instead" if asks else hint_for_lookup(path)
        raise BadPathError(f"{message}: {hint}" if hint else message)
    if not dot:
        return root, "", ()
    return root, rest, tuple(rest.split(".")) if re.match(_PLAIN, rest) else None


def find(tree: Any, rest: str, parts: tuple[str, ...] | None) -> Any:
    """The value at the path, or ``MISSING``; BadPathError for a query that GJSON refuses."""
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


def suggestion(tree: Any, parts: tuple[str, ...] | None) -> str:
    """The suggestion for a path that does not exist, "" if none is similar."""
    for at, part in enumerate(parts or ()):
        if not isinstance(tree, Mapping):
            return ""
        if part not in tree:
            # Facts refuses to be read as a whole while some are missing; their names may be.
            names = map(str, dict.keys(tree) if isinstance(tree, dict) else tree)
            found = nearest(part, names)
            return ".".join((*(parts or ())[:at], found)) if found else ""
        tree = tree[part]
    return ""


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
