"""The lines before the frames, with a host that is a list of what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.transport.command_pipe import STDERR_TAIL, Link, readable
from orchestrator.transport.handshake import MAX_LINE, MAX_NOISE, Handshake
from orchestrator.transport.password import Password
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.fakes import image
from tests.texts import expect_text

Said = tuple[bytes, bytes] | None


class Script:
    """A pipe that says one piece after another; None is a pause."""

    def __init__(self, *said: Said, status: int | None = None) -> None:
        self.last_error = list(said)
        self.status = status
        self.written = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written += data

    def read(self, timeout: float) -> tuple[bytes, bytes]:
        piece = self.last_error.pop(0) if self.last_error else (b"", b"")
        if piece is None:
            raise TimeoutError
        return piece

    def exit_status(self) -> int | None:
        return self.status

    def close(self) -> None:
        self.closed = True


def opening(tmp_path: Path, script: Script, timeout: float = 5.0) -> Link:
    return Handshake("web1", script, nonce="abc", image=image(tmp_path), timeout=timeout).link()


def failure(tmp_path: Path, script: Script, timeout: float = 5.0) -> UnreachableError:
    with pytest.raises(UnreachableError) as caught:
        opening(tmp_path, script, timeout)
    assert script.closed
    return caught.value


def test_noise_before_the_line_is_passed_over(tmp_path: Path) -> None:
    """Banners, other nonces and a line cut in pieces do no harm; what follows is the runtime's."""
    script = Script(
        (b"Welcome!\nccm1 zzz ready\nno newline ccm1 a", b"motd"),
        (b"bc rea", b""),
        (b"dy \n\x00\x01", b""),
        (b"more", b"err"),
    )
    link = opening(tmp_path, script)
    assert link.receive(1) == b"\x00\x01"
    assert link.receive(1) == b"more"
    assert link.stderr_tail() == "motderr"


@pytest.mark.parametrize("what", ["zip", "code"])
def test_what_is_needed_is_sent_with_its_length(tmp_path: Path, what: str) -> None:
    """Eight bytes of length, big-endian, and the bytes."""
    script = Script((f"ccm1 abc need {what}\n".encode(), b""), (b"ccm1 abc ready \n", b""))
    made = image(tmp_path)
    opening(tmp_path, script)
    data = made.archive if what == "zip" else made.code
    assert script.written == len(data).to_bytes(8, "big") + data


def test_the_image_is_sent_once_only(tmp_path: Path) -> None:
    """A host that asks again and again is not served."""
    line = (b"ccm1 abc need zip\n", b"")
    expect_text(str(failure(tmp_path, Script(line, line))))


@pytest.mark.parametrize("line", [b"ccm1 abc sing \n", b"ccm1 abc need money\n"])
def test_an_unknown_line_is_refused(tmp_path: Path, line: bytes) -> None:
    """Only the four statuses exist."""
    assert failure(tmp_path, Script((line, b""))).kind == "transport.bootstrap"


def test_noise_without_end_is_bounded(tmp_path: Path) -> None:
    """A host that floods is given up after 64 KiB."""
    flood = [(b"x" * 10_000, b"")] * 100
    script = Script(*flood)
    expect_text(str(failure(tmp_path, script)))
    assert len(script.last_error) > 100 - MAX_NOISE // 10_000 - 2


def test_a_line_without_end_is_bounded(tmp_path: Path) -> None:
    """The line with our nonce must end."""
    script = Script((b"ccm1 abc " + b"x" * (MAX_LINE + 1), b""))
    expect_text(str(failure(tmp_path, script)))


def test_silence_is_bounded(tmp_path: Path) -> None:
    """A host that says nothing is given up."""
    error = failure(tmp_path, Script(*[None] * 100000), timeout=0.05)
    expect_text(str(error))


