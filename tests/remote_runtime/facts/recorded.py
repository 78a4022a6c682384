"""A machine that is a file: its /proc, /sys and /etc, its interfaces and its file systems."""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from remote_runtime.facts.fact_source import Source
from remote_runtime.facts.netlink import GET_ADDRESSES, GET_LINKS

MACHINES = Path(__file__).parent / "machines"
_FLAG_BITS = {"up": 1, "broadcast": 2, "loopback": 8, "pointtopoint": 16, "multicast": 0x1000}
_SPACE = ("f_frsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree")


class RecordedMachine(Source):
    """Answers from one file of ``machines/``, unpacked below ``directory``."""

    def __init__(self, recording: dict[str, Any], directory: Path) -> None:
        super().__init__(str(directory))
        self.recording = recording
        for name, text in recording["files"].items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def uname(self) -> Any:
        return SimpleNamespace(**self.recording["uname"])

    def space(self, path: str) -> Any:
        numbers = self.recording["space"].get(path)
        if numbers is None:
            raise PermissionError(13, os.strerror(13), path)
        return SimpleNamespace(**dict(zip(_SPACE, numbers)))

    def dump(self, kind: int) -> list[bytes]:
        if kind == GET_LINKS:
            return [link(**entry) for entry in self.recording["links"]]
        assert kind == GET_ADDRESSES
        return [address(**entry) for entry in self.recording["addresses"]]


@contextmanager
def unprivileged() -> Iterator[None]:
    """Be a user without privileges for a while, where the tests run as root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def load(name: str) -> dict[str, Any]:
    """Return one recording."""
    found: dict[str, Any] = yaml.safe_load((MACHINES / name).read_text())
    return found


def link(index: int, name: str, mtu: int, flags: list[str], mac: str = "") -> bytes:
    """Return what RTM_GETLINK answers for one interface."""
    bits = sum(_FLAG_BITS[word] for word in flags)
    data = struct.pack("=BxHiII", 0, 1, index, bits, 0)
    data += _attribute(3, name.encode() + b"\0")
    data += _attribute(1, bytes.fromhex(mac.replace(":", "")) if mac else bytes(6))
    return data + _attribute(4, struct.pack("=I", mtu))


def address(index: int, addr: str, peer: str = "", flags: int = 0) -> bytes:
    """Return what RTM_GETADDR answers for one address."""
    text, _, prefix = addr.partition("/")
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    data = struct.pack("=BBBBI", family, int(prefix), flags & 0xFF, 0, index)
    packed = socket.inet_pton(family, text)
    if peer:
        data += _attribute(1, socket.inet_pton(family, peer)) + _attribute(2, packed)
    elif family == socket.AF_INET:
        data += _attribute(1, packed) + _attribute(2, packed)
    else:
        data += _attribute(1, packed)
    return data + _attribute(8, struct.pack("=I", flags))


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", len(value) + 4, kind) + value + bytes(-len(value) % 4)
