"""Keys of data that look misspelled: no template reads them, and a similar key is read
(controller)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from inventory.document import Mapping, Node, Scalar
from inventory.document import Sequence as SequenceNode
from orchestrator.language.names import VARIABLES
from orchestrator.manifest.data import DataSource, Held
from orchestrator.manifest.data_files import DataFiles
from orchestrator.planning.site.manifests import Part
from orchestrator.planning.site.unknown_data import reading_texts
from remote_runtime.errors import Problem
from remote_runtime.text.nearest import nearest

MISSPELT = "data.key"
"""The kind of these warnings."""
_ELEMENT = "[]"
_DIGITS = "0123456789"
_FIRST = "default"
"""The data file that is for all hosts."""
_WORD = re.compile(r"\w+")
_CODE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\[\[.*?\]\]", re.DOTALL)
_CHAIN = re.compile(
    r"\b(?P<root>[A-Za-z_]\w*)"
    r"(?P<members>(?:\??\.[A-Za-z_]\w*|\[\s*(?:'[^'\n]*'|\"[^\"\n]*\"|\w+)\s*\])+)"
)
_MEMBER = re.compile(r"\.([A-Za-z_]\w*)|'([^'\n]*)'|\"([^\"\n]*)\"")
_LOOKUP = re.compile(r"\blookup\(\s*['\"]data\.([\w.-]+)")
_OTHERS = frozenset((*VARIABLES, "facts", "environ", "loop")) - {"Data"}
"""What has members that are no data."""
_METHODS = frozenset((*dir(dict), *dir(str), *dir(list)))


class _Key(NamedTuple):
    """One key with the path of the map that has it, and the map; ``is_base``: it is below
    ``data`` itself or in the default data file."""

    path: tuple[str, ...]
    text: str
    key: Scalar
    value: Node
    map: Mapping
    is_base: bool


def misspelt_keys(
    parts: Sequence[Part], sources: Iterable[DataSource], files: DataFiles
) -> list[Problem]:
    """A warning for each key of data, overrides, data files and applies that looks misspelled.

    No template names such a key, no other map at its place has it, and its name is nearly that of
    one that a template reads, or has the letters of one that stands at the same place. An entry of
    a map of maps is often a name of its own, so both must hold for it. ``sources`` are those of
    ``--hiera``. Of the ``files`` those count that a manifest of the run may use.
    """
    data = [*sources, *(part.site.source for part in parts)]
    maps = [one for source in data for one in source.maps()]
    maps += [file.node for file in files.all() if any(_may_name(s, file.name, files) for s in data)]
    maps += [node for part in parts for node in _handed(part)]
    base = [*(one.base.node for one in data), *(f.node for f in files.all() if f.name == _FIRST)]
    keys = [key for one in maps for key in _keys(one, (), any(one is top for top in base))]
    held: list[Held] = [*data, files]
    texts = list(reading_texts(parts, held))
    words = {word for text in texts for word in _WORD.findall(text)}
    if all(words.issuperset(_WORD.findall(one.text)) for one in keys):
        return []
    members = {word for text in texts for word in _members(text)}
    there: dict[tuple[str, ...], Counter[str]] = {}
    near: dict[tuple[int, tuple[str, ...]], set[str]] = {}
    for one in keys:
        there.setdefault(one.path, Counter())[one.text] += 1
        near.setdefault((len(one.path), one.path[:-1]), set()).add(one.text)
    every = {one.text for one in keys}
    found = []
    for one in keys:
        if words.issuperset(_WORD.findall(one.text)):
            continue
        around = near[len(one.path), one.path[:-1]]
        reads = members & around
        if not members.isdisjoint(around):  # its keys are names that templates know
            reads = reads | (members - every)
        likely = _meant(one, there[one.path], reads)
        count = there[one.path][one.text]
        if likely and (count == 1 or count < there[one.path][likely]):
            message = f"no template reads the key {one.text!r} by name"
            message += ", and no other data has it" if count == 1 else ""
            hint = f"did you mean {likely}?"
            found.append(Problem(message, one.key.position, hint, MISSPELT))
    return found


def _meant(one: _Key, siblings: Iterable[str], members: set[str]) -> str:
    """What the key was probably meant to be; "" where nothing is likely."""
    others = [name for name in siblings if name not in one.map.entries]
    if isinstance(one.value, Mapping):
        likely = nearest(one.text, [name for name in others if name in members])
    else:
        likely = nearest(one.text, [name for name in members if name not in one.map.entries])
        swapped = (name for name in others if sorted(name) == sorted(one.text))
        likely = likely or ("" if one.is_base else next(swapped, ""))
    return likely if likely.rstrip(_DIGITS) != one.text.rstrip(_DIGITS) else ""


def _handed(part: Part) -> Iterator[Mapping]:
    """The data that a manifest's applies hand over, as it is written."""
    for declared in part.site.resources:
        if declared.type.applies and "data" in declared.nodes:
            node = declared.nodes["data"][1]
            if isinstance(node, Mapping):
                yield node


def _keys(node: Node, path: tuple[str, ...], is_base: bool) -> Iterator[_Key]:
    if isinstance(node, Mapping):
        for key, value in node.pairs():
            yield _Key(path, key.text, key, value, map=node, is_base=is_base)
            yield from _keys(value, (*path, key.text), is_base)
    elif isinstance(node, SequenceNode):
        for value in node.nodes:
            yield from _keys(value, (*path, _ELEMENT), is_base)


def _members(text: str) -> Iterator[str]:
    """What the code of a text reads of values that may be data."""
    pieces = _CODE.findall(text) or [text]
    for piece in pieces:
        for match in _LOOKUP.finditer(piece):
            yield from match[1].split(".")
        for chain in _CHAIN.finditer(piece):
            if chain["root"] not in _OTHERS:
                found = (m[1] or m[2] or m[3] for m in _MEMBER.finditer(chain["members"]))
                yield from (name for name in found if name and name not in _METHODS)


def _may_name(source: DataSource, name: str, files: DataFiles) -> bool:
    return any(name in source.possible(entry, files) for entry in source.order)
