"""Finds the hosts whose facts a site's templates read, from the text alone (controller)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_FACTS = re.compile(r"\.facts\b|\[\s*(['\"])facts\1\s*\]|(['\"])facts\2")
_HOSTS = re.compile(
    r"\bHosts\b(?:\.(?P<name>[A-Za-z_]\w*)|\[\s*(?P<sign>['\"])(?P<text>[^'\"]+)(?P=sign)\s*\])?"
)
_GROUPS = re.compile(
    r"\bGroups\b(?:\.(?P<name>[A-Za-z_]\w*)|\[\s*(?P<sign>['\"])(?P<text>[^'\"]+)(?P=sign)\s*\])?"
)
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
