"""A connection between two ends of a socket."""

from __future__ import annotations

import contextlib
import gc
import itertools
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import paramiko
import pytest
from paramiko.common import (
    AUTH_SUCCESSFUL,
    MSG_REQUEST_FAILURE,
    cMSG_CHANNEL_DATA,
    cMSG_GLOBAL_REQUEST,
    cMSG_IGNORE,
)

from orchestrator.transport import ssh_packets, ssh_pipe
from orchestrator.transport.ssh_pipe import SshPipe
from orchestrator.transport.ssh_transport import BROKEN, WINDOW, EagerTransport
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.rude import Door, Rude
from tests.texts import expect_text

StartRude = Callable[..., Rude]


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    there.settimeout(30)
    with here, there:
        yield here, there


@pytest.fixture
def rude(tmp_path: Path) -> Iterator[StartRude]:
    made: list[Rude] = []

    def start(**options: int) -> Rude:
        made.append(Rude(tmp_path, **options))
        return made[-1]

    yield start
    for one in made:
        one.end()


def test_no_cipher_is_offered_that_the_library_lacks() -> None:
    """paramiko 3.4 has no AES-GCM, which most servers would choose."""
    program = (
        "from paramiko import Transport as old\n"
        "for name in [name for name in old._cipher_info if 'gcm' in name]:\n"
        "    del old._cipher_info[name]\n"
        "from orchestrator.transport.ssh_transport import EagerTransport\n"
        "print(*EagerTransport._preferred_ciphers)"
    )
    offered = subprocess.run(
        [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()
    assert offered == ["aes128-ctr", "aes192-ctr", "aes256-ctr"]


def test_a_server_that_says_nothing_is_waited_for_as_long_as_said(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    here, there = ends
    session = EagerTransport(here, 30)
    session.start_client(timeout=0.05)
    assert there.recv(8).startswith(b"SSH-2.0-")
    assert session.is_alive()
    with pytest.raises(paramiko.SSHException) as refused:
        session.get_remote_server_key()
    expect_text(refused.value)
    session.hang_up()
    session.join(30)
    assert not session.is_alive()


def test_a_channel_closes_though_its_connection_is_gone(rude: StartRude) -> None:
    """Closing a channel whose connection is gone already is no error."""
    one = rude()
    pipe = SshPipe(one.session, one.opened, one.opened.close)
    one.hang_up()
    pipe.close()
    pipe.close()
    assert one.opened.closed


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n" * 200, b"SSH-1.5-old\r\n", b""])
def test_what_is_no_ssh_is_told(ends: tuple[socket.socket, socket.socket], said: bytes) -> None:
    here, there = ends
    there.sendall(said)
    there.shutdown(socket.SHUT_WR)
    session = EagerTransport(here, 30)
    with pytest.raises((paramiko.SSHException, EOFError)):
        session.start_client(timeout=30)
    session.join(30)
    assert not session.is_alive()
    assert not session.active


def test_another_thread_ends_a_wait(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    told: list[Exception] = []
    made: list[EagerTransport] = []

    def negotiate() -> None:
        session = EagerTransport(here, 30)
        made.append(session)
        try:
            session.start_client(timeout=30)
        except BROKEN as error:
            told.append(error)

    waiting = threading.Thread(target=negotiate)
    waiting.start()
    assert there.recv(8).startswith(b"SSH-2.0-")  # it has begun
    made[0].hang_up()
    waiting.join(30)
    assert len(told) == 1
    made[0].join(30)
    assert not made[0].is_alive()


def test_the_thread_of_a_connection_ends_at_once(ends: tuple[socket.socket, socket.socket]) -> None:
    """It waits for the server for a second at a time, and hundreds of hosts end one by one."""
    session = EagerTransport(ends[0], 30)
    session._active_check_timeout = 60.0
    session.start_client(timeout=0.05)
    session.hang_up()
    session.join(5)
    assert not session.is_alive()


def test_nothing_is_left_of_a_connection_that_ended(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    """Not even for as long as it takes Python to look for what refers to each other."""
    here, _ = ends
    gc.disable()
    try:
        session = EagerTransport(here, 30)
        session.start_client(timeout=0.05)
        session.hang_up()
        session.join(30)
        left = weakref.ref(session)
        del session
        assert left() is None
    finally:
        gc.enable()


def test_a_login_is_given_its_time_whatever_the_clock_is_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of a machine may be set by hours while hosts are being logged in to."""
    hours = itertools.count()
    passing = types.SimpleNamespace(time=lambda: 3600.0 * next(hours), monotonic=time.monotonic)
    monkeypatch.setattr(paramiko.auth_handler, "time", passing)
    slow = threading.Event()
    monkeypatch.setattr(Door, "check_auth_password", lambda *_: slow.wait(0.3) or AUTH_SUCCESSFUL)
    one = Rude(tmp_path)
    try:
        assert one.session.is_authenticated()
    finally:
        one.end()


def test_a_packet_of_no_known_kind_is_told_as_any_break(rude: StartRude) -> None:
    one = rude()
    message = paramiko.Message()
    message.add_byte(bytes([192]))
    one.say(message)
    assert one.pipe.read(30) == (b"", b"")
    error = one.session.get_exception()
    assert isinstance(error, BROKEN)
    expect_text(str(error))


def _say_nothing_at_length(one: Rude) -> None:
    """Two MiB of what a server may send at any time and nobody looks at; less if they hang up."""
    message = paramiko.Message()
    message.add_byte(cMSG_IGNORE)
    message.add_string(bytes(30_000))
    with contextlib.suppress(EOFError, OSError):
        for _ in range(70):
            one.say(message)


def test_a_server_that_goes_on_about_nothing_is_given_up(
    rude: StartRude, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would keep a core of the controller busy for as long as it likes."""
    monkeypatch.setattr(ssh_packets, "MAX_IDLE", 1 << 20)
    one = rude()
    talking = threading.Thread(target=_say_nothing_at_length, args=(one,))
    talking.start()
    assert one.pipe.read(30) == (b"", b"")
    error = one.session.get_exception()
    one.end()
    talking.join(30)
    assert isinstance(error, BROKEN)
    assert "without content" in str(error)


def test_what_a_command_says_and_hears_may_be_any_amount(
    rude: StartRude, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What carries it is not held against the server."""
    monkeypatch.setattr(ssh_packets, "MAX_IDLE", 1 << 18)
    one, size = rude(), 4 << 20

    def answer() -> None:
        received = 0
        while received < size:
            received += len(one.far.recv(1 << 20))
        one.far.sendall(bytes(size))

    answering = threading.Thread(target=answer)
    answering.start()
    one.pipe.write(bytes(size))
    received = 0
    while received < size:
        received += len(one.pipe.read(30)[0])
    answering.join(30)
    assert received == size


def test_what_is_sent_is_not_copied_with_each_packet(rude: StartRude) -> None:
    """What is left to send is a view, because a runtime is 40 packets."""

    class Uncopied(bytes):
        def __getitem__(self, key: object) -> NoReturn:
            pytest.fail(f"copied: {key}")

    one = rude()
    one.pipe.write(Uncopied(b"x" * 100_000))
    received = b""
    while len(received) < 100_000:
        received += one.far.recv(1 << 20)
    assert received == b"x" * 100_000


def test_what_comes_without_having_been_asked_for_is_not_held(rude: StartRude) -> None:
    """The server takes nothing, so that the thread which would read waits for that."""
    one = rude(window=1 << 15)
    message = paramiko.Message()
    message.add_byte(cMSG_CHANNEL_DATA)
    message.add_int(one.opened.chanid)
    message.add_string(b"x" * 30_000)

    def flood() -> None:
        try:
            for _ in range(10 * WINDOW // 30_000):
                one.say(message)
        except EOFError:
            pass

    flooding = threading.Thread(target=flood)
    flooding.start()
    with pytest.raises(UnreachableError):
        one.pipe.write(b"y" * (1 << 20))
    flooding.join(30)
    assert len(one.opened.in_buffer) <= 3 * WINDOW
    error = one.session.get_exception()
    assert error is not None
    expect_text(str(error))


def test_what_was_read_is_not_held_until_more_comes(rude: StartRude) -> None:
    """That may take hours, and hundreds of connections wait."""
    one = rude()
    message = paramiko.Message()
    message.add_byte(cMSG_CHANNEL_DATA)
    message.add_int(one.opened.chanid)
    message.add_string(b"x" * 30_000)
    message.asbytes()  # it holds a copy from now on
    tracemalloc.start()
    try:
        one.say(message)
        left = 30_000
        while left:
            left -= len(one.pipe.read(30)[0])
        assert tracemalloc.get_traced_memory()[0] < 20_000
    finally:
        tracemalloc.stop()


@contextlib.contextmanager
def _asking_in_vain(one: Rude) -> Iterator[None]:
    """Have the server ask without end and take no answer; hang up after 30 s."""
    over = threading.Event()
    one.server._handler_table = {  # type: ignore[attr-defined]  # the stubs lack private members
        **one.server._handler_table,  # type: ignore[attr-defined]  # the stubs lack private members
        MSG_REQUEST_FAILURE: lambda message: over.wait(60),
    }
    message = paramiko.Message()
    message.add_byte(cMSG_GLOBAL_REQUEST)
    message.add_string("keepalive@openssh.com")
    message.add_boolean(True)

    def flood() -> None:
        with contextlib.suppress(EOFError, OSError):
            while not over.is_set():
                one.say(message)

    flooding = threading.Thread(target=flood)
    flooding.start()
    late = threading.Timer(30, one.close)
    late.start()
    try:
        yield
        assert late.is_alive(), "it took 30 s"
    finally:
        late.cancel()
        over.set()
        one.end()
        flooding.join(30)


def test_a_server_that_asks_and_takes_no_answer_holds_nobody_up(rude: StartRude) -> None:
    one = rude()
    began = time.monotonic()
    with _asking_in_vain(one):
        while time.monotonic() < began + 3:  # by then its buffers are full
            try:
                assert one.pipe.read(0.5) == (b"", b"")
                break  # it was hung up on
            except TimeoutError:
                continue


def test_a_server_that_takes_no_answer_holds_no_reader_of_its_output_up(
    rude: StartRude, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever takes output tells the server that there is room for more."""
    monkeypatch.setattr(ssh_pipe, "SILENCE", 2.0)
    one = rude()
    one.far.sendall(bytes(WINDOW // 2))
    with _asking_in_vain(one):
        while one.session.packetizer._stream._stuck_since is None:
            time.sleep(0.01)
        taken = bytearray()
        while (output := one.pipe.read(30)) != (b"", b""):
            taken += output[0]
    assert taken
    assert not one.session.active, "it is hung up on"
