"""What paramiko reads and writes of a connection, between two ends of a socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.transport.ssh_packets import (
    IDLE_SIZE,
    LARGEST_PACKET,
    MAX_READ,
    READ_SIZE,
    OversizeError,
    Packets,
)
from orchestrator.transport.ssh_transport import EagerTransport


class Counted(socket.socket):
    """A socket that counts how often it is read and written, and for how many bytes at most."""

    reads = writes = 0
    sizes: tuple[int, ...] = ()

    def recv(self, *arguments: Any) -> bytes:
        self.reads += 1
        self.sizes += (arguments[0],)
        return super().recv(*arguments)

    def send(self, *arguments: Any) -> int:
        self.writes += 1
        return super().send(*arguments)


@pytest.fixture
def ends() -> Iterator[tuple[Counted, socket.socket]]:
    here, there = socket.socketpair()
    counted = Counted(here.family, here.type, fileno=here.detach())
    counted.settimeout(0.01)
    there.settimeout(30)
    with counted, there:
        yield counted, there


def test_what_has_arrived_together_is_read_at_once(ends: tuple[Counted, socket.socket]) -> None:
    here, there = ends
    packets = Packets(here)
    there.sendall(b"abcdefgh")
    assert [packets.read_all(4), packets.read_all(1), packets.read_all(3)] == [
        b"abcd",
        b"e",
        b"fgh",
    ]
    assert here.reads == 1


def test_what_comes_in_pieces_is_waited_for(ends: tuple[Counted, socket.socket]) -> None:
    here, there = ends
    packets = Packets(here)
    there.sendall(b"ab")
    late = threading.Timer(0.1, there.sendall, [b"cd"])  # ten times the timeout of the socket
    late.start()
    assert packets.read_all(4) == b"abcd"
    late.join()


def test_a_server_that_says_nothing_is_noticed(ends: tuple[Counted, socket.socket]) -> None:
    here, _ = ends
    with pytest.raises(TimeoutError):
        Packets(here).readline(0.05)


def test_an_end_is_an_end(ends: tuple[Counted, socket.socket]) -> None:
    here, there = ends
    packets = Packets(here)
    there.sendall(b"ab")
    there.shutdown(socket.SHUT_WR)
    with pytest.raises(EOFError):
        packets.read_all(4)


def test_what_is_held_leaves_in_one_piece(ends: tuple[Counted, socket.socket]) -> None:
    here, there = ends
    packets = Packets(here)
    packets.hold()
    packets.write_all(b"ab")
    packets.hold()
    packets.write_all(b"cd")
    assert here.writes == 0
    packets.let_go()
    packets.write_all(b"ef")
    assert here.writes == 2
    assert there.recv(4, socket.MSG_WAITALL) == b"abcd"
    assert there.recv(2, socket.MSG_WAITALL) == b"ef"


def test_a_peer_that_reads_slowly_gets_everything(ends: tuple[Counted, socket.socket]) -> None:
    here, there = ends
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    data = bytes(range(256)) * 4096
    packets = Packets(here)
    packets.be_patient(30)
    writing = threading.Thread(target=packets.write_all, args=[data])
    writing.start()
    writing.join(0.1)  # ten times the timeout of the socket
    assert writing.is_alive()
    found = b""
    while len(found) < len(data):
        found += there.recv(len(data))
    assert found == data
    writing.join()


def test_a_peer_that_takes_nothing_is_given_up(ends: tuple[Counted, socket.socket]) -> None:
    here, _ = ends
    with pytest.raises(EOFError):
        Packets(here).write_all(bytes(8 << 20))


def test_a_peer_that_is_given_up_is_told_nothing_more(ends: tuple[Counted, socket.socket]) -> None:
    """Part of a packet may have left; who reads sees the end, too."""
    here, _ = ends
    packets = Packets(here)
    packets.be_patient(0.0)
    with pytest.raises(EOFError):
        packets.write_all(bytes(8 << 20))
    with pytest.raises(EOFError):
        packets.read_all(1)


def test_a_login_lets_a_server_take_its_time(ends: tuple[Counted, socket.socket]) -> None:
    """paramiko sets a timeout of its own on the socket, which is for its thread."""
    here, there = ends
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    session = EagerTransport(here, 30)
    writing = threading.Thread(target=session.packetizer.write_all, args=[bytes(1 << 20)])
    writing.start()
    writing.join(4.0)  # of these it is 1 second
    assert writing.is_alive()
    left = 1 << 20
    while left:
        left -= len(there.recv(left))
    writing.join()


def test_packets_are_bounded(ends: tuple[Counted, socket.socket]) -> None:
    here, _ = ends
    with pytest.raises(OversizeError):
        Packets(here).read_all(LARGEST_PACKET + 1)


def test_who_waits_for_long_holds_little(ends: tuple[Counted, socket.socket]) -> None:
    """What is made for the bytes to come is large where they come at once only."""
    here, there = ends
    packets = Packets(here)
    late = threading.Timer(0.1, there.sendall, [b"a" * 2000])
    late.start()
    assert packets.read_all(2000) == b"a" * 2000
    late.join()
    assert (here.sizes[0], here.sizes[1], here.sizes[-1]) == (READ_SIZE, IDLE_SIZE, MAX_READ)
