"""Finds the hosts whose facts a site's templates read, based only on the text (controller)."""

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
    """Return the hosts whose facts the sources may read, in the order of ``hosts`` (all hosts).

    A literal host name selects that host. A computed one selects the hosts of literal groups, or
    all hosts without such groups. The result may contain too many hosts, which only costs time.
    """
    candidates = [text for text in texts if "Hosts" in text or "facts" in text or "Groups" in text]
    reading = [text for text in candidates if _FACTS.search(text)]
    if not reading:
        return []
    if all("Hosts" in text for text in reading):
        candidates = reading  # otherwise a macro received hosts from another source
    named, computed = _literal_names(_HOSTS, candidates)
    if computed:
        group_names, computed_groups = _literal_names(_GROUPS, candidates)
        if computed_groups or not group_names:
            return list(hosts)
        named |= {name for group in group_names for name in groups.get(group, ())}
    return [name for name in hosts if name in named]


def _literal_names(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[set[str], bool]:
    """The literal names, and whether there are others."""
    names = [match["name"] or match["text"] for text in texts for match in pattern.finditer(text)]
    named = {name for name in names if name and name not in _OF_MAPS}
    return named, len([name for name in names if name in named]) < len(names)
