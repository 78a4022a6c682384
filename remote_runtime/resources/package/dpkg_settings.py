"""dpkg's own settings on a host, as they will be when apt runs it (target; in previews only)."""

import os
import re
from typing import TYPE_CHECKING, AbstractSet, List, NamedTuple, Optional, Pattern, Sequence, Set

from remote_runtime.errors import ResourceError
from remote_runtime.resources.package import path_patterns

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

FILE = "/etc/dpkg/dpkg.cfg"
PARTS = "/etc/dpkg/dpkg.cfg.d"
_OF_HOME = ".dpkg.cfg"
REFUSED = "package.dpkg"
_MOST = 1 << 20  # bytes of one file
_PART = re.compile(r"[A-Za-z0-9_-]+\Z")
_NAME = re.compile(r"[A-Za-z0-9-]*")
_BLANKS = " \t\n\v\f\r"
_INCLUDE, _EXCLUDE = "path-include", "path-exclude"
_FORCE = {"force": True, "no-force": False, "refuse": False}
_CONFFILES = ("confnew", "confold", "confdef", "confmiss", "confask")
_FORCED = (*_CONFFILES, "overwrite", "overwrite-diverted")


class Filter(NamedTuple):
    """A pattern of paths that come or do not. ``folder`` is what it has before its first wildcard:
    folders that begin so come although another pattern leaves them out.
    """

    pattern: "Pattern[bytes]"
    include: bool
    folder: bytes


class Settings(NamedTuple):
    """The ``filters`` in their order, of which the last that fits counts, and what is ``forced``
    of all that has a say in what a package leaves on a host.
    """

    filters: Sequence[Filter]
    forced: AbstractSet[str]


class _Reader(object):
    def __init__(self) -> None:
        self.filters: List[Filter] = []
        self.forced: Set[str] = set()

    def line(self, line: str, where: str) -> None:
        """One line of a file."""
        line = line.rstrip(_BLANKS)
        if not line or line.startswith("#"):
            return
        found = _NAME.match(line)
        name = found.group() if found else ""
        value = _value(line[len(name) :])
        if not name:
            raise _refused("%s: unknown option ''" % where)
        if value is None and len(line) > len(name):
            raise _refused("%s: unbalanced quotes in '%s'" % (where, name))
        if name in (_INCLUDE, _EXCLUDE, *_FORCE):
            if value is None:
                raise _refused("%s: '%s' needs a value" % (where, name))
            self._set(name, value)
            return
        for option in _FORCE:
            if name.startswith(option + "-"):
                if value is not None:
                    raise _refused("%s: unknown option '%s'" % (where, name))
                self._set(option, name[len(option) + 1 :])

    def words(self, words: Sequence[str]) -> None:
        """The words of a command line."""
        waiting = list(reversed(words))
        while waiting:
            word = waiting.pop()
            name, equals, value = word[2:].partition("=")
            if not word.startswith("--"):
                continue
            if word[2:] in (_INCLUDE, _EXCLUDE, *_FORCE):
                self._set(word[2:], waiting.pop() if waiting else "")
            elif equals and name in (_INCLUDE, _EXCLUDE):
                self._set(name, value)
            for option in _FORCE:
                if word.startswith("--%s-" % option):
                    self._set(option, word[len(option) + 3 :])

    def _set(self, name: str, value: str) -> None:
        if name in _FORCE:
            for thing in value.split(","):
                things = _FORCED if thing == "all" else (thing,)
                (self.forced.update if _FORCE[name] else self.forced.difference_update)(things)
            return
        pattern = os.fsencode(value)
        wild = re.search(b"[%s]" % re.escape(path_patterns.SPECIAL), pattern)
        folder = pattern[: wild.start()] if wild else pattern
        self.filters.append(
            Filter(path_patterns.compiled(pattern), name == _INCLUDE, folder.rstrip(b"/"))
        )


def _value(rest: str) -> Optional[str]:
    """The value that stands behind an option's name; None for none, and for half a quotation."""
    if not rest:
        return None
    value = rest[1:]
    value = (value[1:] if value.startswith("=") else value).lstrip(_BLANKS)
    if value[:1] not in ("'", '"') or not value:
        return value
    return value[1:-1] if value[-1] == value[0] else None


def _refused(message: str) -> ResourceError:
    return ResourceError(
        "dpkg would refuse to run: " + message,
        kind=REFUSED,
        hint="mend that file on the host, in an earlier file resource for example",
    )


def read(files: "Files", home: str, options: Sequence[str]) -> Settings:
    """Read the host's files, with ``options`` behind them, which apt gives dpkg.

    ``ResourceError`` where dpkg would not start, ``Unknowable`` where it cannot be told.
    """
    reader = _Reader()
    for path in _paths(files, home):
        text = files.read(path, _MOST, follow=True).decode("utf-8", "surrogateescape")
        for number, line in enumerate(text.split("\n"), 1):
            reader.line(line, "%s:%d" % (path, number))
    reader.words(options)
    return Settings(reader.filters, frozenset(reader.forced))


def _paths(files: "Files", home: str) -> List[str]:
    """The files that dpkg reads, in its order."""
    names = files.entries(PARTS) if files.is_directory(PARTS) else []
    found = [os.path.join(PARTS, name) for name in sorted(names) if _PART.match(name)]
    found += [FILE, os.path.join(home, _OF_HOME)]
    there = [path for path in found if files.exists(path)]
    for path in there:
        if files.is_directory(path):
            raise _refused("%s is a directory" % path)
    return there


_OPTION = re.compile(
    r"^(?P<own>Binary::apt-get::)?DPkg::Options::\S* \"(?P<value>.*)\";$",
    re.MULTILINE | re.IGNORECASE,
)


def of_apt(dump: str) -> List[str]:
    """The options that apt-get gives dpkg, as ``apt-config dump`` prints its settings."""
    found = [fits.groupdict() for fits in _OPTION.finditer(dump)]
    return [one["value"] for own in (False, True) for one in found if bool(one["own"]) is own]
