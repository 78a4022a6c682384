"""From a started command to a ready runtime: noise, the sudo prompt, the image (controller).

Nothing that the host writes is trusted before the line with our nonce.
"""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

from orchestrator.image import Image
from orchestrator.support.background_call import deadline
from orchestrator.transport import startup_errors
from orchestrator.transport.command_pipe import Link, Pipe, keep_tail, readable
from remote_runtime.errors import UnreachableError
from remote_runtime.protocol.wire import PROTOCOL

if TYPE_CHECKING:
    from orchestrator.transport.password import Password, PasswordAttempt

MAX_NOISE = 64 * 1024
MAX_LINE = 8 * 1024
MAX_QUESTION = 200
START_TIMEOUT = 60.0
PROMPT_TIMEOUT = 5.0  # seconds of silence that make the end of a line a question


# sudo-rs shows "[sudo: PROMPT] Password: ", and an asterisk for each letter
_SUDO_RS = b"[sudo: "
_ASKED_BY_SUDO_RS = rb"\] ?([^\n]*[:?])\s*"
_PASSWORD_OF_SUDO_RS = rb"\] ?[^\n:?]*[Pp]assword[^\n:?]*:[\s*]*\Z"
_REFUSING = (
    b"incorrect password",
    b"Sorry, try again",
    b"incorrect authentication attempt",
    b"Authentication failed, try again",
)


