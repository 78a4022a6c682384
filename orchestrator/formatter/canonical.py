"""The canonical form of a YAML text, with properties in order (controller).

See ``docs/reference/fmt.md``.

The result is read again. It must have the meaning of the original: the same values, the same
comments, and the same comments above each key, because these comments can be checks of data.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator

from yaml.tokens import AliasToken, AnchorToken, TagToken

from inventory.gc_pause import collection_paused
from inventory.yaml_document import Mapping, Node, Scalar, Sequence, comments_before, parse_data
from orchestrator.formatter.flow_style import Rank
from orchestrator.formatter.layout import Layout
from orchestrator.formatter.yaml_scan import Scan
from orchestrator.manifest.resource_types import BUILT_IN, Types
from remote_runtime.errors import InputError, Position, Problem

FIRST = ("name", "foreach", "alias", "tags", "ensure")
LAST = (
    "provider", "require", "subscribe", "control", "health_checks", "register_when_stable",
    "sensitive", "render",
)  # fmt: skip


def rank_of(types: Types) -> Callable[[str], Rank]:
    """The rank of each property of a type: first FIRST, then the properties in the order of the
    type's page, then names that the type does not have, then LAST.
    """

    def of_type(name: str) -> Rank:
        type_ = types.get(name)
        own = [] if type_ is None else list(type_.schema.get("properties", {}))
        order = [*FIRST, *(key for key in own if key not in FIRST and key not in LAST)]
        places = {key: at for at, key in enumerate(order)}
        places.update({key: len(order) + 1 + at for at, key in enumerate(LAST)})
        return lambda key: places.get(key, len(order))

    return of_type


def property_maps(root: Node) -> Iterator[tuple[str, Mapping]]:
    """The maps of properties in a manifest, or in a list of resources, each with its type."""
    resources: Node | None = root
    if isinstance(root, Mapping):
        ccm = root.get("ccm")
        if not isinstance(ccm, Mapping):
            return
        resources = ccm.get("resources")
        yield from _maps(ccm.get("defaults"))
    for item in resources.nodes if isinstance(resources, Sequence) else ():
        for type_, value in _entries(item):
            if isinstance(value, Mapping):
                yield type_, value
            for entry in value.nodes if isinstance(value, Sequence) else ():
                yield from ((type_, properties) for _, properties in _maps(entry))


def _maps(node: Node | None) -> Iterator[tuple[str, Mapping]]:
    for name, value in _entries(node):
        if isinstance(value, Mapping):
            yield name, value


def _entries(node: Node | None) -> Iterator[tuple[str, Node]]:
    for key, value in node.pairs() if isinstance(node, Mapping) else ():
        yield key.text, value


_OTHER_BREAKS = re.compile("[\x85\u2028\u2029]")
_TAG = "the tag "
_KEEP = re.compile(r"[|>]\d*\+")
_REFERS = (AliasToken, AnchorToken)


def canonical(text: str, name: str, types: Types = BUILT_IN) -> str:
    """The canonical form of a manifest, an inventory or a data file.

    ``name`` is the file for messages, ``types`` has the order of properties. InputError for a
    text that is not YAML, or whose meaning would change.
    """
    with collection_paused():
        return _canonical(text.removeprefix("\ufeff"), name, rank_of(types))


def _canonical(text: str, name: str, rank: Callable[[str], Rank]) -> str:
    root = _parse(text, name)
    odd = _OTHER_BREAKS.search(text)
    if odd is not None:
        raise _refusal(name, 1 + text.count("\n", 0, odd.start()), "it has an unusual line break")
    ranks = {(m.line - 1, m.column - 1): rank(type_) for type_, m in property_maps(root)}
    before = Layout(text, ranks)
    result = before.result()
    if any(property_maps(root)):
        result = _ordered(result, _parse(result, name), rank)
    if result == text:
        return result
    after = Layout(result)
    if Counter(before.comments) != Counter(after.comments):
        raise _refusal(name, 1, "a comment would change")
    if _labels(before.scan) != _labels(after.scan):
        raise _refusal(name, 1, "a tag or an anchor would change")
    changed = _difference(root, _parse(result, name), _unordered(root))
    if changed is not None:
        raise _refusal(name, changed.line, "a value or the comment above a key would change here")
    return result


def _parse(text: str, name: str) -> Node:
    """The document. Tags are not interpreted, because the formatter keeps them unchanged."""
    problems: list[Problem] = []
    root = parse_data(text, name, problems)
    problems = [one for one in problems if not one.message.startswith(_TAG)]
    if problems:
        raise InputError(problems)
    return root


def _refusal(name: str, line: int, reason: str) -> InputError:
    message = f"not formatted, because {reason}"
    hint = "format this part manually"
    return InputError([Problem(message, Position(name, line, 1), hint, "input.format")])


def _labels(scan: Scan) -> Counter[tuple[str, str]]:
    labels = (AliasToken, AnchorToken, TagToken)
    found = (token for token in scan.tokens if isinstance(token, labels))
    return Counter((type(token).__name__, str(token.value)) for token in found)


def _unordered(root: Node) -> set[int]:
    """Return the IDs of maps whose keys may be reordered."""
    return {id(mapping) for _, mapping in property_maps(root)}


def _difference(before: Node, after: Node, unordered: set[int]) -> Node | None:
    """The first value that differs, as a node of the first document; None if none differs."""
    if before.__class__ is not after.__class__:
        return before
    if isinstance(before, Scalar) and isinstance(after, Scalar):
        one = (before.kind, before.text, before.plain, repr(before.value))
        return None if one == (after.kind, after.text, after.plain, repr(after.value)) else before
    if isinstance(before, Sequence) and isinstance(after, Sequence):
        pairs = list(zip(before.nodes, after.nodes))
        if len(before.nodes) != len(after.nodes):
            return before
        return next(filter(None, (_difference(*pair, unordered) for pair in pairs)), None)
    assert isinstance(before, Mapping)
    assert isinstance(after, Mapping)
    names, others = list(before), list(after)
    if names != others and (id(before) not in unordered or sorted(names) != sorted(others)):
        return before
    for name in names:
        key, other = before.key(name), after.key(name)
        if _difference(key, other, unordered) or comments_before(key) != comments_before(other):
            return key
        found = _difference(before.value(name), after.value(name), unordered)
        if found is not None:
            return found
    return None


def _ordered(text: str, root: Node, rank: Callable[[str], Rank]) -> str:
    """The text with the properties of each resource in their order, within each group of lines
    without a blank line.
    """
    lines = text.splitlines(keepends=True)
    scan = Scan(text)
    referring = {token.start_mark.line for token in scan.tokens if isinstance(token, _REFERS)}
    for type_, mapping in property_maps(root):
        starts = [key.line - 1 for key, _ in mapping.pairs()]
        if len(starts) < 2 or not _on_own_lines(lines, starts, mapping):
            continue
        end = _end(lines, starts[-1], mapping.column - 1)
        if any(at in referring or _KEEP.search(lines[at]) for at in range(starts[0], end)):
            continue
        names = [key.text for key, _ in mapping.pairs()]
        _sort(lines, starts, end, list(map(rank(type_), names)))
    return "".join(lines)


def _on_own_lines(lines: list[str], starts: list[int], mapping: Mapping) -> bool:
    column = mapping.column - 1
    first = lines[starts[0]]
    return (
        starts == sorted(set(starts))
        and first[column : column + 1] != "{"
        and not any(lines[at][:column].strip() for at in starts)
    )


def _end(lines: list[str], last: int, column: int) -> int:
    """The line after the last property."""
    at = end = last + 1
    while at < len(lines):
        bare = lines[at].strip()
        indent = len(lines[at]) - len(lines[at].lstrip())
        if bare and indent <= column and not (indent == column and bare[0] in "]}"):
            break
        at += 1
        end = at if bare else end
    return end


def _sort(lines: list[str], starts: list[int], end: int, ranks: list[int]) -> None:
    """Sort the properties in place; a comment above one moves with it."""
    begins = [starts[0]]
    groups = [0]
    for before, start in itertools.pairwise(starts):
        begin = start
        while begin - 1 > before and lines[begin - 1].lstrip().startswith("#"):
            begin -= 1
        groups.append(groups[-1] + (not lines[begin - 1].strip()))
        begins.append(begin)
    chunks = [lines[a:b] for a, b in zip(begins, [*begins[1:], end])]
    order = sorted(range(len(starts)), key=lambda at: (groups[at], ranks[at]))
    if order != list(range(len(starts))):
        blank = [chunk[_bare_length(chunk) :] for chunk in chunks]
        moved = [chunks[at][: _bare_length(chunks[at])] + blank[i] for i, at in enumerate(order)]
        lines[begins[0] : end] = [line for chunk in moved for line in chunk]


def _bare_length(chunk: list[str]) -> int:
    """The lines of a chunk without the blank ones at its end."""
    length = len(chunk)
    while length and not chunk[length - 1].strip():
        length -= 1
    return length


def changes(before: str, after: str, name: str) -> Iterator[str]:
    """The lines of a unified diff."""
    import difflib

    lines = (before.splitlines(), after.splitlines())
    yield from difflib.unified_diff(*lines, name, name, lineterm="")
