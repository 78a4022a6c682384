"""An announced service endpoint, and queries for endpoints (controller)."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from remote_runtime.text import duration

PREFIX = "choria.ccm.registration.v1"
ANY = "*"
DEFAULT_PRIORITY = 1
NEVER = "never"
_MAX_SOURCE = 64
_TEXTS = ("cluster", "service", "protocol", "address")
# What templates put into the configuration of other hosts, brackets for IPv6 and masked values.
_WORD = re.compile(r"[A-Za-z0-9_.:%\[\]-]+")
_TIME = re.compile(r"[0-9A-Za-z:.+-]{0,40}")
_MAX_PORT, _MAX_PRIORITY = 65_535, 255
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


class Registration(NamedTuple):
    """``timestamp`` is the time of registration, UTC in RFC 3339; ``ttl`` a duration, never or "".

    ``port`` is 0 for a service without one. ``source`` is a digest of the manifest, the host and
    the resource that registered it, "" for an entry that was registered by hand or by another
    program.
    """

    cluster: str
    service: str
    protocol: str
    address: str
    port: int = 0
    priority: int = DEFAULT_PRIORITY
    ttl: str = ""
    annotations: tuple[tuple[str, str], ...] = ()
    timestamp: str = ""
    source: str = ""

    @classmethod
    def of(cls, properties: Mapping[str, Any], now: float | None = None) -> Registration:
        """The entry for one item of ``register_when_stable``, registered now."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        return cls.from_payload({**properties, "timestamp": stamp})

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Registration:
        """Read the result of ``payload``, also of another program, which is a stranger; ValueError
        with the problem."""
        if not isinstance(payload, Mapping):
            raise ValueError("it is not a map")
        texts = {name: payload.get(name) for name in _TEXTS}
        if not all(isinstance(text, str) and _WORD.fullmatch(text) for text in texts.values()):
            raise ValueError(f"{', '.join(_TEXTS)} must be words or addresses")
        annotations = payload.get("annotations") or {}
        if not isinstance(annotations, Mapping):
            raise ValueError("annotations must be a map")
        try:
            port = int(payload.get("port") or 0)
            priority = int(payload.get("priority") or DEFAULT_PRIORITY)
        except (TypeError, ValueError, OverflowError):
            raise ValueError("port and priority must be numbers") from None
        if not (0 <= port <= _MAX_PORT and 1 <= priority <= _MAX_PRIORITY):
            raise ValueError(
                f"port must be at most {_MAX_PORT}, and priority from 1 to {_MAX_PRIORITY}"
            )
        pairs = tuple(sorted((str(key), str(value)) for key, value in annotations.items()))
        ttl = str(payload.get("ttl") or "")
        if ttl not in ("", NEVER):
            duration.parse(ttl)
        stamp = str(payload.get("timestamp") or "")
        if not _TIME.fullmatch(stamp):
            raise ValueError("timestamp must be a time")
        return cls(
            **{name: str(text) for name, text in texts.items()},
            port=port,
            priority=priority,
            ttl=ttl,
            annotations=pairs,
            timestamp=stamp,
            source=str(payload.get("source") or "")[:_MAX_SOURCE],
        )

    def payload(self) -> dict[str, Any]:
        """The JSON object used in messages and in the file."""
        found: dict[str, Any] = {
            "timestamp": self.timestamp,
            "cluster": self.cluster,
            "service": self.service,
            "protocol": self.protocol,
            "address": self.address,
            "priority": self.priority,
        }
        if self.port:
            found["port"] = self.port
        if self.ttl:
            found["ttl"] = self.ttl
        if self.annotations:
            found["annotations"] = dict(self.annotations)
        if self.source:
            found["source"] = self.source
        return found

    @property
    def endpoint(self) -> str:
        """``address:port``, with an IPv6 address in brackets; only the address without a port."""
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{address}:{self.port}" if self.port else self.address

    def template_form(self) -> dict[str, Any]:
        """The entry in the form provided to templates."""
        return {
            "Cluster": self.cluster,
            "Service": self.service,
            "Protocol": self.protocol,
            "Address": self.address,
            "Port": self.port,
            "Endpoint": self.endpoint,
            "Priority": self.priority,
            "TTL": self.ttl,
            "Annotations": dict(self.annotations),
            "Timestamp": self.timestamp,
        }

    @property
    def subject(self) -> str:
        """The NATS subject; two entries with the same subject are the same endpoint."""
        parts = (self.cluster, self.protocol, self.service, self.address, self.instance)
        return ".".join((PREFIX, *map(token, parts)))

    def is_about(self, subject: str) -> bool:
        """Whether a message of this subject may have the entry: it names the same endpoint, but
        for the instance, which other programs may count differently."""
        return subject.rpartition(".")[0] == self.subject.rpartition(".")[0]

    @property
    def instance(self) -> str:
        """The identity of an endpoint: FNV-64a of cluster, service, protocol, address and port."""
        value = _FNV_OFFSET
        text = f"{self.cluster}{self.service}{self.protocol}{self.address}{self.port}"
        for byte in text.encode("utf-8", "surrogatepass"):
            value = (value ^ byte) * _FNV_PRIME % (1 << 64)
        return f"{value:016x}"

    def seconds(self) -> float:
        """Its validity in seconds; infinite without a TTL."""
        return math.inf if self.ttl in ("", NEVER) else duration.parse(self.ttl)

    def is_valid(self, now: float) -> bool:
        """Whether it has not expired yet."""
        seconds = self.seconds()
        if seconds == math.inf:
            return True
        try:
            from calendar import timegm

            announced = timegm(time.strptime(self.timestamp[:19], "%Y-%m-%dT%H:%M:%S"))
        except ValueError:
            return True  # from another program, which expires it
        return now < announced + seconds


def source_of(manifest: str, host: str, resource: str) -> str:
    """The ``source`` of the entries of one resource of a host: an opaque digest."""
    from hashlib import sha256

    return sha256("\0".join((manifest, host, resource)).encode()).hexdigest()[:32]


class Query(NamedTuple):
    """A selection of entries; ``*`` or "" matches any value."""

    cluster: str = ANY
    protocol: str = ANY
    service: str = ANY
    address: str = ANY

    @property
    def subject(self) -> str:
        """A NATS subject that matches all of them, and possibly others: see ``selects``."""
        parts = [token(part) if _is_given(part) else ANY for part in self]
        return ".".join((PREFIX, *parts, ANY))

    def selects(self, entry: Registration) -> bool:
        """Whether it matches an entry."""
        found = (entry.cluster, entry.protocol, entry.service, entry.address)
        return all(not _is_given(w) or w == f for w, f in zip(self, found, strict=True))


def in_order(entries: list[Registration]) -> list[Registration]:
    """Return the entries by address, then by port, in the order of ``registrations()``."""
    return sorted(entries, key=lambda e: (e.address, e.port, e.cluster, e.protocol, e.service))


def token(text: str) -> str:
    """Return a string, which may come from a host, as one subject token without wildcards."""
    return "".join("_" if sign in ".*>" or not "!" <= sign <= "~" else sign for sign in text)


def _is_given(text: str) -> bool:
    return text not in ("", ANY)
