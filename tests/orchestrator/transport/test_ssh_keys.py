"""An agent that does not answer, or late."""

from __future__ import annotations

import contextlib
import shutil
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paramiko
import pytest

from orchestrator.transport import ssh_keys
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.conftest import Connect
from tests.orchestrator.transport.fakes import Phases
from tests.orchestrator.transport.sshd import Sshd, make_key

LATEST = 3600.0  # seconds that nobody waits
LIST, LISTED, SIGN, SIGNED = 11, 12, 13, 14


class Agent:
    """Has one key, and signs nothing before ``may_sign`` is set."""

    def __init__(self, path: Path, key: Path) -> None:
        self.may_sign = threading.Event()
        self.hangs_up = False
        self.asked: list[int] = []
        self.key = paramiko.Ed25519Key.from_private_key_file(str(key))
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        stream = connection.makefile("rwb")
        with contextlib.suppress(OSError, struct.error):
            while True:
                (size,) = struct.unpack(">I", stream.read(4))
                answer = self._answer(paramiko.Message(stream.read(size))).asbytes()
                if self.hangs_up and self.asked[-1] == SIGN:
                    connection.shutdown(socket.SHUT_RDWR)
                    return
                stream.write(struct.pack(">I", len(answer)) + answer)
                stream.flush()

    def _answer(self, question: paramiko.Message) -> paramiko.Message:
        kind = question.get_byte()[0]
        self.asked.append(kind)
        answer = paramiko.Message()
        if kind == LIST:
            answer.add_byte(bytes([LISTED]))
            answer.add_int(1)
            answer.add_string(self.key.asbytes())
            answer.add_string("the only one")
            return answer
        question.get_binary()
        self.may_sign.wait(LATEST)
        answer.add_byte(bytes([SIGNED]))
        answer.add_string(self.key.sign_ssh_data(question.get_binary()).asbytes())
        return answer

    def close(self) -> None:
        self.may_sign.set()
        self._socket.close()


@pytest.fixture
def agent(sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    """The agent of the environment, which has the key that lets in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    made = Agent(tmp_path / "agent", sshd.user_key)
    yield made
    made.close()


def refusal(connector: Any, host: Any, until: float | None = None) -> UnreachableError:
    with pytest.raises(UnreachableError) as caught:
        connector.open(host, Phases(), until)
    return caught.value


def test_an_agent_signs(agent: Agent, sshd: Sshd, connect: Connect) -> None:
    """One that answers lets in."""
    agent.may_sign.set()
    connect().open(sshd.host(key_file=None), Phases()).close()
    assert agent.asked == [LIST, SIGN]


def test_an_agent_that_does_not_answer_is_asked_once(
    agent: Agent, sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says too late is the answer to nothing; the hosts are told whose fault it is."""
    monkeypatch.setattr(ssh_keys, "AGENT_TIMEOUT", 0.5)
    connector, host = connect(), sshd.host(key_file=None)
    error = refusal(connector, host)
    assert error.kind == "transport.auth"
    assert error.message.count("did not respond within 0.5 s") == 1
    assert "whether it is waiting for" in error.hint
    agent.may_sign.set()
    error = refusal(connector, host)
    assert "did not respond within 0.5 s" in error.message
    assert agent.asked == [LIST, SIGN]


def test_an_agent_that_hangs_up_is_told_as_such(agent: Agent, sshd: Sshd, connect: Connect) -> None:
    """It is nobody's refusal."""
    agent.hangs_up = True
    agent.may_sign.set()
    error = refusal(connect(), sshd.host(key_file=None))
    assert (error.kind, error.message.endswith("/agent closed the connection")) == (
        "transport.auth",
        True,
    )
    assert "why the agent ended" in error.hint


def test_other_keys_are_tried_without_it(
    agent: Agent, sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its silence keeps nobody from the keys of files."""
    monkeypatch.setattr(ssh_keys, "AGENT_TIMEOUT", 0.5)
    agent.key = paramiko.Ed25519Key.from_private_key_file(str(make_key(tmp_path / "strange")))
    (tmp_path / ".ssh").mkdir()
    shutil.copy(sshd.user_key, tmp_path / ".ssh" / "id_ed25519")
    connect().open(sshd.host(key_file=None), Phases()).close()
    assert agent.asked == [LIST, SIGN]


def test_an_agent_is_waited_for_as_long_as_the_host_has_time(
    agent: Agent, sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own bound is longer, and holds up no other host that has none of its keys."""
    monkeypatch.setattr(ssh_keys, "AGENT_TIMEOUT", LATEST)
    connector = connect()
    for _ in range(2):
        until = time.monotonic() + 1.0
        error = refusal(connector, sshd.host(key_file=None), until)
        assert time.monotonic() >= until - 0.05
        assert error.kind == "transport.silent"
    assert agent.asked == [LIST, SIGN]


def test_an_agent_signs_for_a_host_whose_time_is_bounded(
    agent: Agent, sshd: Sshd, connect: Connect
) -> None:
    """What it signs is sent, and the answer read."""
    agent.may_sign.set()
    connect().open(sshd.host(key_file=None), Phases(), time.monotonic() + 20).close()
    assert agent.asked == [LIST, SIGN]
