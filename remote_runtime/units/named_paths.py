"""The paths to which the programs of a unit may write, derived from the paths in its files (target;
previews only).

These are the words in its Exec lines, and in scripts that these start if they can be read.
"""

import os
import re
from typing import TYPE_CHECKING, Iterator, List, NamedTuple, Sequence, Set, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import is_within
from remote_runtime.units.unit_files import Definition

if TYPE_CHECKING:
    from remote_runtime.context import Context

STARTING = ("ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost")
STOPPING = ("ExecStop", "ExecStopPost")
RELOADING = ("ExecReload",)
_LISTENED = ("ListenStream", "ListenDatagram", "ListenSequentialPacket", "ListenFIFO", "Symlinks")
_STREAMS = ("StandardOutput", "StandardError")
_HARMLESS = ("sleep", "true", "false", "test", "[", "cat", "echo")
_JOINING = set(";|&<>`")  # characters with which a command may do more than its program
_SHELL = re.compile(r"#!\s*/\S*/(?:sh|bash|dash)(?:\s+-\w+)?\s*\Z")
_READERS_OF_SCRIPTS = re.compile(
    r"^(?:sh|bash|dash|ash|ksh|zsh|python[\d.]*|perl|ruby|env|exec|nice|setpriv|su|sudo|timeout)$"
)
_PATHS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_ABSOLUTE = re.compile(r"(?<![\w./}~-])/[^\s'\"`;|&()<>:=,!\\]+")
_WORD = re.compile(r"[^\s'\"`;|&()<>=,!\\]+")
_OPEN_END = re.compile(r"[$*?\[{%]")
_KERNEL = ("/dev", "/proc", "/sys")
_LIMIT = 64 << 10  # bytes of a script
_DEPTH = 3  # scripts that start scripts
_MAX_SCRIPTS = 200  # of a unit
_MAX_PATHS = 400


class NamedPaths(NamedTuple):
    """``whole`` has paths that are meant with all of their contents, ``begun`` the beginnings of
    paths whose rest is known only when the program runs. ``harmless``: only known programs that
    write nothing are run.
    """

    whole: Tuple[str, ...]
    begun: Tuple[str, ...]
    harmless: bool

    def named_in(self, text: str) -> bool:
        """Return whether a command mentions one of them."""
        return any(named in text for named in self.whole + self.begun)

    def covers(self, path: str, present: bool) -> bool:
        """Return whether a program may write or remove a path; it may create parents of a named
        path."""
        if any(path.startswith(start) for start in self.begun):
            return True
        if any(is_within(path, named) for named in self.whole):
            return True
        return not present and any(is_within(named, path) for named in self.whole + self.begun)


def of_unit(unit: Definition, context: "Context", keys: Sequence[str]) -> NamedPaths:
    """Return the paths in the command lines of a unit under these settings."""
    return _Reader(unit, context).read(keys)


def sockets(unit: Definition) -> List[str]:
    """The paths at which a socket unit listens, and the links to them."""
    if not unit.name.endswith(".socket"):
        return []
    words = [word for key in _LISTENED for word in unit.text.words("Socket", key)]
    return [word for word in words if word.startswith("/")]


def streams(unit: Definition) -> List[str]:
    """The files that systemd itself creates for the output of a service."""
    result = []
    for key in _STREAMS:
        kind, _, path = (unit.text.expand(unit.text.last("Service", key)) or "").partition(":")
        if kind in ("file", "append", "truncate") and path.startswith("/"):
            result.append(path)
    return result


