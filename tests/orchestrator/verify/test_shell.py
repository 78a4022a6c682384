"""Commands over one channel: exact answers, bounds, and a host that answers nonsense."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from orchestrator.transport import Link
from orchestrator.verify import shell_server
from orchestrator.verify.shell import MAX_OUTPUT, Shell
from remote_runtime.errors import ProtocolError, UnreachableError
from tests.lab.interpreters import find_interpreter
from tests.orchestrator.verify.fakes import local_shell
from tests.texts import expect_text

VERSIONS = ["3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    opened = local_shell(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Shell]:
    """One whose commands may take 4 s."""
    opened = local_shell(tmp_path, timeout=4.0)
    yield opened
    opened.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_of_a_target_answers(version: str, tmp_path: Path) -> None:
    """The program that answers runs on each Python that a target may have."""
    home = find_interpreter(version)
    if home is None:
        pytest.skip(f"this machine has no Python {version}")
    shell = local_shell(tmp_path, python=str(home / "bin" / f"python{version}"))
    answers = [shell.run(b"echo out; echo err >&2; exit 3"), *shell.read_all([b"true", b"false"])]
    shell.close()
    assert answers[0][:3] == (3, b"out\n", b"err\n")
    assert [answer.code for answer in answers[1:]] == [0, 1]


@pytest.mark.parametrize("together", [False, True])
def test_bytes_arrive_as_they_were_written(shell: Shell, together: bool) -> None:
    """NUL, invalid UTF-8 and a missing newline pass on either stream, by itself and in a batch."""
    command = rb"printf 'a\0\377\nb'; printf '\376\n\n' >&2; exit 7"
    answers = shell.read_all([command, b"echo x"]) if together else [shell.run(command)]
    assert answers[0][:3] == (7, b"a\0\xff\nb", b"\xfe\n\n")


def test_a_batch_keeps_its_commands_apart(shell: Shell) -> None:
    """Neither an exit, a variable, a directory nor a syntax error reaches the next command."""
    commands = [b"exit 5", b"x=1; cd / # )", b"echo [$x]; pwd >&2", b"if (", b"cat", b"kill -9 $$"]
    answers = shell.read_all([*commands, b"echo end"])
    assert [answer.code for answer in answers[:3]] == [5, 0, 0]
    assert answers[2].out == b"[]\n"
    assert answers[2].err != b"/\n"
    assert answers[3].code == 2
    assert answers[4][:2] == (0, b"")
    assert answers[6].out == b"end\n"


@pytest.mark.parametrize("odd", [b"if (", b") (", b"exit 3; }", b"cat <<x", b"echo '"])
def test_a_command_that_is_no_shell_is_told_by_itself(shell: Shell, odd: bytes) -> None:
    """Whatever it does to the text around it, its neighbours get their own answers."""
    answers = shell.read_all([b"echo a", odd, b"echo b"])
    assert [answers[0].out, answers[2].out] == [b"a\n", b"b\n"]
    assert answers[1] == shell.run(odd)


def test_more_commands_than_a_batch_holds_are_answered_in_order(shell: Shell) -> None:
    """Hundreds of commands, and a very long one among them, keep their order."""
    commands = [f"echo {n}".encode() for n in range(200)]
    commands.insert(100, b"echo " + b"x" * 70_000)
    answers = shell.read_all(commands)
    assert answers[100].out == b"x" * 70_000 + b"\n"
    del answers[100]
    assert [answer.out for answer in answers] == [b"%d\n" % n for n in range(200)]


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(
    impatient: Shell, tmp_path: Path
) -> None:
    """Its children die with it, the reason is told, and the next command runs."""
    began = time.monotonic()
    answer = impatient.run(f"(sleep 6; touch {tmp_path}/late) & sleep 600".encode())
    assert "timed out after 4 s" in answer.killed
    assert impatient.run(b"echo next").out == b"next\n"
    time.sleep(max(0.0, began + 7 - time.monotonic()))
    assert not (tmp_path / "late").exists()


def test_a_slow_command_of_a_batch_is_told_by_itself(impatient: Shell) -> None:
    """Those beside it get their answers."""
    answers = impatient.read_all([b"echo a", b"sleep 600", b"echo b"])
    assert [answer.out for answer in answers] == [b"a\n", b"", b"b\n"]
    assert [bool(answer.killed) for answer in answers] == [False, True, False]


def test_a_host_on_which_commands_time_out_is_not_asked_on(tmp_path: Path) -> None:
    """After three of them nothing more is waited for; what was answered before stays."""
    shell = local_shell(tmp_path, timeout=2.0)
    answers = shell.read_all([b"echo a", *[b"sleep 600"] * 4, b"echo b"])
    assert answers[0].out == b"a\n"
    assert [answer.killed for answer in answers[1:4]] == ["timed out after 2 s"] * 3
    later = [*answers[4:], *shell.read_all([b"echo c"]), shell.run(b"echo d")]
    assert {answer.killed for answer in later} == {
        "was not run because 3 commands on this host timed out"
    }
    assert [answer.out for answer in later] == [b""] * 4
    shell.close()


def test_output_is_bounded(shell: Shell) -> None:
    """A command that writes without end is ended, and said to have been."""
    answer = shell.run(b"yes")
    assert len(answer.out) <= MAX_OUTPUT
    expect_text(answer.killed)
    assert shell.run(b"echo next").out == b"next\n"


def test_a_daemon_keeps_nobody_waiting(shell: Shell) -> None:
    """What holds the command's pipes open is waited for a moment, and lives on."""
    answer = shell.run(b"sleep 1.8 & echo started")
    assert answer[:2] == (0, b"started\n")
    assert shell.run(b"echo next").out == b"next\n"


