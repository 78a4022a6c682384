"""Decides the ``Host`` and ``Match`` lines of an SSH configuration, like ssh (controller).

An unknown result is neither true nor false: the caller must check whether it matters.
"""

from __future__ import annotations

import functools
import getpass
import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from orchestrator.transport.client_config.ssh_directives import (
    Directive,
    Directives,
    Tokens,
    expand,
    host_name,
)
from orchestrator.transport.client_config.user_command import run_shell
from orchestrator.transport.host_keys.known_hosts import matches, name_matches
from remote_runtime.errors import InputError, Problem
from remote_runtime.facts import network
from remote_runtime.facts.fact_source import Source

EXEC_TIMEOUT = 30
# How each command begins that ccm starts on a host; the rest differs from run to run.
COMMAND_BEGIN = "'/bin/sh' '-c' 'PATH="
_WORD = re.compile(r"\s*(!?\w+)(?:\s*=\s*|\s+|\Z)")
_VALUE = re.compile(r'"([^"]*)"\s*|([^\s"]+)\s*')
_WITHOUT_VALUE = ("all", "final", "canonical")


class Criterion(NamedTuple):
    """One condition of a ``Match``; ``value`` is None if the word has none."""

    word: str
    value: str | None

    @property
    def negated(self) -> bool:
        """Whether it is negated."""
        return self.word.startswith("!")

    @property
    def name(self) -> str:
        """The compared value."""
        return self.word.lstrip("!").lower()


def holds(condition: Directive, name: str, directives: Directives, final: bool) -> bool | None:
    """Whether the lines below a ``Host`` or ``Match`` apply to ``ssh NAME``; None if unknown.

    ``directives`` has the values so far, ``final`` marks the second pass. InputError for a
    criterion without its value.
    """
    if condition.key == "host":
        return matches(name, condition.words)
    known = True
    for criterion in _criteria(condition):
        found_out = _check(criterion, name, directives, final)
        if found_out is None:
            known = False
        elif found_out == criterion.negated:
            return False
    return True if known else None


def _criteria(condition: Directive) -> Iterator[Criterion]:
    """The criteria in order, up to the first unknown one, because the end of its value is also
    unknown.
    """
    rest = condition.value
    while rest:
        word = _WORD.match(rest)
        if word is None:
            raise _unreadable(condition, rest)
        criterion = Criterion(word[1], None)
        rest = rest[word.end() :]
        if criterion.name in _WITHOUT_VALUE:
            yield criterion
            continue
        if criterion.name not in _CRITERIA:
            yield criterion
            return
        value = _VALUE.match(rest)
        if value is None:
            raise _unreadable(condition, word[1])
        yield criterion._replace(value=value[1] if value[1] is not None else value[2])
        rest = rest[value.end() :]


def _unreadable(condition: Directive, text: str) -> InputError:
    message = f"expected a criterion and its value in this Match, got {text!r}"
    return InputError([Problem(message, condition.where, kind="transport.config")])


def _check(criterion: Criterion, name: str, directives: Directives, final: bool) -> bool | None:
    if criterion.name == "all":
        return True
    if criterion.name in ("final", "canonical"):
        return final and criterion.name == "final"
    if criterion.value is None:
        return None
    return _CRITERIA[criterion.name](criterion.value, name, directives)


def _matches_list(text: str, value: str) -> bool:
    return matches(text, value.split(","))


def _exec(value: str, name: str, directives: Directives) -> bool | None:
    try:
        return _succeeds(expand(value, Tokens(name, directives)))
    except KeyError:  # a token that is not known
        return None


@functools.lru_cache(maxsize=4096)
def _succeeds(command: str) -> bool:
    done = run_shell(command, EXEC_TIMEOUT)
    return done is not None and done.returncode == 0


def _in_local_network(value: str, name: str, directives: Directives) -> bool | None:
    try:
        networks = [ipaddress.ip_network(text.strip()) for text in value.split(",")]
    except ValueError:
        return None
    addresses = _own_addresses()
    if addresses is None:
        return None
    return any(
        address in one
        for address in addresses
        for one in networks
        if address.version == one.version
    )


@functools.lru_cache(maxsize=1)
def _own_addresses() -> list[ipaddress.IPv4Address | ipaddress.IPv6Address] | None:
    """The addresses of this machine's active interfaces; None if unknown."""
    try:
        interfaces = network.read(Source())["interfaces"]
    except (OSError, AttributeError):  # a system without the kernel's messages of Linux
        return None
    return [
        ipaddress.ip_address(one["addr"].partition("/")[0])
        for interface in interfaces
        if "up" in interface["flags"]
        for one in interface["addrs"]
    ]


def _is_version(value: str, name: str, directives: Directives) -> bool | None:
    version = _ssh_version()
    return _matches_list(version, value) if version else None


@functools.lru_cache(maxsize=1)
def _ssh_version() -> str:
    """The version that the installed ssh compares, such as OpenSSH_10.0p2; "" without ssh."""
    done = run_shell("ssh -V", EXEC_TIMEOUT)
    if done is None or done.returncode:
        return ""
    return done.stderr.decode("utf-8", "replace").partition(",")[0].strip()


def _is_command(value: str, name: str, directives: Directives) -> bool | None:
    """Whether ccm's command matches; None if unknown, because only its start is known here."""
    unknown = False
    hit = False
    for pattern in value.split(","):
        outcome = _command_matches(pattern.removeprefix("!"))
        if outcome is None:
            unknown = True
        elif outcome and pattern.startswith("!"):
            return False
        else:
            hit = hit or outcome
    return None if unknown else hit


def _command_matches(pattern: str) -> bool | None:
    if pattern.endswith("*") and name_matches(COMMAND_BEGIN, pattern):
        return True
    literal = re.split(r"[*?]", pattern)[0]
    if literal == pattern:
        return False  # ccm's commands are never completely known here
    size = min(len(literal), len(COMMAND_BEGIN))
    return None if literal[:size].lower() == COMMAND_BEGIN[:size].lower() else False


_CRITERIA: dict[str, Callable[[str, str, Directives], bool | None]] = {
    "host": lambda value, name, found: _matches_list(host_name(name, found), value),
    "originalhost": lambda value, name, found: _matches_list(name, value),
    "user": lambda value, name, found: _matches_list(
        found.first("user") or getpass.getuser(), value
    ),
    "localuser": lambda value, name, found: _matches_list(getpass.getuser(), value),
    "exec": _exec,
    "tagged": lambda value, name, found: _matches_list(found.first("tag") or "", value),
    "localnetwork": _in_local_network,
    "sessiontype": lambda value, name, found: _matches_list("exec", value),
    "command": _is_command,
    "version": _is_version,
}