class _Reader(object):
    def __init__(self, unit: Definition, context: "Context") -> None:
        self._unit, self._files = unit, context.files
        self._programs = context.user_commands
        directory = (
            unit.text.expand(unit.text.last("Service", "WorkingDirectory").lstrip("-")) or ""
        )
        self._directory = directory if directory.startswith("/") and directory != "/" else ""
        self._whole: Set[str] = set()
        self._begun: Set[str] = set()
        self._left = _MAX_SCRIPTS  # a user may have written them, and many more
        self._scripts: Set[str] = set()  # scripts by path, and by name those already looked up

    def read(self, keys: Sequence[str]) -> NamedPaths:
        """Return the paths in the command lines of a unit under these keys."""
        harmless = True
        for key in keys:
            for line in self._unit.text.all("Service", key):
                expanded = self._unit.text.expand(line)
                text = line if expanded is None else expanded
                if "$" in text:
                    text += " " + " ".join(self._unit.text.all("Service", "Environment"))
                program = text.lstrip("@-:+!| ").partition(" ")[0]
                plain = not set(text) & _JOINING
                harmless = harmless and plain and self._writes_nothing(program)
                self._take(text.lstrip("@-:+!| "), _DEPTH)
        whole = tuple(sorted(self._whole))[:_MAX_PATHS]
        return NamedPaths(whole, tuple(sorted(self._begun))[:_MAX_PATHS], harmless)

    def _writes_nothing(self, program: str) -> bool:
        """Return whether a program is known to write nothing, or a script that only starts such
        programs.
        """
        if os.path.basename(program) in _HARMLESS:
            return True
        first, *lines = self._text(program).split("\n")
        commands = [line.split() for line in lines if line.strip() and line.strip()[0] != "#"]
        named = [words[1] if words[0] == "exec" and words[1:] else words[0] for words in commands]
        return (
            _SHELL.match(first) is not None
            and not any(set(line) & {*_JOINING, *"$("} for line in lines)
            and all(os.path.basename(name) in _HARMLESS for name in named)
        )

    def _take(self, text: str, depth: int) -> None:
        """Record the paths in a command line or a script, and continue with the scripts that it
        starts.
        """
        for path in _ABSOLUTE.findall(text):
            self._note(path)
        if self._directory:
            for word in _WORD.findall(text):
                if word[0] not in "/-$" and not _OPEN_END.search(word):
                    self._note(os.path.join(self._directory, word))
        if depth:
            for script in self._started(text):
                if script not in self._scripts and self._left:
                    self._left -= 1
                    self._scripts.add(script)
                    self._take(self._text(script), depth - 1)

    def _note(self, path: str) -> None:
        rest = _OPEN_END.search(path)
        start = path[: rest.start()] if rest else path
        plain = os.path.normpath(start) if not rest else start
        if any(is_within(plain, directory) for directory in _KERNEL) or plain in ("/", "//"):
            return
        if rest:
            self._begun.add(plain)
        elif not self._is_program(plain) and not (_is_searched(plain)):
            self._whole.add(plain)

    def _is_program(self, path: str) -> bool:
        try:
            return self._programs.is_program(path)
        except ResourceError:
            return False

    def _started(self, text: str) -> Iterator[str]:
        """The files that commands in a text start: by path, by name, or through a shell."""
        for line in text.splitlines():
            words = _WORD.findall(line)
            for at, word in enumerate(words):
                if word.startswith("/"):
                    if self._is_program(word) or (at and _reads(words[at - 1])):
                        yield word
                elif at == 0 and "/" not in word and word not in self._scripts:
                    self._scripts.add(word)
                    places = ("%s/%s" % (directory, word) for directory in _PATHS)
                    yield from [place for place in places if self._is_program(place)][:1]

    def _text(self, path: str) -> str:
        """The text of a script; "" for a file that is not one or cannot be read."""
        try:
            status = self._files.status(path, follow=True)
            if status is None or status.kind != "file" or status.size > _LIMIT:
                return ""
            data = self._files.read(path, _LIMIT, follow=True)
        except ResourceError:
            return ""
        return "" if b"\0" in data else data.decode("utf-8", "replace")


def _reads(word: str) -> bool:
    return bool(_READERS_OF_SCRIPTS.match(os.path.basename(word))) or word in ("-e", "-u", ".")


def _is_searched(path: str) -> bool:
    """Return whether a directory is part of a PATH or contains very much of the system."""
    return path in (*_PATHS, "/usr", "/etc", "/var", "/lib", "/usr/lib", "/var/lib", "/run", "/tmp")
