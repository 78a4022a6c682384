"""dpkg's own settings on a host when apt runs it (target; in previews only)."""

import os
import re
from typing import (
    TYPE_CHECKING,
    AbstractSet,
    Callable,
    Dict,
    List,
    NamedTuple,
    Optional,
    Pattern,
    Sequence,
    Set,
)

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg import path_patterns

if TYPE_CHECKING:
    from remote_runtime.system.files import Files
    from remote_runtime.system.process.commands import Commands

FILE = "/etc/dpkg/dpkg.cfg"
PARTS = "/etc/dpkg/dpkg.cfg.d"
_OF_HOME = ".dpkg.cfg"
REFUSED = "package.dpkg"
_LIMIT = 1 << 20  # bytes of one file
_PART = re.compile(r"[A-Za-z0-9_-]+\Z")
_NAME = re.compile(r"[A-Za-z0-9-]*")
_BLANKS = " \t\n\v\f\r"
_INCLUDE, _EXCLUDE = "path-include", "path-exclude"
_FORCE = {"force": True, "no-force": False, "refuse": False}
_FORCING = tuple(name + "-" for name in _FORCE)
_CONFFILES = ("confnew", "confold", "confdef", "confmiss", "confask")
_FORCED = (*_CONFFILES, "overwrite", "overwrite-diverted")
_THINGS = (*_FORCED, "all", "depends", "unsafe-io")  # that every dpkg knows
_DECIDING = tuple(
    "--" + name
    for name in (
        "pre-invoke", "post-invoke", "status-logger", "status-fd", "no-act", "dry-run", "simulate",
        "root", "instdir", "admindir", "abort-after",
    )
)  # fmt: skip
_PLAIN = ("--no-debsig", "--log")


class Filter(NamedTuple):
    """A pattern of paths that are installed or excluded. ``directory`` is the part before its first
    wildcard: directories that start with it are installed even if another pattern excludes them.
    """

    pattern: "Pattern[bytes]"
    include: bool
    directory: bytes


class Settings(NamedTuple):
    """The ``filters`` in order, where the last match counts, and the ``forced`` options that affect
    a package's result on a host. ``unclear`` is the reason why it is unknown whether dpkg changes
    anything, "" if it is known.
    """

    filters: Sequence[Filter]
    forced: AbstractSet[str]
    unclear: str = ""


class _Reader(object):
    """Reads the settings. ``others`` are the options that only dpkg knows, each with
    its location.
    """

    def __init__(self) -> None:
        self.filters: List[Filter] = []
        self.forced: Set[str] = set()
        self.others: Dict[str, str] = {}
        self._where = "DPkg::Options"

    def line(self, line: str, where: str) -> None:
        """Read one line of a file."""
        self._where = where
        line = line.rstrip(_BLANKS)
        if not line or line.startswith("#"):
            return
        match = _NAME.match(line)
        name = match.group() if match else ""
        value = _value(line[len(name) :])
        if not name or name.startswith("-"):
            raise _refused("%s: unknown option '%s'" % (where, name))
        if value is None and len(line) > len(name):
            raise _refused("%s: unbalanced quotes in '%s'" % (where, name))
        if name in (_INCLUDE, _EXCLUDE, *_FORCE):
            if value is None:
                raise _refused("%s: '%s' requires a value" % (where, name))
            self._set(name, value)
            return
        for option in _FORCE:
            if name.startswith(option + "-"):
                if value is not None:
                    raise _refused("%s: unknown option '%s'" % (where, name))
                self._set(option, name[len(option) + 1 :])
                return
        self._other("--" + name if value is None else "--%s=%s" % (name, value))

    def words(self, words: Sequence[str]) -> None:
        """Read the words of a command line."""
        self._where = "DPkg::Options"
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
            elif name.startswith(_FORCING):
                for option in _FORCE:
                    if word.startswith("--%s-" % option):
                        self._set(option, word[len(option) + 3 :])
            else:
                self._other(word)

    def _other(self, option: str) -> None:
        name, equals, _ = option.partition("=")
        if name not in _PLAIN or bool(equals) is not (name == "--log"):
            self.others.setdefault(option, self._where)

    def _set(self, name: str, value: str) -> None:
        if name in _FORCE:
            for thing in value.split(","):
                if thing not in _THINGS:
                    self._other("--%s-%s" % (name, thing))
                things = _FORCED if thing == "all" else (thing,)
                (self.forced.update if _FORCE[name] else self.forced.difference_update)(things)
            return
        pattern = os.fsencode(value)
        wild = re.search(b"[%s]" % re.escape(path_patterns.SPECIAL), pattern)
        directory = pattern[: wild.start()] if wild else pattern
        self.filters.append(
            Filter(path_patterns.compiled(pattern), name == _INCLUDE, directory.rstrip(b"/"))
        )