def test_a_sudo_that_stalls_at_the_password_is_named(tmp_path: Path) -> None:
    """A password that was given and never answered is told as that, without the password."""
    script = Script((b"", b"ask:"), *[None] * 1_000_000)
    password = Password("the sudo password", "transport.become", lambda: "s3cret")
    attempt = Handshake(
        "web1",
        script,
        nonce="abc",
        image=image(tmp_path),
        prompt="ask:",
        password=password,
        timeout=0.05,
    )
    with pytest.raises(UnreachableError) as caught:
        attempt.link()
    expect_text(caught.value)
    assert (caught.value.kind, script.written) == ("transport.become", b"s3cret\n")
    assert "s3cret" not in str(caught.value)


def test_an_early_end_shows_status_and_reason(tmp_path: Path) -> None:
    """The tail of stderr is in the message, without anything a terminal would act upon."""
    script = Script((b"", b"\x1b[31mbash: /bin/sh: gone\x07\n"), status=127)
    error = failure(tmp_path, script)
    expect_text(str(error))
    assert "bash: /bin/sh: gone" in str(error)
    assert "\x1b" not in str(error)


@pytest.mark.parametrize(
    ("err", "status"),
    [
        (b"ccm: 1: 1: Invalid argument\n", 1),
        (b"Killed\n", 137),
        (b"", 153),
        (b"sh: 1: Cannot fork\n", 2),
        (b"MemoryError\n", 1),
    ],
)
def test_a_limit_of_the_host_is_named(tmp_path: Path, err: bytes, status: int) -> None:
    """Where a limit there ended it, the error says where to look."""
    assert "ulimit -a" in failure(tmp_path, Script((b"", err), status=status)).hint


def test_an_end_without_a_word_says_so(tmp_path: Path) -> None:
    """No reason is told where none was given, but what to look at is."""
    expect_text(failure(tmp_path, Script(status=1)).hint)


def test_a_host_without_sudo_is_told(tmp_path: Path) -> None:
    """A missing sudo is named as such."""
    error = failure(tmp_path, Script((b"", b"sudo: not found\n"), status=127))
    assert (error.kind, "sudo is not installed on web1" in str(error)) == ("transport.become", True)


def test_a_login_that_is_not_possible_is_told(tmp_path: Path) -> None:
    """nologin's sentence becomes ours."""
    script = Script((b"This account is currently not available.\n", b""), status=1)
    error = failure(tmp_path, script)
    assert error.kind == "transport.login"


def test_the_text_of_a_fault_is_made_harmless(tmp_path: Path) -> None:
    """A host's words cannot move the cursor."""
    error = failure(tmp_path, Script((b"ccm1 abc fault \x1b[2Jboom\n", b"")))
    assert "boom" in str(error)
    assert "\x1b" not in str(error)


def test_stderr_is_kept_in_bounds(tmp_path: Path) -> None:
    """Only the end of a long stderr is held."""
    script = Script((b"ccm1 abc ready \n", b""), *[(b"", b"e" * 8000)] * 10, (b"x", b"end"))
    link = opening(tmp_path, script)
    assert link.receive(1) == b"x"
    assert len(link.stderr_tail()) == STDERR_TAIL
    assert link.stderr_tail().endswith("end")


def test_a_flood_of_stderr_does_not_outlast_the_timeout(tmp_path: Path) -> None:
    """Standard error is no answer, so a host that writes nothing else is silent."""

    class Flood(Script):
        def read(self, timeout: float) -> tuple[bytes, bytes]:
            return super().read(timeout) if self.last_error else (b"", b"x" * 1024)

    link = opening(tmp_path, Flood((b"ccm1 abc ready \n", b"")))
    with pytest.raises(TimeoutError):
        link.receive(0.05)


def test_readable_text_has_no_control_characters() -> None:
    """Escape sequences, bell, backspace, carriage return and bidi marks go; letters stay."""
    assert readable("a\x1b[0mb\x07\x08\r\u202ec\u00e4".encode()) == "abcä"
