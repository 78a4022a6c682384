"""Keys of data that look misspelled: no template reads them, and a similar key is read
(controller)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar
from inventory.yaml_document import Sequence as SequenceNode
from orchestrator.language.builtin_names import VARIABLES
from orchestrator.planning.site.manifests import RunManifest, RunSources
from orchestrator.planning.site.unknown_data import ReadingText, reading_texts
from remote_runtime.errors import Problem
from remote_runtime.text.suggestions import nearest

MISSPELLED = "data.key"
"""The kind of these warnings."""
_ELEMENT = "[]"
_DIGITS = "0123456789"
_WORD = re.compile(r"\w+")
_CODE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\[\[.*?\]\]", re.DOTALL)
_CHAIN = re.compile(
    r"(?:'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`)"
    r"|\b(?P<root>[A-Za-z_]\w*)"
    r"(?P<members>(?:\??\.[A-Za-z_]\w*|\[\s*(?:'[^'\n]*'|\"[^\"\n]*\"|\w+)\s*\])*)"
)
"""Matches a literal string, which reads nothing, or a name with its members."""
_MEMBER = re.compile(r"\.([A-Za-z_]\w*)|'([^'\n]*)'|\"([^\"\n]*)\"|\[\s*(\w+)")
_LOOKUP = re.compile(r"\blookup\(\s*['\"]data(?![\w-])\.?([\w.-]*)")
_OTHERS = frozenset((*VARIABLES, "facts", "environ", "loop")) - {"Data"}
"""Names whose members are not data."""
_METHODS = frozenset((*dir(dict), *dir(str), *dir(list)))

Path = tuple[str, ...]
"""The keys above a map, with _ELEMENT for a list's entry and for an entry with a free name."""


class _Key(NamedTuple):
    """One key with the path of the map that has it, and the map."""

    path: Path
    text: str
    key: Scalar
    map: Mapping


class _Reads:
    """The data that the code of templates and expressions reads."""

    def __init__(self, texts: Iterable[ReadingText]) -> None:
        self.members: dict[Path, set[str]] = {}
        self.loose: set[str] = set()
        self.whole: set[Path] = set()
        for text in texts:
            for piece in [text.text] if text.is_code else _CODE.findall(text.text):
                self._add(piece)

    def known(self, path: Path, there: Collection[str]) -> set[str]:
        """The names that code reads from a map with the keys ``there``; none if they are arbitrary.

        If code reads none of its keys, a name that code reads may be the misspelled one.
        """
        if path in self.whole and _ELEMENT not in path:
            return set()
        keys = set(there)
        members = self.members.get(path, set())
        return (members if members & keys else set()) | (self.loose & keys)

    def _add(self, code: str) -> None:
        for match in _LOOKUP.finditer(code):
            self._add_chain(match[1].split("."))
        for chain in _CHAIN.finditer(code):
            members = chain["members"] or ""
            names = [m[1] or m[2] or m[3] or "" for m in _MEMBER.finditer(members)]
            if chain["root"] == "Data" or (chain["root"] == "data" and names):
                self._add_chain(names)
            elif chain["root"] not in (None, *_OTHERS):
                self.loose.update(name for name in names if name not in _METHODS)

    def _add_chain(self, names: Sequence[str]) -> None:
        """Add ``Data.a.b``; "" represents a computed index."""
        path: Path = ()
        for name in names:
            if name in _METHODS:
                break
            if name:
                self.members.setdefault(path, set()).add(name)
                path = (*path, name)
            else:
                self.whole.add(path)
                path = (*path, _ELEMENT)
        self.whole.add(path)


def misspelled_keys(run: RunSources) -> list[Problem]:
    """A warning for each key of data, overrides, data files and applies that looks misspelled.

    No template names such a key, and its name is similar to one that a template reads of the same
    map. The keys of a map that a template reads as a whole are arbitrary. Only data files that a
    manifest of the run may use are checked.
    """
    data, files = run.data, run.files
    maps = [one for source in data for one in source.maps()]
    maps += [file.node for file in files.all() if any(s.may_name(file.name, files) for s in data)]
    maps += [node for part in run.parts for node in _passed(part)]
    texts = list(reading_texts(run))
    words = {word for one in texts for word in _WORD.findall(one.text)}
    reads = _Reads(texts)
    keys = [key for one in maps for key in _keys(one, (), reads.whole)]
    counts: dict[Path, Counter[str]] = {}
    for one in keys:
        counts.setdefault(one.path, Counter())[one.text] += 1
    names = {path: reads.known(path, counter) for path, counter in counts.items()}
    warnings = []
    for one in keys:
        if words.issuperset(_WORD.findall(one.text)):
            continue
        counter = counts[one.path]
        count = counter[one.text]
        likely = nearest(one.text, [n for n in names[one.path] if n not in one.map.entries])
        differs = likely.rstrip(_DIGITS) != one.text.rstrip(_DIGITS)
        if likely and differs and (count == 1 or count < counter[likely]):
            message = f"no template reads the key {one.text!r} by name"
            message += ", and no other data has it" if count == 1 else ""
            warnings.append(
                Problem(message, one.key.position, f"did you mean {likely}?", MISSPELLED)
            )
    return warnings


def _passed(part: RunManifest) -> Iterator[Mapping]:
    """The unrendered data that the applies of a manifest pass to children."""
    for declared in part.site.resources:
        if declared.type.applies and "data" in declared.nodes:
            node = declared.nodes["data"][1]
            if isinstance(node, Mapping):
                yield node


def _keys(node: Node, path: Path, whole: Container[Path]) -> Iterator[_Key]:
    if isinstance(node, Mapping):
        for key, value in node.pairs():
            yield _Key(path, key.text, key, node)
            below = _ELEMENT if path in whole else key.text
            yield from _keys(value, (*path, below), whole)
    elif isinstance(node, SequenceNode):
        for value in node.nodes:
            yield from _keys(value, (*path, _ELEMENT), whole)
