"""The lines of an OpenSSH client configuration, and the values of their tokens (controller)."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Callable
from typing import NamedTuple

from remote_runtime.errors import Position


class Directive(NamedTuple):
    """One line: the keyword in lowercase, its value, and its position."""

    key: str
    value: str
    where: Position

    @property
    def words(self) -> list[str]:
        """The value split at spaces; quotes keep words together."""
        return [a or b for a, b in re.findall(r'"([^"]*)"|([^\s"]+)', self.value)]


class UndecidedMatch(NamedTuple):
    """A line that may or may not apply, and the ``Match`` that cannot be decided."""

    condition: Directive
    line: Directive


class Directives(dict[str, list[Directive]]):
    """The directives that apply to a host, by keyword."""

    def __init__(self) -> None:
        super().__init__()
        self.undecided: list[UndecidedMatch] = []

    def first(self, key: str) -> str | None:
        """The effective value, without quotes; None if it is not set."""
        values = self.get(key)
        return values[0].value.strip('"') if values else None


def _this_host() -> str:
    import socket

    return socket.gethostname()


_TOKENS: dict[str, Callable[[str, Directives], str]] = {
    "%": lambda name, found: "%",
    "d": lambda name, found: os.path.expanduser("~"),
    "h": lambda name, found: host_name(name, found),
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
    """The values of percent tokens for a host, computed on demand, because few configurations have
    any. KeyError for an unknown one."""

    def __init__(self, name: str, directives: Directives) -> None:
        super().__init__()
        self._of = name, directives

    def __missing__(self, token: str) -> str:
        value = self[token] = _TOKENS[token](*self._of)
        return value


def expand(text: str, values: dict[str, str]) -> str:
    """Replace percent tokens; KeyError names an unknown one."""
    return re.sub("%(.)", lambda match: values[match[1]], text) if "%" in text else text


def expand_path(text: str, values: dict[str, str]) -> str:
    """A path with ``~``, ``${NAME}`` and percent tokens replaced."""
    path = os.path.expanduser(text)
    if "$" in path:
        path = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], ""), path)
    return expand(path, values)


def host_name(name: str, directives: Directives) -> str:
    """Return the destination of ``ssh NAME`` according to the ``HostName`` directive."""
    value = directives.first("hostname")
    return expand(value, {"h": name, "%": "%"}) if value else name
