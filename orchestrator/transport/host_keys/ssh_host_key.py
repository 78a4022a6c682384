"""Checks a host against its keys and CAs in known_hosts (controller; paramiko)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import paramiko

from orchestrator.transport.host_keys.certificates import (
    Certificate,
    is_certificate,
    parse_certificate,
)
from orchestrator.transport.host_keys.known_hosts import (
    KnownHosts,
    Line,
    fingerprint,
    matches_any,
)
from orchestrator.transport.host_keys.revoked_keys import revoked_lines
from orchestrator.transport.key_files import display_path
from orchestrator.transport.route import Route
from orchestrator.transport.ssh_transport import EagerTransport
from remote_runtime.errors import UnreachableError

_CA_ALGORITHMS = (
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "rsa-sha2-512", "rsa-sha2-256",
)  # fmt: skip
_RSA = ("rsa-sha2-512", "rsa-sha2-256")


class HostKeyCheck(paramiko.MissingHostKeyPolicy):
    """paramiko's callback for host keys; paramiko has no known keys, so it calls this every time.

    As in ssh, a certificate is used if a ``@cert-authority`` line has its CA; otherwise its key is.
    """

    def __init__(self, route: Route) -> None:
        self._route = route
        self._lines = KnownHosts(route.known_hosts).lookup(route.key_name, route.key_port)
        self._session: EagerTransport | None = None

    def prepare(self, session: EagerTransport) -> None:
        """Make the server present a key or certificate that can be checked, if it has one."""
        self._session = session
        offered = session.offered_host_keys
        of_ca = [name for name in offered if is_certificate(name)] if self._authorities() else []
        types = [line.key_type for line in self._lines if not line.marker]
        session.prefer_host_keys([*of_ca, *_algorithms(types)])
        if self._route.host_key_algorithms:
            text = self._route.host_key_algorithms
            named = _listed(text, session.offered_host_keys)
            if not named:
                raise self._nothing_left(offered)
            session.restrict_host_keys(named)

    def missing_host_key(self, client: Any, hostname: str, key: paramiko.PKey) -> None:
        """Return if the key is known; UnreachableError otherwise."""
        key_blob = self._session.shown_host_key if self._session is not None else b""
        self._session = None
        if not self.certified(key_blob):
            self._check(key, parse_certificate(key_blob))

    def certified(self, key_blob: bytes) -> bool:
        """Whether this identifies a host by a certificate from a known CA.

        False for a plain key, and for a certificate from another CA; in these cases, the key must
        be known. UnreachableError for a revoked key, and for an invalid certificate of a known CA.
        """
        certificate = parse_certificate(key_blob)
        self._check_revoked(key_blob, certificate)
        if certificate is None or certificate.ca_blob not in self._authorities():
            return False
        reason = certificate.invalid_for("host", self._route.key_name) or self._unsound(certificate)
        if reason:
            raise UnreachableError(
                f"the host certificate of {self._route.label} is not valid: {reason} "
                f"({certificate.title})",
                "transport.host_key.certificate",
                hint=_advice(certificate, reason),
            )
        return True

    def _authorities(self) -> list[bytes]:
        return [line.blob for line in self._lines if line.marker == "@cert-authority"]

    def _check_revoked(self, key_blob: bytes, certificate: Certificate | None) -> None:
        blobs = [key_blob]
        if certificate is not None:
            blobs += [certificate.key_blob, certificate.ca_blob]
        for line in [*self._lines, *revoked_lines(self._route.label, self._route.revoked)]:
            if line.marker == "@revoked" and line.blob in blobs:
                of_ca = certificate is not None and line.blob == certificate.ca_blob
                raise _revoked(self._route, line, of_ca=of_ca)

    def _unsound(self, certificate: Certificate) -> str:
        """Return the reason why the signature of a CA is not accepted; "" if it is."""
        if certificate.critical:
            return f"ccm does not support its critical option {certificate.critical[0]}"
        allowed = _listed(self._route.ca_algorithms or "+", _CA_ALGORITHMS)
        if certificate.signature_type not in allowed:
            return f"its CA signed with {certificate.signature_type}, which is not allowed"
        try:
            ca = paramiko.PKey.from_type_string(certificate.ca_type, certificate.ca_blob)
            sound = ca.verify_ssh_sig(certificate.signed, paramiko.Message(certificate.signature))
        except (paramiko.SSHException, paramiko.pkey.UnknownKeyType, ValueError):
            return f"ccm cannot check signatures of {certificate.ca_type} keys"
        return "" if sound else "the signature of its CA is invalid"

    def _check(self, key: paramiko.PKey, certificate: Certificate | None) -> None:
        blob = key.asbytes()
        known = [line for line in self._lines if not line.marker]
        if any(line.blob == blob for line in known):
            return
        if known:
            raise _changed(self._route, key, known)
        raise _unknown(self._route, key, certificate, authorities=self._authorities())

    def _nothing_left(self, offered: Sequence[str]) -> UnreachableError:
        return UnreachableError(
            f"{self._route.label}: ccm supports none of the HostKeyAlgorithms "
            f"{self._route.host_key_algorithms}",
            "transport.config",
            hint=f"ccm supports {', '.join(offered)}",
        )


def _advice(certificate: Certificate, reason: str) -> str:
    if reason == certificate.outside_of_its_time():
        return "is the clock of this machine correct? If so, the host needs a new certificate"
    return "install another certificate on the host, or set 'HostKeyAlias' to a name in this one"


def _algorithms(types: Sequence[str]) -> list[str]:
    return [name for kind in types for name in (_RSA if kind == "ssh-rsa" else (kind,))]


def _listed(text: str, offered: Sequence[str]) -> list[str]:
    """A list of algorithms, or our list with these added (+), removed (-) or put first (^)."""
    how = text[0] if text[0] in "+-^" else ""
    patterns = text.removeprefix(how).split(",")
    named = [name for name in offered if matches_any(name, patterns)]
    if how == "-":
        named = [name for name in offered if name not in named]
    elif how in ("+", "^"):
        named = [*named, *(n for n in offered if n not in named)] if how == "^" else list(offered)
    return named


def _shown(key_type: str, blob: bytes) -> str:
    kind = key_type.removeprefix("ssh-").split("-")[0].upper()
    return f"{kind} key {fingerprint(blob)}"


def _unknown(
    route: Route,
    key: paramiko.PKey,
    certificate: Certificate | None,
    *,
    authorities: Sequence[bytes],
) -> UnreachableError:
    message = f"the host key of {route.label} is unknown: {_shown(key.get_name(), key.asbytes())}"
    if certificate is not None and authorities:
        known = ", ".join(fingerprint(blob) for blob in authorities)
        message += (
            f"; the host presents the {certificate.title}, and known_hosts has the CA {known}"
        )
    elif authorities:
        message += "; the host presents no certificate, but known_hosts has a CA for it"
    if route.known_hosts and not any(path.exists() for path in route.known_hosts):
        message += f"; {display_path(route.known_hosts[0])} does not exist"
    return UnreachableError(
        message,
        "transport.host_key.unknown",
        hint="to check each fingerprint and accept it, run:",
        command=route.trust,
        only=route.label if route.listed else "",
    )


def _changed(route: Route, key: paramiko.PKey, known: list[Line]) -> UnreachableError:
    line = next((line for line in known if line.key_type == key.get_name()), known[0])
    return UnreachableError(
        f"THE HOST KEY OF {route.label} HAS CHANGED: the host presents the "
        f"{_shown(key.get_name(), key.asbytes())}, but {line.where} has the "
        f"{_shown(line.key_type, line.blob)}; this may be a man-in-the-middle attack",
        "transport.host_key.changed",
        hint=(
            "find out why; if the change is expected, compare the fingerprints and accept "
            "the new key with:"
        ),
        command=f"{route.trust} --replace",
        only=route.label if route.listed else "",
    )


def _revoked(route: Route, line: Line, *, of_ca: bool) -> UnreachableError:
    what = "the CA of the host certificate" if of_ca else "the host key"
    return UnreachableError(
        f"{what} of {route.label} is revoked by {line.where}: {fingerprint(line.blob)}",
        "transport.host_key.revoked",
        hint=f"the host needs a new {'certificate of another CA' if of_ca else 'key'}",
    )
