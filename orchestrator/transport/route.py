"""The route to a host, from inventory and SSH configuration (controller)."""

from __future__ import annotations

import getpass
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from orchestrator.support.background_call import deadline
from orchestrator.transport.client_config import ssh_policy
from orchestrator.transport.client_config.ssh_config import Config
from orchestrator.transport.client_config.ssh_directives import (
    Directive,
    Directives,
    Tokens,
    expand,
    expand_path,
)
from orchestrator.transport.connection_settings import (
    CONNECT_TIMEOUT,
    Settings,
    Target,
    hop_names,
    is_active,
)
from remote_runtime.errors import InputError, Problem

MAX_JUMPS = 8
DEFAULT_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
_METHODS = ("publickey", "keyboard-interactive", "password")


class Route(NamedTuple):
    """The resolved values for a connection to one host.

    ``label`` is the host's name in messages; ``key_name`` and ``key_port`` are its name and port in
    known_hosts: an alias has no port. ``agent`` is the path of the agent's socket, "" for no agent.
    ``jumps`` are passed in order. ``trust`` is the command that checks host keys; ``listed``: the
    label is its name in the inventory. ``certificates`` are those of CertificateFile; None if those
    next to the identities are used. ``ca_algorithms`` is CASignatureAlgorithms. ``revoked`` are the
    files of RevokedHostKeys. ``until`` is the time (``time.monotonic()``) at which the host times
    out, None for never.
    """

    label: str
    address: str
    port: int
    user: str
    key_name: str
    key_port: int
    known_hosts: tuple[Path, ...]
    identities: tuple[Path, ...]
    identities_only: bool
    agent: str
    methods: tuple[str, ...]
    host_key_algorithms: str
    family: str
    timeout: float
    alive: float
    proxy_command: str
    jumps: tuple[Route, ...] = ()
    hash_names: bool = False
    trust: str = ""
    listed: bool = False
    until: float | None = None
    certificates: tuple[Path, ...] | None = None
    ca_algorithms: str = ""
    revoked: tuple[Path, ...] = ()

    def end(self, seconds: float) -> float:
        """The time at which a wait of this many seconds, starting now, is over."""
        return deadline(seconds, self.until)

    def left(self, seconds: float) -> float:
        """The remaining part of this many seconds, before the host times out."""
        return max(0.0, self.end(seconds) - time.monotonic())

    def hops(self) -> list[Route]:
        """The jumps in order, each with the ones before it."""
        return [hop._replace(jumps=self.jumps[:at]) for at, hop in enumerate(self.jumps)]


