"""Reads OpenSSH client configuration and answers for one host (controller).

The rules are OpenSSH's: the first value wins, identity files add up, ``Include`` keeps to the block
that it stands in. It imports no SSH library, so that ``ccm inventory`` can explain a host quickly.
"""

from __future__ import annotations

import functools
import getpass
import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestrator.transport.known_hosts import matches
from orchestrator.transport.user_command import run_shell
from remote_runtime.errors import InputError, Position, Problem

MAX_DEPTH = 16
EXEC_TIMEOUT = 30
_MANY = {"identityfile", "certificatefile", "sendenv", "setenv", "localforward", "remoteforward"}


class Directive(NamedTuple):
    """One line: the keyword in lower case, its value, and where it stands."""

    key: str
    value: str
    where: Position

    @property
    def words(self) -> list[str]:
        """The value cut at blanks; quotes keep words together."""
        return [a or b for a, b in re.findall(r'"([^"]*)"|([^\s"]+)', self.value)]


class Section(NamedTuple):
    """The lines under one ``Host`` or ``Match``; None is the beginning of a file."""

    condition: Directive | None
    lines: list[Directive | list[Section]]


class Directives(dict[str, list[Directive]]):
    """The directives that hold for a host, by keyword."""

    def first(self, key: str) -> str | None:
        """The value that wins, without quotes; None where nothing is said."""
        found = self.get(key)
        return found[0].value.strip('"') if found else None


def read_config(path: Path, folder: Path, depth: int = 0) -> list[Section]:
    """Parse a file and what it includes; relative includes start at ``folder``.

    A file that is not there is empty. ``InputError`` for one that cannot be read or parsed.
    """
    sections = [Section(None, [])]
    for directive in _directives(path):
        if directive.key in ("host", "match"):
            sections.append(Section(directive, []))
        elif directive.key == "include":
            for included in _included(directive, folder, depth):
                sections[-1].lines.append(included)
        else:
            sections[-1].lines.append(directive)
    return sections


