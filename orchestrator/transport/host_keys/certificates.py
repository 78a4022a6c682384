"""Reads OpenSSH certificates of users and hosts (controller).

The format is that of PROTOCOL.certkeys. Nothing here checks a signature: see ``ssh_host_key``.
"""

from __future__ import annotations

import base64
import binascii
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from orchestrator.transport.host_keys.known_hosts import fingerprint

SUFFIX = "-cert-v01@openssh.com"
FOREVER = 2**64 - 1
LARGEST_FILE = 256 * 1024  # bytes; a certificate has a few hundred
_KINDS: dict[int, Literal["user", "host"]] = {1: "user", 2: "host"}
# how many fields the public key has
_KEY_FIELDS = {
    "ssh-ed25519": 1,
    "ssh-rsa": 2,
    "ecdsa-sha2-nistp256": 2,
    "ecdsa-sha2-nistp384": 2,
    "ecdsa-sha2-nistp521": 2,
    "sk-ssh-ed25519@openssh.com": 2,
    "sk-ecdsa-sha2-nistp256@openssh.com": 3,
}


class Certificate(NamedTuple):
    """The content of a certificate.

    ``blob`` is the complete certificate, ``key_blob`` the public key that it certifies.
    ``valid_after`` and ``valid_before`` are seconds since 1970. ``signed`` are the bytes that
    ``signature`` of ``ca_blob`` covers.
    """

    blob: bytes
    type: str
    key_blob: bytes
    kind: Literal["user", "host"]
    key_id: str
    principals: tuple[str, ...]
    valid_after: int
    valid_before: int
    critical: tuple[str, ...]
    ca_blob: bytes
    signed: bytes
    signature: bytes

    @property
    def ca_type(self) -> str:
        """The type of the CA's key."""
        return _text(next(_strings(self.ca_blob)))

    @property
    def signature_type(self) -> str:
        """The algorithm that the CA signed with."""
        return _text(next(_strings(self.signature)))

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"certificate {self.key_id!r} of CA {fingerprint(self.ca_blob)}"

    def invalid_for(self, kind: str, name: str, now: float | None = None) -> str:
        """Why it is not valid for a host or user of that name; "" for a valid one.

        A certificate without principals is valid for every name. ``now`` is the current time of
        this machine unless it is passed.
        """
        if self.kind != kind:
            return f"it is a {self.kind} certificate"
        expired = self.outside_of_its_time(now)
        if expired:
            return expired
        if self.principals and name not in self.principals:
            return f"it is for {', '.join(self.principals)}, not for {name}"
        return ""

    def outside_of_its_time(self, now: float | None = None) -> str:
        """Why it is not valid at that time; "" if it is valid."""
        moment = time.time() if now is None else now
        if moment < self.valid_after:
            return f"it is not valid before {_date(self.valid_after)}"
        if self.valid_before != FOREVER and moment >= self.valid_before:
            return f"it expired on {_date(self.valid_before)}"
        return ""


def is_certificate(key_type: str) -> bool:
    """Whether a key type is that of a certificate."""
    return key_type.endswith(SUFFIX)


def parse_certificate(blob: bytes) -> Certificate | None:
    """The certificate of a blob; None for a plain key and for damaged data."""
    try:
        return _parsed(blob)
    except (ValueError, KeyError, StopIteration, struct.error):
        return None


def read_certificate(path: Path) -> Certificate | None:
    """Return the certificate in a file from ssh-keygen; None if the file has none."""
    try:
        with path.open("rb") as file:
            words = file.read(LARGEST_FILE).split()
        return parse_certificate(base64.b64decode(words[1], validate=True))
    except (OSError, IndexError, ValueError, binascii.Error):
        return None


def _parsed(blob: bytes) -> Certificate | None:
    reader = _Reader(blob)
    cert_type = _text(reader.string())
    if not is_certificate(cert_type):
        return None
    plain = cert_type[: -len(SUFFIX)]
    nonce_end = reader.skip()
    for _ in range(_KEY_FIELDS[plain]):
        key_end = reader.skip()
    key_blob = struct.pack(">I", len(plain)) + plain.encode() + blob[nonce_end:key_end]
    reader.number(8)  # the serial
    kind = _KINDS[reader.number(4)]
    key_id = _text(reader.string())
    principals = tuple(_text(name) for name in _strings(reader.string()))
    after, before = reader.number(8), reader.number(8)
    critical = tuple(_text(name) for name in list(_strings(reader.string()))[::2])
    reader.skip()  # extensions, which clients pass over
    reader.skip()  # reserved
    ca_blob, signed = reader.string(), blob[: reader.at]
    certificate = Certificate(
        blob=blob,
        type=cert_type,
        key_blob=key_blob,
        kind=kind,
        key_id=key_id,
        principals=principals,
        valid_after=after,
        valid_before=before,
        critical=critical,
        ca_blob=ca_blob,
        signed=signed,
        signature=reader.string(),
    )
    if reader.at != len(blob) or not certificate.ca_type or not certificate.signature_type:
        raise ValueError("unexpected data after the certificate")
    return certificate


class _Reader:
    """The fields of a blob, one after the other; ValueError if it ends too early."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def number(self, size: int) -> int:
        """A number with this many bytes."""
        return int.from_bytes(self._take(size), "big")

    def string(self) -> bytes:
        """A field preceded by its length."""
        return self._take(self.number(4))

    def skip(self) -> int:
        """Skip a field; return its end."""
        self.string()
        return self.at

    def _take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._data):
            raise ValueError("the data ends too early")
        found, self.at = self._data[self.at : end], end
        return found


def _strings(data: bytes) -> Iterator[bytes]:
    reader = _Reader(data)
    while reader.at < len(data):
        yield reader.string()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _date(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"{seconds} s after 1970-01-01"