class Router:
    """Creates routes; the SSH configuration is read once, on first use."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._read: Config | None = None

    @property
    def _config(self) -> Config:
        if self._read is None:
            self._read = Config(self._settings.config_files())
        return self._read

    def route(self, host: Target) -> Route:
        """The route to a host. InputError names every directive that cannot be honored."""
        return self._route(host.name, host.address, host=host, via=())

    def unsupported_directives(self, host: Target) -> list[Problem]:
        """The active directives for a host that prevent ccm from logging in to it."""
        return ssh_policy.problems(self._found(host.address, host), _inventory_directives(host))

    def ignored_directives(self, host: Target) -> list[Directive]:
        """The active directives for a host that have no effect in ccm."""
        return ssh_policy.ignored_directives(self._found(host.address, host))

    def _found(self, name: str, host: Target) -> Directives:
        return self._config.lookup(name, self._settings.user or host.user, host.port)

    def _route(
        self,
        label: str,
        name: str,
        *,
        host: Target | None,
        via: tuple[str, ...],
        user: str | None = None,
        port: int | None = None,
    ) -> Route:
        if len(via) >= MAX_JUMPS or label in via:
            way = " -> ".join([*via, label])
            message = f"the jump hosts form a cycle or exceed the limit of {MAX_JUMPS}: {way}"
            hint = "check 'jump' in the inventory and ProxyJump in the SSH configuration"
            raise InputError([Problem(message, None, hint, "transport.config")])
        if host is not None:
            # --user is for the hosts that are meant, not for those on the way
            user = (None if via else self._settings.user) or host.user
            port = host.port
        directives = self._config.lookup(name, user, port)
        problems = ssh_policy.problems(directives, _inventory_directives(host))
        if problems:
            raise InputError(problems)
        jumps, command = self._way(label, host, directives, via)
        return _decide(
            self._settings,
            label,
            name=name,
            host=host,
            directives=directives,
            jumps=jumps,
            command=command,
        )

    def _way(
        self, label: str, host: Target | None, directives: Directives, via: tuple[str, ...]
    ) -> tuple[tuple[Route, ...], str]:
        jump = host.jump if host is not None else None
        if jump is None:
            # the first of the two wins, as in OpenSSH, even if its value is `none`
            key = next((key for key in directives if key in ("proxyjump", "proxycommand")), "")
            value = directives.first(key)
            if key == "proxycommand" and is_active(value):
                return (), str(value)
            jump = value if key == "proxyjump" else None
        hops: list[Route] = []
        for text in hop_names(jump):
            hops.extend(self._hop(text, (*via, label)))
        return tuple(hops), ""

    def _hop(self, text: str, via: tuple[str, ...]) -> Sequence[Route]:
        named = self._settings.hosts.get(text)
        if named is not None:
            route = self._route(text, named.address, host=named, via=via)
        else:
            user, name, port = _split(text)
            route = self._route(text, name, host=None, via=via, user=user, port=port)
        return (*route.jumps, route)


def _inventory_directives(host: Target | None) -> set[str]:
    """The directives that the inventory overrides."""
    if host is None:
        return set()
    answers = {
        "proxyjump": host.jump,
        "proxycommand": host.jump,
        "userknownhostsfile": host.known_hosts,
        "globalknownhostsfile": host.known_hosts,
        "connecttimeout": host.connect_timeout,
    }
    return {key for key, value in answers.items() if value is not None}


def ignored_directives(host: Target, settings: Settings) -> list[Directive]:
    """The active directives of the SSH configuration for a host that have no effect in ccm; empty
    for local hosts.

    InputError for a configuration that cannot be read.
    """
    return [] if host.connection == "local" else Router(settings).ignored_directives(host)


def unsupported_directives(host: Target, settings: Settings) -> list[Problem]:
    """The directives of the SSH configuration that prevent ccm from logging in to a host; empty for
    local hosts.

    InputError for a configuration that cannot be read.
    """
    return [] if host.connection == "local" else Router(settings).unsupported_directives(host)


def _split(text: str) -> tuple[str | None, str, int | None]:
    """Split ``user@host:port``; an address in brackets may contain colons."""
    text = text.removeprefix("ssh://").rstrip("/")
    user, _, rest = text.rpartition("@")
    name, port = rest, ""
    if rest.startswith("["):
        name, _, port = rest[1:].partition("]")
        port = port.lstrip(":")
    elif rest.count(":") == 1:
        name, _, port = rest.partition(":")
    return user or None, name, int(port) if port.isdigit() else None


def _decide(
    settings: Settings,
    label: str,
    *,
    name: str,
    host: Target | None,
    directives: Directives,
    jumps: tuple[Route, ...],
    command: str,
) -> Route:
    values = Tokens(name, directives)
    try:
        return Route(
            label=label,
            address=values["h"].strip("[]"),
            port=int(directives.first("port") or 22),
            user=directives.first("user") or getpass.getuser(),
            key_name=(directives.first("hostkeyalias") or values["h"]).strip("[]").lower(),
            key_port=22
            if directives.first("hostkeyalias")
            else int(directives.first("port") or 22),
            known_hosts=_known_hosts(host, directives, values),
            identities=_identities(host, directives, values),
            identities_only=_yes(directives, "identitiesonly", False),
            agent=_agent(directives, values),
            methods=_methods(directives),
            host_key_algorithms=directives.first("hostkeyalgorithms") or "",
            family=(directives.first("addressfamily") or "any").lower(),
            timeout=_timeout(settings, host, directives),
            alive=_alive(directives),
            proxy_command=expand(command, values),
            jumps=jumps,
            hash_names=_yes(directives, "hashknownhosts", False),
            trust=settings.trust_command,
            listed=host is not None,
            certificates=_certificates(directives, values),
            ca_algorithms=directives.first("casignaturealgorithms") or "",
            revoked=_revoked(directives, values),
        )
    except KeyError as error:
        message = (
            f"{label}: the SSH configuration uses %{error.args[0]}, which ccm does not support"
        )
        raise InputError([Problem(message)], "transport.config") from None
    except ValueError as error:
        raise InputError([Problem(f"{label}: {error}")], "transport.config") from None


def _known_hosts(
    host: Target | None, directives: Directives, values: dict[str, str]
) -> tuple[Path, ...]:
    if host is not None and host.known_hosts:
        return (_path(host.known_hosts),)
    paths: list[Path] = []
    for key, default in (
        ("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2"),
        ("globalknownhostsfile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"),
    ):
        words = directives[key][0].words if key in directives else default.split()
        paths += [_path(expand_path(word, values)) for word in words if word.lower() != "none"]
    return tuple(paths)


def _identities(
    host: Target | None, directives: Directives, values: dict[str, str]
) -> tuple[Path, ...]:
    paths = [_path(host.key_file)] if host is not None and host.key_file else []
    for line in directives.get("identityfile", []):
        text = line.value.strip('"')
        if text.lower() != "none":
            paths.append(_path(expand_path(text, values)))
    if "identityfile" not in directives:
        paths += [_path(f"{values['d']}/.ssh/{name}") for name in DEFAULT_KEYS]
    return tuple(dict.fromkeys(paths))


def _certificates(directives: Directives, values: dict[str, str]) -> tuple[Path, ...] | None:
    if "certificatefile" not in directives:
        return None
    words = [line.value.strip('"') for line in directives["certificatefile"]]
    named = [_path(expand_path(text, values)) for text in words if text.lower() != "none"]
    return tuple(dict.fromkeys(named)) or None


def _revoked(directives: Directives, values: dict[str, str]) -> tuple[Path, ...]:
    words = directives["revokedhostkeys"][0].words if "revokedhostkeys" in directives else []
    return tuple(_path(expand_path(word, values)) for word in words if word.lower() != "none")


@lru_cache(maxsize=1024)
def _path(text: str) -> Path:
    """Return the path for a string, created once because many hosts use the same few paths."""
    return Path(text)


def _agent(directives: Directives, values: dict[str, str]) -> str:
    import os

    value = directives.first("identityagent")
    if value is None or value == "SSH_AUTH_SOCK":
        return os.environ.get("SSH_AUTH_SOCK", "")
    if value.lower() == "none":
        return ""
    return os.environ.get(value[1:], "") if value.startswith("$") else expand_path(value, values)


def _methods(directives: Directives) -> tuple[str, ...]:
    allowed = {
        "publickey": _yes(directives, "pubkeyauthentication", True),
        "password": _yes(directives, "passwordauthentication", True),
        "keyboard-interactive": _yes(directives, "kbdinteractiveauthentication", True)
        and _yes(directives, "challengeresponseauthentication", True),
    }
    preferred = directives.first("preferredauthentications")
    order = preferred.lower().split(",") if preferred else _METHODS
    return tuple(m.strip() for m in order if allowed.get(m.strip(), False))


def _timeout(settings: Settings, host: Target | None, directives: Directives) -> float:
    if settings.connect_timeout is not None:
        return settings.connect_timeout
    if host is not None and host.connect_timeout is not None:
        return host.connect_timeout
    value = directives.first("connecttimeout")
    return float(value) if value and value.isdigit() and int(value) else CONNECT_TIMEOUT


def _alive(directives: Directives) -> float:
    """The number of seconds after which a silent peer is considered dead: at most 30."""
    interval = directives.first("serveraliveinterval")
    count = directives.first("serveralivecountmax")
    if interval and interval.isdigit() and int(interval):
        return min(30.0, float(interval) * int(count if count and count.isdigit() else 3))
    return 30.0


def _yes(directives: Directives, key: str, default: bool) -> bool:
    value = directives.first(key)
    if value is None:
        return default
    return value.lower() not in ("no", "false")
