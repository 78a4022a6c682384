"""The text of unit files and drop-ins, read as systemd reads it (target; in previews only)."""

import os
import shlex
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

_MAX_EXPANDED = 1 << 16  # characters that specifiers come to; much more than any path has
_TRUE = ("1", "yes", "y", "true", "t", "on")
_PREFIXES = "@-:+!|"  # of a command line
_COMMANDS = (
    "ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop",
    "ExecStopPost",
)  # fmt: skip
_ROOT_DIRECTORIES = {"t": "/run", "S": "/var/lib", "C": "/var/cache", "L": "/var/log", "E": "/etc"}


class Program(NamedTuple):
    """The program of a unit's command line; ``path`` is None if only systemd can determine it.

    ``ignored``: its exit code is ignored. ``privileged``: root runs it, regardless of the user.
    """

    path: Optional[str]
    ignored: bool
    privileged: bool = False


class UnitText(object):
    """The assignments of one unit: those of its file, then those of its drop-ins.

    ``specifiers`` are those of the manager of a user; none for that of the system.
    """

    def __init__(self, name: str, specifiers: Mapping[str, str] = {}) -> None:
        self.name = name
        self._specifiers = specifiers
        self._values: Dict[Tuple[str, str], List[str]] = {}

    def add(self, text: str) -> None:
        """Read one more file; its assignments come after the existing ones."""
        section = ""
        for line in _logical_lines(text):
            if line.startswith("[") and line.endswith("]"):
                section = line[1:-1]
                continue
            key, equals, value = line.partition("=")
            if not equals:
                continue
            values = self._values.setdefault((section, key.strip()), [])
            if not value.strip():
                del values[:]
            else:
                values.append(value.strip())

    def all(self, section: str, key: str) -> List[str]:
        """Every value since the last empty assignment."""
        return list(self._values.get((section, key), ()))

    def last(self, section: str, key: str) -> str:
        """The effective value of a setting with a single value; "" if it is not set."""
        return self._values.get((section, key), [""])[-1:][0] if self._set(section, key) else ""

    def _set(self, section: str, key: str) -> bool:
        return bool(self._values.get((section, key)))

    def flag(self, section: str, key: str) -> bool:
        """A boolean, which is false if it is not set."""
        return self.last(section, key).lower() in _TRUE

    def words(self, section: str, key: str) -> List[str]:
        """Return the words of a list, with specifiers resolved; unknown ones are omitted."""
        names = section != "Service" and not key.endswith("MountsFor")
        split = _split_names if names else _split
        words = (self.expand(word) for value in self.all(section, key) for word in split(value))
        return [word for word in words if word is not None]

    def settings(self, section: str, prefix: str) -> List[Tuple[str, str]]:
        """Each (key, value) of a section whose key begins with this text, in no
        particular order.
        """
        return [
            (key, value)
            for (where, key), values in self._values.items()
            if where == section and key.startswith(prefix)
            for value in values
        ]

    def programs(self, key: str) -> List[Program]:
        """Return the program of each command line of a service."""
        return [program for program in self._programs(key) if not _is_misnamed(program)]

    @property
    def misnames(self) -> bool:
        """Whether systemd rejects the name of a program."""
        programs = (program for key in _COMMANDS for program in self._programs(key))
        return any(_is_misnamed(program) and not program.ignored for program in programs)

    def _programs(self, key: str) -> List[Program]:
        programs = []
        for value in self.all("Service", key):
            for line in _commands(value):
                bare = line[0].lstrip(_PREFIXES)
                marks = line[0][: len(line[0]) - len(bare)]
                programs.append(
                    Program(self.expand(bare), "-" in marks, bool(set(marks) & set("+!")))
                )
        return programs

    def expand(self, value: str) -> Optional[str]:
        """Resolve specifiers; None if one is unknown here, or if they result in too much text."""
        result: List[str] = []
        at, remaining_size = 0, _MAX_EXPANDED
        while True:
            sign = value.find("%", at)
            if sign < 0:
                return "".join(result) + value[at:]
            known = self._specifier(value[sign + 1 : sign + 2])
            remaining_size -= len(known or "")
            if known is None or remaining_size < 0:
                return None
            result += (value[at:sign], known)
            at = sign + 2

    def _specifier(self, letter: str) -> Optional[str]:
        whole, _, _ = self.name.rpartition(".")
        prefix, _, instance = whole.partition("@")
        final = prefix.rpartition("-")[2]
        known = {
            "%": "%",
            "n": self.name,
            "N": whole,
            "p": prefix,
            "P": unescaped(prefix),
            "i": instance,
            "I": unescaped(instance),
            "j": final,
            "J": unescaped(final),
            "f": "/" + unescaped(instance or prefix).lstrip("/"),
        }
        known.update(self._specifiers or _ROOT_DIRECTORIES)
        if letter in ("H", "l"):
            host = os.uname().nodename
            return host if letter == "H" else host.partition(".")[0]
        return known.get(letter)


def _is_misnamed(program: Program) -> bool:
    """Whether a name is neither a complete path nor a plain name."""
    path = program.path
    return path is not None and (path[-1:] in ("", "/") or ("/" in path and path[0] != "/"))


def _logical_lines(text: str) -> List[str]:
    """Lines without comments and blank lines; one that ends with a backslash continues on
    the next.
    """
    lines: List[str] = []
    begun = ""
    for raw in text.lstrip("\ufeff").splitlines():
        line = raw.strip()
        if line.startswith(("#", ";")) or (not line and not begun):
            continue
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        lines.append(begun + line)
        begun = ""
    return lines + ([begun] if begun else [])


def _split(value: str) -> List[str]:
    """The words of a value, without quotes; split only at spaces if the quotes do not match."""
    try:
        return shlex.split(value)
    except ValueError:
        return value.split()


def _split_names(value: str) -> List[str]:
    """Split a text the same way, but keep backslashes in words, as in the names of units."""
    words = shlex.shlex(value, posix=True)
    words.whitespace_split, words.commenters, words.escape = True, "", ""
    try:
        return list(words)
    except ValueError:
        return value.split()


def _commands(value: str) -> List[List[str]]:
    """The commands on a line, none if its quotes do not match; a separate semicolon divides two
    commands.
    """
    try:
        words = shlex.split(value)
    except ValueError:
        return []
    lines: List[List[str]] = [[]]
    for word in words:
        if word == ";":
            lines.append([])
        else:
            lines[-1].append(word)
    return [line for line in lines if line]


def escaped(path: str) -> str:
    r"""Return the output of systemd-escape for a path."""
    plain = "/".join(part for part in path.split("/") if part)
    out = []
    for place, byte in enumerate(plain.encode("utf-8", "surrogateescape")):
        char = chr(byte)
        kept = byte < 128 and (char.isalnum() or char in ":_" or (char == "." and place))
        out.append("-" if char == "/" else char if kept else "\\x%02x" % byte)
    return "".join(out) or "-"


def unescaped(name: str) -> str:
    r"""Undo systemd-escape: ``-`` is a slash, ``\x2d`` a byte."""
    parts = name.replace("-", "/").split("\\x")
    out = parts[0].encode("utf-8", "surrogateescape")
    for part in parts[1:]:
        try:
            out += bytes([int(part[:2], 16)]) + part[2:].encode("utf-8", "surrogateescape")
        except ValueError:
            return name
    return out.decode("utf-8", "surrogateescape")