class Handshake:
    """The startup of one host's runtime; used once.

    ``prompt`` is sudo's prompt for ``password``; None if the command runs without sudo. ``python``
    is the interpreter that the inventory names, if it does. ``until`` is the time at which the host
    times out, None for never.
    """

    def __init__(
        self,
        host: str,
        pipe: Pipe,
        *,
        nonce: str,
        image: Image,
        prompt: str | None = None,
        password: Password | None = None,
        timeout: float = START_TIMEOUT,
        until: float | None = None,
        python: str | None = None,
    ) -> None:
        self._host = host
        self._pipe = pipe
        self._nonce = nonce
        self._image = image
        self._prompt = prompt.encode() if prompt else None
        self._password = password
        self._timeout = timeout
        self._python = python
        self._until = until
        self._deadline = deadline(timeout, until)
        self._out = bytearray()
        self._err = bytearray()
        self._unseen = bytearray()
        self._last_output = time.monotonic()
        self._attempt: PasswordAttempt | None = None
        self._sent = False

    def link(self) -> Link:
        """Wait for the runtime; UnreachableError, with the pipe closed, if it does not start."""
        try:
            while True:
                status, detail = self._line()
                if status == "ready":
                    return Link(self._pipe, self._nonce, runtime=self._image.sha256,
                                first=bytes(self._out), stderr=bytes(self._err))  # fmt: skip
                self._answer(status, detail)
        except BaseException:
            self._pipe.close()
            raise
        finally:
            if self._attempt is not None:
                self._attempt.end()

    def _answer(self, status: str, detail: str) -> None:
        if status != "need":
            raise startup_errors.bootstrap_failed(
                self._host, status, detail=detail, err=self._err, python=self._python
            )
        if self._sent or detail not in ("zip", "code"):
            raise startup_errors.protocol_violated(self._host, f"unexpected request {detail!r}")
        self._sent = True
        data = self._image.archive if detail == "zip" else self._image.code
        self._deadline = deadline(self._timeout, self._until)
        self._send(len(data).to_bytes(8, "big") + data)
        self._deadline = deadline(self._timeout, self._until)

    def _send(self, data: bytes) -> None:
        """Write all of it, and close the connection if the host does not accept it in time."""
        late = threading.Timer(self._deadline - time.monotonic(), self._pipe.close)
        late.daemon = True
        late.start()
        try:
            self._pipe.write(data)
        except UnreachableError as error:
            if time.monotonic() < self._deadline:
                raise
            raise startup_errors.start_timed_out(self._host, self._timeout, self._err) from error
        finally:
            late.cancel()

    def _line(self) -> tuple[str, str]:
        """The status and detail of the next line with our nonce."""
        mark = f"{PROTOCOL} {self._nonce} ".encode()
        while True:
            begin = self._out.find(mark)
            end = self._out.find(b"\n", begin) if begin >= 0 else -1
            if end >= 0:
                line = bytes(self._out[begin + len(mark) : end]).decode("ascii", "replace")
                del self._out[: end + 1]
                self._accept()
                status, _, detail = line.partition(" ")
                return status, detail.strip()
            if begin > MAX_NOISE or (begin < 0 and len(self._out) > MAX_NOISE):
                raise startup_errors.too_much_output(self._host, MAX_NOISE)
            if begin >= 0 and len(self._out) - begin > MAX_LINE:
                raise startup_errors.protocol_violated(self._host, "its first line is too long")
            self._read()

    def _accept(self) -> None:
        self._prompt = None  # from here on standard error belongs to the runtime
        if self._attempt is not None:
            self._attempt.end(accepted=True)
            self._attempt = None

    def _read(self) -> None:
        seconds_left = self._deadline - time.monotonic()
        if seconds_left <= 0:
            silent = (
                startup_errors.start_timed_out
                if self._attempt is None
                else startup_errors.password_timed_out
            )
            raise silent(self._host, self._timeout, self._err)
        question = self._question()
        if question:
            seconds_left = min(seconds_left, self._last_output + PROMPT_TIMEOUT - time.monotonic())
            if seconds_left <= 0:
                raise startup_errors.unexpected_prompt(self._host, question)
        try:
            out, err = self._pipe.read(seconds_left)
        except TimeoutError:
            return
        if not out and not err:
            status = self._pipe.exit_status()
            if self._attempt is not None:
                raise self._wrong_password() if self._is_refusal() else self._ended(status)
            raise self._ended(status)
        self._out += out
        if err:
            self._last_output = time.monotonic()
        keep_tail(self._err, err)
        self._watch_prompt(err)

    def _ended(self, status: int | None) -> UnreachableError:
        asked = self._password is not None
        return startup_errors.command_ended(
            self._host,
            status,
            out=self._out,
            err=self._err,
            had_password=asked,
            python=self._python,
        )

    def _is_refusal(self) -> bool:
        return any(text in self._err for text in _REFUSING)

    def _question(self) -> str:
        """A prompt of sudo or PAM at the end of the output; "" without one, or if it is the
        expected prompt."""
        if self._prompt is None:
            return ""
        last = bytes(self._err).rpartition(b"\n")[2]
        ours, mark, rest = last.rpartition(self._prompt)
        if mark and ours.endswith(_SUDO_RS) and (not rest or re.match(_PASSWORD_OF_SUDO_RS, rest)):
            return ""
        text = readable(rest)
        return text[-MAX_QUESTION:] if text.endswith((":", "?", ")", "]", ">")) else ""

    def _watch_prompt(self, err: bytes) -> None:
        """Answer sudo's prompt once; another prompt means that the password was wrong."""
        if self._prompt is None or self._password is None:
            return
        self._unseen += err
        before, mark, rest = bytes(self._unseen).partition(self._prompt)
        if not mark:
            del self._unseen[: -len(_SUDO_RS + self._prompt)]
            return
        if before.endswith(_SUDO_RS):
            # After our prompt, sudo-rs shows its own prompt, which may not be for the password.
            asked = re.match(_ASKED_BY_SUDO_RS, rest)
            if asked is None and len(rest) < MAX_QUESTION:
                return
            if not re.match(_PASSWORD_OF_SUDO_RS, rest):
                question = readable(asked[1] if asked is not None else rest)
                raise startup_errors.unexpected_prompt(self._host, question[:MAX_QUESTION])
        self._unseen.clear()
        if self._attempt is not None:
            between = before.removesuffix(_SUDO_RS) if before.endswith(_SUDO_RS) else before
            if not between.strip(b"* \r\n"):  # a refusal would have a message
                raise startup_errors.second_prompt(self._host)
            raise self._wrong_password()
        began = time.monotonic()
        self._attempt = self._password.attempt(self._host, self._until)
        self._deadline = deadline(self._deadline - began, self._until)
        secret = self._attempt.text().encode("utf-8", "surrogateescape")
        self._send(secret + b"\n")

    def _wrong_password(self) -> UnreachableError:
        assert self._attempt is not None
        self._attempt.end(accepted=False)
        return startup_errors.wrong_sudo_password(self._host)
