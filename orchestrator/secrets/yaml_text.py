"""Changes single values in the text of a YAML file, and nothing else (controller)."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import yaml

from orchestrator.secrets.errors import SecretError

Path = tuple[str, ...]
_TAGS = ("!vault", "!age")
_ANCHOR = re.compile(r"(?:!\S*\s+)?(&[^\s,\[\]{}]+)\s")
_PLAIN_LINE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]*")


class Span(NamedTuple):
    """A scalar in a document: its start and end, its tag, its value, and its depth.

    ``flow``: it is inside brackets or braces. ``anchor`` is its ``&NAME`` and a space, or "".
    """

    start: int
    end: int
    tag: str
    value: str
    indent: int
    flow: bool
    anchor: str = ""


class Spans(NamedTuple):
    """The scalars of a document by path. ``maps`` has, for each block map, the position where a key
    can be added and its indentation; ``closed`` has the paths of the lists and of the maps in
    braces. An aliased value is listed at its anchor; ``aliases`` has the paths of the aliases,
    ``nodes`` the identity of each node.
    """

    scalars: dict[Path, Span]
    maps: dict[Path, tuple[int, int]]
    closed: set[Path]
    aliases: set[Path]
    nodes: set[int]


def spans_of(text: str, name: str) -> Spans:
    """The scalars of a YAML text; SecretError."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f"line {mark.line + 1} of " if mark else ""
        raise SecretError(f"{at}{name} is not valid YAML", hint="fix or restore it") from error
    collection = Spans(scalars={}, maps={}, closed=set(), aliases=set(), nodes=set())
    if root is None:
        collection.maps[()] = (len(text), 0)
    else:
        _walk(text, root, path=(), collection=collection, flow=False)
    return collection


def _walk(text: str, node: Any, *, path: Path, collection: Spans, flow: bool) -> None:
    if id(node) in collection.nodes:
        collection.aliases.add(path)
        return
    collection.nodes.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        start, end = node.start_mark.index, node.end_mark.index
        if node.style in ("|", ">"):  # its end is where the next token begins
            end = start + len(text[start:end].rstrip())
        line = text.rfind("\n", 0, start) + 1
        indent = len(text[line:start]) - len(text[line:start].lstrip(" -"))
        tag = node.tag if node.tag in _TAGS else ""
        match = _ANCHOR.match(text, start, end)
        anchor = f"{match[1]} " if match else ""
        collection.scalars[path] = Span(
            start=start, end=end, tag=tag, value=node.value, indent=indent, flow=flow, anchor=anchor
        )
        return
    flow = flow or bool(node.flow_style)
    if flow or not isinstance(node, yaml.MappingNode):
        collection.closed.add(path)
    if isinstance(node, yaml.MappingNode):
        if not flow:
            end = node.start_mark.index
            end += len(text[end : node.end_mark.index].rstrip())
            collection.maps[path] = (end, node.start_mark.column)
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                _walk(text, value, path=(*path, key.value), collection=collection, flow=flow)
    else:
        for number, value in enumerate(node.value):
            _walk(text, value, path=(*path, str(number)), collection=collection, flow=flow)


def replaced(text: str, changes: Mapping[Path, str], name: str) -> str:
    """The text with new scalars at these paths, each in YAML's syntax."""
    scalars = spans_of(text, name).scalars
    for path in sorted(changes, key=lambda one: scalars[one].start, reverse=True):
        span = scalars[path]
        text = text[: span.start] + span.anchor + changes[path] + text[span.end :]
    return text


def with_value(text: str, path: Path, make: Callable[[int, bool], str], name: str) -> str:
    """The text with a scalar at the path, which may be new; ``make`` writes it for a given
    indentation or for brackets. SecretError if a new value would be in a list, a map in braces, a
    scalar or an alias, or would replace a map or a list.
    """
    spans = spans_of(text, name)
    if path in spans.scalars:
        span = spans.scalars[path]
        made = make(span.indent, span.flow)
        return text[: span.start] + span.anchor + made + text[span.end :]
    depth = max((n for n in range(len(path)) if path[:n] in spans.maps), default=-1)
    above = {path[: n + 1] for n in range(len(path))}
    fixed = spans.scalars.keys() | spans.closed | spans.aliases
    if depth < 0 or path in spans.maps or above & fixed:
        message = f"{name} cannot have a value at {'.'.join(path)}"
        raise SecretError(message, hint="use ccm secrets edit")
    end, column = spans.maps[path[:depth]]
    below = path[depth:]
    lines = ""
    for number, key in enumerate(below):
        indent = column + 2 * number
        lines += "\n" * bool(lines or text[:end].strip()) + " " * indent + _key(key) + ":"
    made = make(column + 2 * (len(below) - 1), False)
    return text[:end].rstrip() + lines + " " + made + "\n" + text[end:].lstrip("\n")


def encrypted_scalar(tag: str, text: str, indent: int, flow: bool) -> str:
    """An encrypted text as a scalar with its tag."""
    if flow:
        return f"{tag} {json.dumps(text)}"
    lines = "".join(f"\n{' ' * (indent + 2)}{line}" for line in text.strip().splitlines())
    return f"{tag} |{lines}"


def plain_scalar(tag: str, text: str, indent: int, flow: bool) -> str:
    """Return a plaintext as a scalar with the tag of its encryption."""
    lines = text.split("\n")
    is_block = "\n" in text.strip("\n") and not flow and not lines[0].startswith((" ", "\t"))
    if not (is_block and all(map(_PLAIN_LINE.fullmatch, lines)) and lines[0]):
        return f"{tag} {json.dumps(text, ensure_ascii=False)}"
    mark = "|-" if lines[-1] else "|" if len(lines) > 1 and lines[-2] else "|+"
    body = lines if lines[-1] else lines[:-1]
    pad = " " * (indent + 2)
    return f"{tag} {mark}" + "".join(f"\n{pad}{line}" if line else "\n" for line in body)


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z_][\w-]*", text) else json.dumps(text)
