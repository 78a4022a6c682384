"""Commands on one host, over one channel of its connection (controller).

The host's responses are untrusted data: lengths are checked, nothing is interpreted.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import inspect
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.image import Image
from orchestrator.verify import shell_server
from remote_runtime.errors import ProtocolError, UnreachableError

if TYPE_CHECKING:
    from orchestrator.transport import Link

MAX_OUTPUT = 8 << 20
"""The maximum number of bytes of each stream; a command that writes more is killed."""

MAX_TOGETHER = 64 << 20
"""The maximum number of bytes in all answers to one set of queries."""

MAX_TIMED_OUT = 3
"""The number of commands that may time out before ccm stops waiting for a host."""

ANSWER_TIMEOUT = 30.0  # a host that takes no bytes for so long is lost
MAX_TIMEOUT = 86_400.0
GRACE = 30.0  # beyond a command's own timeout, before a silent host counts as lost
_TOGETHER = 64  # commands for one shell
_MAX_LENGTH = 64 << 10  # characters of all arguments: a system limits their total length


class Answer(NamedTuple):
    """The output and result of a command: ``killed`` is "", or the reason why it was
    killed or not run.
    """

    code: int
    out: bytes
    err: bytes
    killed: str = ""


_NOT_RUN = Answer(
    -1, b"", b"", f"was not run because {MAX_TIMED_OUT} commands on this host timed out"
)


@functools.lru_cache(maxsize=1)
def image() -> Image:
    """The program that answers, in the form that the transport starts.

    It is never requested as a file: the command itself contains all of it, as text for any Python.
    """
    text = inspect.getsource(shell_server).encode()
    digest = hashlib.sha256(text).hexdigest()
    program = ":" + base64.b64encode(zlib.compress(text, 9)).decode("ascii")
    return Image(digest, digest, tag="-", program=program, payload=lambda kind: b"")


class Shell:
    """Runs commands in the order given; thread-safe. UnreachableError once the host is lost."""

    def __init__(self, host: str, link: Link, timeout: float) -> None:
        self._host = host
        self._link = link
        self._timeout = min(timeout, MAX_TIMEOUT)
        self._buffer = bytearray()
        self._lock = threading.Lock()
        self._broken = ""
        self._left = 0
        self._timed_out = 0

    def run(self, command: bytes) -> Answer:
        """Run one command of ``/bin/sh`` separately."""
        return self._run([[command]])[0]

    def read_all(self, commands: Sequence[bytes]) -> list[Answer]:
        """Run many commands that only read, in few round trips; return their answers in
        the same order.
        """
        return self._run(list(_batches(commands)))

    def _run(self, batches: Sequence[Sequence[bytes]]) -> list[Answer]:
        sizes = [len(batch) for batch in batches for _ in batch]
        with self._lock:
            if self._gave_up:
                return [_NOT_RUN] * len(sizes)
            if self._broken:
                raise UnreachableError(self._broken, "transport.lost")
            try:
                for batch in batches:
                    self._send(self._request(batch))
                self._left = MAX_TOGETHER
                return [self._next(together) for together in sizes]
            except BaseException as error:
                # Answers are identified by their order alone, so all must be read.
                self._broken = f"the connection to {self._host} was lost"
                if getattr(error, "kind", "") != "transport.lost":  # it says no more
                    self._broken += f": {error}"
                self._link.close()
                if isinstance(error, UnreachableError):
                    raise UnreachableError(self._broken, "transport.lost") from error
                raise

    @property
    def _gave_up(self) -> bool:
        return self._timed_out >= MAX_TIMED_OUT

    def _next(self, together: int) -> Answer:
        if self._gave_up:
            return _NOT_RUN
        answer = self._answer(together)
        if self._gave_up:
            self._link.close()  # ends the other commands, too
        return answer

    def close(self) -> None:
        """Close the channel; its commands end, too."""
        self._broken = self._broken or f"the connection to {self._host} was closed"
        self._link.close()

    def _send(self, data: bytes) -> None:
        """Send for as long as the host accepts the bytes; closing the link ends a blocked send."""
        patience = threading.Timer(ANSWER_TIMEOUT, self._link.close)
        patience.daemon = True
        patience.start()
        try:
            self._link.send(data)
        finally:
            patience.cancel()

    def _request(self, commands: Sequence[bytes]) -> bytes:
        head = shell_server.REQUEST.pack(len(commands), int(self._timeout * 1000), MAX_OUTPUT)
        sized = (shell_server.LENGTH.pack(len(command)) + command for command in commands)
        return head + b"".join(sized)

    def _answer(self, together: int) -> Answer:
        # Commands that run together may run a second time, one by one.
        end = time.monotonic() + self._timeout * (1 if together == 1 else 2) + GRACE
        until: Callable[[int], bytes] = functools.partial(self._exactly, end)
        code, status, out, err = shell_server.ANSWER.unpack(until(shell_server.ANSWER.size))
        self._left -= out + err
        if status > shell_server.TOO_LARGE or max(out, err) > MAX_OUTPUT or self._left < 0:
            raise ProtocolError(f"{self._host} sent an invalid answer")
        return Answer(code, until(out), until(err), self._kill_reason(status))

    def _kill_reason(self, number: int) -> str:
        if number == shell_server.TIMED_OUT:
            self._timed_out += 1
            return f"timed out after {self._timeout:g} s"
        if number == shell_server.TOO_LARGE:
            return f"was killed because it wrote more than {MAX_OUTPUT >> 20} MiB"
        return ""

    def _exactly(self, end: float, count: int) -> bytes:
        while len(self._buffer) < count:
            try:
                data = self._link.receive(max(0.0, end - time.monotonic()))
            except TimeoutError:
                raise UnreachableError("the host no longer responds") from None
            if not data:
                raise UnreachableError("the host closed the session")
            self._buffer += data
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found


def _batches(commands: Sequence[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    length = 0
    for command in commands:
        if batch and (len(batch) == _TOGETHER or length + len(command) > _MAX_LENGTH):
            yield batch
            batch, length = [], 0
        batch.append(command)
        length += len(command)
    if batch:
        yield batch
