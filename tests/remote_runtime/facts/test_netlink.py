"""How answers of the kernel are taken apart."""

import struct

import pytest

from remote_runtime.facts import netlink
from remote_runtime.system.mount_escapes import unescape


def message(kind: int, payload: bytes, sequence: int = 1, flags: int = 2) -> bytes:
    """Return one netlink message, padded as the kernel pads it."""
    head = struct.pack("=IHHII", 16 + len(payload), kind, flags, sequence, 0)
    return head + payload + bytes(-len(payload) % 4)


class Channel:
    """A netlink socket that answers with these datagrams."""

    def __init__(self, *datagrams: bytes) -> None:
        self.datagrams = list(datagrams)

    def recv(self, size: int) -> bytes:
        return self.datagrams.pop(0)


DONE = message(3, bytes(4))


def test_a_dump_over_several_datagrams() -> None:
    """A dump ends with its last message, however many datagrams it takes."""
    channel = Channel(message(16, b"one") + message(16, b"two"), message(16, b"three"), DONE)
    assert netlink.collect(channel, 1) == ([b"one", b"two", b"three"], True)


def test_answers_to_earlier_requests_are_passed_over() -> None:
    """Messages of an earlier dump do not count."""
    channel = Channel(message(16, b"old", 1) + message(3, bytes(4), 1), message(16, b"new", 2))
    channel.datagrams.append(message(3, bytes(4), 2))
    assert netlink.collect(channel, 2) == ([b"new"], True)


def test_an_interrupted_dump_is_not_whole() -> None:
    """A dump that the kernel marks as interrupted must be repeated."""
    channel = Channel(message(16, b"one", flags=0x12), DONE)
    assert netlink.collect(channel, 1) == ([b"one"], False)


def test_a_refusal_is_an_error() -> None:
    """An error message of the kernel becomes an OSError with its number."""
    channel = Channel(message(2, struct.pack("=i", -1) + bytes(16)))
    with pytest.raises(PermissionError):
        netlink.collect(channel, 1)


@pytest.mark.parametrize(
    "datagram", [b"", message(16, b"x" * 100)[:50], struct.pack("=IHHII", 8, 16, 2, 1, 0)]
)
def test_a_broken_answer_is_an_error(datagram: bytes) -> None:
    """An answer that ends early, is cut or has an impossible length is an OSError."""
    with pytest.raises(OSError, match="netlink"):
        netlink.collect(Channel(datagram), 1)


def test_attributes_stop_at_nonsense() -> None:
    """An attribute shorter than its own head ends the list instead of never ending it."""
    good = struct.pack("=HH", 5, 7) + b"x\0\0\0"
    assert netlink.attributes(good + struct.pack("=HH", 0, 8), 0) == {7: b"x"}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("/plain", "/plain"),
        ("/a\\040b\\011c\\134d", "/a b\tc\\d"),
        ("\\040", " "),
        ("/a\\04", "/a\\04"),
        ("/a\\999", "/a\\999"),
        ("/a\\777", "/a\\777"),
        ("/a\\377", "/a\udcff"),
        ("/a\\\\040", "/a\\ "),
    ],
)
def test_octal(written: str, name: str) -> None:
    """Octal escapes become the character they stand for, everything else stays."""
    assert unescape(written) == name
