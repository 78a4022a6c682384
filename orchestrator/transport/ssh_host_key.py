"""Holds a host to the keys that known_hosts has of it (controller; paramiko)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import paramiko

from orchestrator.transport.key_files import shown
from orchestrator.transport.known_hosts import (
    KnownHosts,
    Line,
    entry_name,
    fingerprint,
    matches_any,
)
from orchestrator.transport.route import Route
from orchestrator.transport.ssh_transport import EagerTransport
from remote_runtime.errors import UnreachableError

_RSA = ("rsa-sha2-512", "rsa-sha2-256")


class HostKeyCheck(paramiko.MissingHostKeyPolicy):
    """What paramiko asks about a key; it is given no keys of its own, so it asks every time."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._lines = KnownHosts(route.known_hosts).lookup(route.key_name, route.key_port)

    def prepare(self, session: EagerTransport) -> None:
        """Let the server show a key that is known, if it has one."""
        types = [line.key_type for line in self._lines if not line.marker]
        session.prefer_host_keys(_algorithms(types))
        if self._route.host_key_algorithms:
            session.restrict_host_keys(_listed(self._route, session.offered_host_keys))

    def missing_host_key(self, client: Any, hostname: str, key: paramiko.PKey) -> None:
        """Return if the key is known; UnreachableError otherwise."""
        blob = key.asbytes()
        same = [line for line in self._lines if line.blob == blob]
        if any(line.marker == "@revoked" for line in same):
            raise _revoked(self._route, key, same[0])
        if not any(not line.marker for line in same):
            raise self._refused(key)

    def _refused(self, key: paramiko.PKey) -> UnreachableError:
        known = [line for line in self._lines if not line.marker]
        if known:
            return _changed(self._route, key, known)
        return _unknown(self._route, key, self._lines)


def _algorithms(types: Sequence[str]) -> list[str]:
    return [name for kind in types for name in (_RSA if kind == "ssh-rsa" else (kind,))]


def _listed(route: Route, offered: Sequence[str]) -> list[str]:
    """HostKeyAlgorithms: a list, or one added to (+), taken from (-) or put before (^) ours."""
    text = route.host_key_algorithms
    how = text[0] if text[0] in "+-^" else ""
    patterns = text.removeprefix(how).split(",")
    named = [name for name in offered if matches_any(name, patterns)]
    if how == "-":
        named = [name for name in offered if name not in named]
    elif how in ("+", "^"):
        named = [*named, *(n for n in offered if n not in named)] if how == "^" else list(offered)
    if not named:
        raise UnreachableError(
            f"{route.label}: none of HostKeyAlgorithms {text} is one that ccm knows",
            "transport.config",
            hint=f"ccm knows {', '.join(offered)}",
        )
    return named


def _shown(key: paramiko.PKey) -> str:
    kind = key.get_name().removeprefix("ssh-").split("-")[0].upper()
    return f"{kind} key {fingerprint(key.asbytes())}"


def _unknown(route: Route, key: paramiko.PKey, lines: list[Line]) -> UnreachableError:
    hint = "this shows each fingerprint and asks:"
    if any(line.marker == "@cert-authority" for line in lines):
        hint = f"ccm does not read host certificates (@cert-authority); {hint}"
    message = f"the host key of {route.label} is unknown: {_shown(key)}"
    if route.known_hosts and not any(path.exists() for path in route.known_hosts):
        message += f"; {shown(route.known_hosts[0])}, where it should stand, does not exist"
    return UnreachableError(
        message,
        "transport.host_key.unknown",
        hint=hint,
        command=route.trust,
        only=route.label if route.listed else "",
    )


def _changed(route: Route, key: paramiko.PKey, known: list[Line]) -> UnreachableError:
    name = entry_name(route.key_name, route.key_port)
    line = next((line for line in known if line.key_type == key.get_name()), known[0])
    return UnreachableError(
        f"THE HOST KEY OF {route.label} HAS CHANGED: it shows {_shown(key)}, but {line.where} has "
        f"{line.key_type} {fingerprint(line.blob)}; somebody may be in between",
        "transport.host_key.changed",
        hint=f"if you know why: `ssh-keygen -R '{name}' -f {line.path}`, then:",
        command=route.trust,
        only=route.label if route.listed else "",
    )


def _revoked(route: Route, key: paramiko.PKey, line: Line) -> UnreachableError:
    return UnreachableError(
        f"the host key of {route.label} is revoked by {line.where}: {_shown(key)}",
        "transport.host_key.revoked",
        hint="the host needs a new key",
    )