def _directives(path: Path) -> Iterator[Directive]:
    try:
        text = path.read_text("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        problem = Problem(f"{path} cannot be read: {error.strerror}", kind="transport.config")
        raise InputError([problem]) from error
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = re.match(r'"?(\w+)"?(?:\s*=\s*|\s+)(.*)\Z', stripped)
        where = Position(str(path), number, len(line) - len(line.lstrip()) + 1)
        if not match or not match[2]:
            problem = Problem("expected a keyword and a value", where, kind="transport.config")
            raise InputError([problem])
        yield Directive(match[1].lower(), _without_comment(match[2]), where)


def _without_comment(value: str) -> str:
    return re.sub(r'\s+#[^"]*\Z', "", value).strip()


def _included(directive: Directive, folder: Path, depth: int) -> Iterator[list[Section]]:
    if depth >= MAX_DEPTH:
        message = f"Include is nested deeper than {MAX_DEPTH}"
        hint = "does a file include itself?"
        raise InputError([Problem(message, directive.where, hint, "transport.config")])
    for pattern in directive.words:
        expanded = os.path.join(folder, os.path.expanduser(pattern))
        for name in sorted(glob.glob(expanded)):
            yield read_config(Path(name), folder, depth + 1)


class Config:
    """The user's configuration and the system's, read once per run."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = [read_config(path, _include_folder(path)) for path in files]
        self._has_final = any(_mentions_final(sections) for sections in self._files)

    def lookup(self, name: str, user: str | None = None, port: int | None = None) -> Directives:
        """What holds for ``ssh NAME``; ``user`` and ``port`` as if given on its command line."""
        given = Position("inventory", 0, 0)
        found = Directives()
        if user is not None:
            found["user"] = [Directive("user", user, given)]
        if port is not None:
            found["port"] = [Directive("port", str(port), given)]
        for sections in self._files:
            self._collect(sections, name, found, False)
        if self._has_final:
            for sections in self._files:
                self._collect(sections, name, found, True)
        return found

    def _collect(self, sections: list[Section], name: str, found: Directives, final: bool) -> None:
        for section in sections:
            if section.condition is not None and not _holds(section.condition, name, found, final):
                continue
            for line in section.lines:
                if isinstance(line, list):
                    self._collect(line, name, found, final)
                elif line.key not in found:
                    found[line.key] = [line]
                elif line.key in _MANY and line not in found[line.key]:
                    found[line.key].append(line)


def _include_folder(path: Path) -> Path:
    return path.parent if path.parent == Path("/etc/ssh") else Path("~/.ssh").expanduser()


def _mentions_final(sections: list[Section]) -> bool:
    for section in sections:
        if section.condition and "final" in section.condition.value.lower().split():
            return True
        if any(isinstance(line, list) and _mentions_final(line) for line in section.lines):
            return True
    return False


def _holds(condition: Directive, name: str, found: Directives, final: bool) -> bool:
    if condition.key == "host":
        return matches(name, condition.words)
    words = iter(condition.words)
    for word in words:
        negated = word.startswith("!")
        criterion = word.lstrip("!").lower()
        if criterion == "all":
            holds = True
        elif criterion in ("final", "canonical"):
            holds = final and criterion == "final"
        else:
            check = _CRITERIA.get(criterion)
            value = next(words, None)
            if check is None or value is None:
                message = f"ccm cannot decide 'Match {word}'"
                raise InputError([Problem(message, condition.where, kind="transport.config")])
            holds = check(value, name, found)
        if holds == negated:
            return False
    return True


def _host_name(name: str, found: Directives) -> str:
    given = found.first("hostname")
    return expand(given, {"h": name, "%": "%"}) if given else name


def _matches_list(text: str, value: str) -> bool:
    return matches(text, value.split(","))


@functools.lru_cache(maxsize=4096)
def _succeeds(command: str) -> bool:
    done = run_shell(command, EXEC_TIMEOUT)
    return done is not None and done.returncode == 0


_CRITERIA: dict[str, Callable[[str, str, Directives], bool]] = {
    "host": lambda value, name, found: _matches_list(_host_name(name, found), value),
    "originalhost": lambda value, name, found: _matches_list(name, value),
    "user": lambda value, name, found: _matches_list(
        found.first("user") or getpass.getuser(), value
    ),
    "localuser": lambda value, name, found: _matches_list(getpass.getuser(), value),
    "exec": lambda value, name, found: _succeeds(expand(value, Tokens(name, found))),
}


def _this_host() -> str:
    import socket

    return socket.gethostname()


_TOKENS: dict[str, Callable[[str, Directives], str]] = {
    "%": lambda name, found: "%",
    "d": lambda name, found: os.path.expanduser("~"),
    "h": lambda name, found: _host_name(name, found),
    "i": lambda name, found: str(os.getuid()),
    "k": lambda name, found: found.first("hostkeyalias") or name,
    "L": lambda name, found: _this_host().split(".")[0],
    "l": lambda name, found: _this_host(),
    "n": lambda name, found: name,
    "p": lambda name, found: found.first("port") or "22",
    "r": lambda name, found: found.first("user") or getpass.getuser(),
    "u": lambda name, found: getpass.getuser(),
}


class Tokens(dict[str, str]):
    """What the percent tokens stand for on a host: each is found out when it is asked for, because
    few configurations have any. KeyError for one that is not known."""

    def __init__(self, name: str, found: Directives) -> None:
        super().__init__()
        self._of = name, found

    def __missing__(self, token: str) -> str:
        value = self[token] = _TOKENS[token](*self._of)
        return value


def expand(text: str, values: dict[str, str]) -> str:
    """Replace percent tokens; KeyError names one that is not known."""
    return re.sub("%(.)", lambda match: values[match[1]], text) if "%" in text else text


def expand_path(text: str, values: dict[str, str]) -> str:
    """A path with ``~``, ``${NAME}`` and percent tokens replaced."""
    path = os.path.expanduser(text)
    if "$" in path:
        path = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], ""), path)
    return expand(path, values)