def test_a_closed_shell_ends_what_runs(tmp_path: Path) -> None:
    """The host's side notices the end of the channel, and a later command is refused."""
    shell = local_shell(tmp_path)
    shell.run(f"(sleep 1; touch {tmp_path}/alive) >/dev/null 2>&1 & echo".encode())
    shell.close()
    with pytest.raises(UnreachableError, match="was closed"):
        shell.run(b"true")


class Wire:
    """A link whose other side says what the test wants."""

    def __init__(self, said: bytes) -> None:
        self._said = said
        self.closed = False

    def send(self, data: bytes) -> None:
        pass

    def receive(self, timeout: float) -> bytes:
        said, self._said = self._said, b""
        return said

    def close(self) -> None:
        self.closed = True


def shell_on(wire: Wire) -> Shell:
    """A shell over what stands in for a link."""
    return Shell("web1", cast(Link, wire), 1.0)


@pytest.mark.parametrize(
    "said",
    [
        shell_server.ANSWER.pack(0, 9, 0, 0),
        shell_server.ANSWER.pack(0, 0, MAX_OUTPUT + 1, 0),
        shell_server.ANSWER.pack(0, 0, 0, 0xFFFFFFFF),
    ],
)
def test_an_answer_that_cannot_be_is_refused(said: bytes) -> None:
    """A host cannot make the controller wait for gigabytes; its channel is closed."""
    wire = Wire(said)
    shell = shell_on(wire)
    with pytest.raises(ProtocolError):
        shell.run(b"true")
    assert wire.closed
    with pytest.raises(UnreachableError) as refused:
        shell.run(b"true")
    expect_text(refused.value)


class Torrent(Wire):
    """A link whose other side answers each command with all that one may."""

    def receive(self, timeout: float) -> bytes:
        return shell_server.ANSWER.pack(0, 0, MAX_OUTPUT, 0) + bytes(MAX_OUTPUT)


def test_answers_are_bounded_together() -> None:
    """A host cannot fill the controller's memory with many answers that are all large."""
    wire = Torrent(b"")
    with pytest.raises(ProtocolError):
        shell_on(wire).read_all([b"true"] * 100)
    assert wire.closed


class Wall(Wire):
    """A link that takes no bytes until it is closed."""

    def __init__(self) -> None:
        super().__init__(b"")
        self._shut = threading.Event()

    def send(self, data: bytes) -> None:
        self._shut.wait(600)
        raise UnreachableError("the connection was lost", "transport.lost")

    def close(self) -> None:
        self._shut.set()


def test_a_host_that_takes_no_bytes_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot keep a verify waiting by not reading what it is asked."""
    monkeypatch.setattr("orchestrator.verify.shell.ANSWER_TIMEOUT", 0.1)
    with pytest.raises(UnreachableError) as refused:
        shell_on(Wall()).run(b"true")
    expect_text(refused.value)


def test_a_host_that_hangs_up_is_lost(tmp_path: Path) -> None:
    """Half an answer is none."""
    shell = shell_on(Wire(struct.pack(">i", 0)))
    with pytest.raises(UnreachableError) as refused:
        shell.run(b"true")
    expect_text(refused.value)


class Sluggish(Wire):
    """A link whose other side reports that each command timed out, and counts them."""

    answers = 0

    def receive(self, timeout: float) -> bytes:
        self.answers += 1
        return shell_server.ANSWER.pack(-9, shell_server.TIMED_OUT, 0, 0)


def test_a_host_that_only_reports_timeouts_is_hung_up_on() -> None:
    """However many commands it has, it costs the time of three."""
    wire = Sluggish(b"")
    shell = shell_on(wire)
    answers = [*shell.read_all([b"true"] * 500), *shell.read_all([b"true"] * 500)]
    assert (len(answers), wire.answers, wire.closed) == (1000, 3, True)


class Silent(Wire):
    """A link whose other side answers nothing, and how often that was waited for."""

    waits = 0

    def receive(self, timeout: float) -> bytes:
        self.waits += 1
        raise TimeoutError


def test_a_silent_host_is_waited_for_once() -> None:
    """The first command without an answer loses the host."""
    wire = Silent(b"")
    shell = shell_on(wire)
    for _ in range(2):
        with pytest.raises(UnreachableError) as refused:
            shell.read_all([b"true"] * 500)
        expect_text(refused.value)
    assert (wire.waits, wire.closed) == (1, True)
