"""The links that ``update-alternatives`` creates and removes in a package script (target; in
previews only).

Debian and Red Hat keep the same record of a name: how it is chosen, its link, and its choices.
"""

import os
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence

from remote_runtime.effects import PathEffect
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.effects import Declared

if TYPE_CHECKING:
    from remote_runtime.packages.maintainer_scripts.shell import Call
    from remote_runtime.system.files import Files

_NAMES = ("update-alternatives", "alternatives")
_RECORDS = ("/var/lib/dpkg/alternatives", "/var/lib/alternatives")
_LINKS = "/etc/alternatives"
_BESIDE = [*_RECORDS, "/var/log/alternatives.log"]
_LIMIT = 1 << 16  # bytes of a record
# Which words are paths: of the option, the link, the name, the path, the priority.
_INSTALL = [False, True, False, True, False]
_REMOVE = [False, False, True]


class _Record(NamedTuple):
    """The links of a name, that of each slave included, and the paths to choose from."""

    links: Sequence[str]
    choices: Sequence[str]


def declared(files: "Files", call: "Call") -> Optional[Declared]:
    """Return the effects of a call of ``update-alternatives``; None for another call."""
    if call.name not in _NAMES:
        return None
    words = [word for word in call.words[1:] if word not in ("--quiet", "--verbose")]
    if any(UNKNOWN in word or not _is_plain(word) for word in words):
        return Declared([], [*_BESIDE, _LINKS, *(w for w in words if w.startswith("/"))])
    are_paths = [word.startswith("/") for word in words]
    if words[:1] == ["--install"] and are_paths == _INSTALL:
        return _installed(files, *words[1:4])
    if words[:1] == ["--remove"] and are_paths == _REMOVE:
        return _removed(files, words[1], words[2])
    names = words[1:2] if words and words[0].startswith("--") else []
    if "--install" in words:
        names = words[words.index("--install") + 2 :][:1]
    links = [word for word in words if word.startswith("/")]
    for name in set(names).difference(links):
        record = _record(files, name)
        links += record.links if record is not None else []
    return Declared([], [*_BESIDE, _LINKS, *links])


def _is_plain(word: str) -> bool:
    """Return whether a word may be an option, a name or a normalized path, which is all that the
    tool takes.
    """
    if word.startswith("/"):
        return os.path.normpath(word) == word and not word.startswith("//")
    return word not in ("", ".", "..") and not any(char == "/" or char.isspace() for char in word)


def _installed(files: "Files", link: str, name: str, path: str) -> Declared:
    """Return the links of a new name. Whether those of a known one change depends on priorities."""
    there = files.look(link)
    if _record(files, name) is not None or there is not None or files.look(path) is None:
        return Declared([], [*_BESIDE, _own(name), link])
    links = [(_own(name), path), (link, _own(name))]
    return Declared([PathEffect(at, "symlink", target=to) for at, to in links], _BESIDE)


def _removed(files: "Files", name: str, path: str) -> Declared:
    """Return the removed links if the path was the only choice."""
    record = _record(files, name)
    if record is None or path not in record.choices:
        return Declared([], [])
    links = [_own(name), *record.links]
    if len(record.choices) > 1 or len(record.links) > 1:
        return Declared([], [*_BESIDE, _LINKS, *links])
    there = [link for link in links if files.look(link) is not None]
    return Declared([PathEffect(link, "absent") for link in there], _BESIDE)


def _own(name: str) -> str:
    return "%s/%s" % (_LINKS, name)


def _record(files: "Files", name: str) -> Optional[_Record]:
    """Return the record of a name, None if nothing has registered it."""
    for directory in _RECORDS:
        path = "%s/%s" % (directory, name)
        if files.look(path) is None:
            continue
        head, _, rest = files.read(path, _LIMIT).decode("utf-8", "replace").partition("\n\n")
        lines = head.split("\n")
        choices = [line for line in rest.split("\n") if line.startswith("/")]
        return _Record(_links(lines[1:]), choices)
    return None


def _links(lines: Sequence[str]) -> List[str]:
    """Return the links in the first part of a record: one, and one after each slave's name."""
    return [line for line in lines if line.startswith("/")]