def _value(rest: str) -> Optional[str]:
    """Return the value after an option's name; None for no value and for an unclosed quotation."""
    if not rest:
        return None
    value = rest[1:]
    value = (value[1:] if value.startswith("=") else value).lstrip(_BLANKS)
    if value[:1] not in ("'", '"') or not value:
        return value
    return value[1:-1] if value[-1] == value[0] else None


def _refused(message: str) -> ResourceError:
    return ResourceError(
        "dpkg would fail: " + message,
        kind=REFUSED,
        hint="fix that file on the host, for example in an earlier file resource",
    )


def _all_known(option: str) -> str:
    return ""


def read(
    files: "Files",
    home: str,
    options: Sequence[str],
    trouble: Callable[[str], str] = _all_known,
) -> Settings:
    """Read the host's files, followed by the ``options`` that apt passes to dpkg.

    ``trouble`` returns dpkg's problem with a command-line option, "" for none. ``ResourceError`` if
    dpkg would not start, ``Unknowable`` if this is unknown.
    """
    reader = _Reader()
    for path in _paths(files, home):
        text = files.read(path, _LIMIT, follow=True).decode("utf-8", "surrogateescape")
        for number, line in enumerate(text.split("\n"), 1):
            reader.line(line, "%s:%d" % (path, number))
    reader.words(options)
    unclear = ""
    for option, where in reader.others.items():
        try:
            reason = trouble(option)
        except Unknowable as error:
            reason, unclear = "", error.message
        if reason:
            raise _refused("%s: %s" % (where, reason))
        if option.partition("=")[0] in _DECIDING:
            unclear = "the effect of dpkg's option %s is not known until it runs" % option
    return Settings(reader.filters, frozenset(reader.forced), unclear)


def _paths(files: "Files", home: str) -> List[str]:
    """Return the files that dpkg reads, in its order."""
    names = files.entries(PARTS) if files.is_directory(PARTS) else []
    paths = [os.path.join(PARTS, name) for name in sorted(names) if _PART.match(name)]
    paths += [FILE, os.path.join(home, _OF_HOME)]
    existing = [path for path in paths if files.exists(path)]
    for path in existing:
        if files.is_directory(path):
            raise _refused("%s is a directory" % path)
    return existing


_OPTION = re.compile(
    r"^(?P<own>Binary::apt-get::)?DPkg::Options::\S* \"(?P<value>.*)\";$",
    re.MULTILINE | re.IGNORECASE,
)


def of_apt(dump: str) -> List[str]:
    """Return the options that apt-get passes to dpkg, from its settings in the output of
    ``apt-config dump``.
    """
    options = [fits.groupdict() for fits in _OPTION.finditer(dump)]
    return [one["value"] for own in (False, True) for one in options if bool(one["own"]) is own]


def option_problem(commands: "Commands", option: str) -> str:
    """Return the problem of the host's dpkg with an option, "" for none; ``Unknowable`` if another
    option in its files prevents the check."""
    result = commands.run(["dpkg", option, "--version"])
    if result.code == 0:
        return ""
    message = result.stderr.partition("\n")[0].partition("dpkg: error: ")[2]
    name = option[2:].partition("=")[0]
    possible_names = (option, "'%s'" % name, "'%s'" % name.partition("-")[2], "--" + name)
    ours = any(one in message for one in possible_names)
    if message.startswith(("configuration error", "unknown force")) and not ours:
        raise Unknowable("cannot query the settings of dpkg: they are invalid")
    return message.rpartition(": ")[2] or "dpkg does not accept %s" % option
