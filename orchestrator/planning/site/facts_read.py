"""Finds the hosts whose facts a site's templates read, from the text alone (controller)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from orchestrator.manifest.declared import Declared
from orchestrator.manifest.site import Site

_FACTS = re.compile(r"\.facts\b|\[\s*(['\"])facts\1\s*\]|(['\"])facts\2")
_HOSTS = re.compile(
    r"\bHosts\b(?:\.(?P<name>[A-Za-z_]\w*)|\[\s*(?P<sign>['\"])(?P<text>[^'\"]+)(?P=sign)\s*\])?"
)
_GROUPS = re.compile(
    r"\bGroups\b(?:\.(?P<name>[A-Za-z_]\w*)|\[\s*(?P<sign>['\"])(?P<text>[^'\"]+)(?P=sign)\s*\])?"
)
_CALL = re.compile(r"\b(?:template|jet|file|readFile)\b")
_LITERAL = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
_MOST_FILES = 1000
_LONGEST = 200
_MOST_BYTES = 1 << 20
_OF_MAPS = ("items", "keys", "values", "get")


def hosts_read(
    texts: Iterable[str], groups: Mapping[str, Sequence[str]], hosts: Iterable[str]
) -> list[str]:
    """The hosts whose facts the texts may read, in the order of ``hosts``, which are all.

    A literal host name selects that host. A computed one selects the hosts of literal groups, or
    all hosts without such groups. The result may contain too many hosts, which only costs time.
    """
    known = [text for text in texts if "Hosts" in text or "facts" in text or "Groups" in text]
    reading = [text for text in known if _FACTS.search(text)]
    if not reading:
        return []
    if all("Hosts" in text for text in reading):
        known = reading  # otherwise a macro received hosts from another text
    named, computed = _literal_names(_HOSTS, known)
    if computed:
        those, others = _literal_names(_GROUPS, known)
        if others or not those:
            return list(hosts)
        named |= {name for group in those for name in groups.get(group, ())}
    return [name for name in hosts if name in named]


def _literal_names(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[set[str], bool]:
    """The literal names, and whether there are others."""
    found = [match["name"] or match["text"] for text in texts for match in pattern.finditer(text)]
    named = {name for name in found if name and name not in _OF_MAPS}
    return named, len([name for name in found if name in named]) < len(found)


def texts_of(site: Site) -> Iterator[str]:
    """The expressions of a manifest and the templates that it may render: every local file whose
    name is quoted in such an expression or template.
    """
    sources = [expression.source for expression in site.source.expressions()]
    sources += [one.source for assertion in site.assertions for one in assertion.expressions()]
    sources += [one.source for ask in site.asks.values() for one in ask.expressions()]
    for declared in site.resources:
        sources += (expression.source for expression in declared.expressions())
    template = site.resources_template
    more = [Path(template.name)] if template is not None else []
    yield from texts_behind(sources, site.directory.path, site.resources, more)


def texts_behind(
    sources: Sequence[str],
    directory: Path,
    resources: Iterable[Declared],
    more: Iterable[Path] = (),
) -> Iterator[str]:
    """These expressions and the templates that they may render: every file of the directory whose
    name is quoted in one, with the trees of ``resources`` and ``more`` files.
    """
    left = list(more)
    for declared in resources:
        tree = declared.raw.get(declared.type.tree)
        if isinstance(tree, str):
            left += islice((directory / tree).rglob("*"), _MOST_FILES)
    yield from sources
    for source in filter(_CALL.search, sources):
        left += _named(source, directory)
    seen: set[Path] = set()
    while left and len(seen) < _MOST_FILES:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            text = _text(path)
            yield text
            left += [*_named(text, directory), *_named(text, path.parent)]


def _named(text: str, directory: Path) -> Iterator[Path]:
    """The files of a directory whose names are quoted in a text."""
    for match in _LITERAL.finditer(text):
        name = match[1] or match[2]
        if len(name) < _LONGEST and not name.startswith("/") and "\0" not in name:
            path = directory / name
            if path.is_file():
                yield path


def _text(path: Path) -> str:
    """The text of a template; users of the file report an unreadable one."""
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace") if path.is_file() else ""
    except OSError:
        return ""
