"""A host that writes without end and without a newline, to each stream in each phase.

The controller and the runtime that reads a command's output keep a bounded part of it.
"""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress

from orchestrator.image import build
from orchestrator.transport.command_pipe import Link
from orchestrator.transport.handshake import Handshake
from remote_runtime.cancellation import Cancellation
from remote_runtime.errors import CcmError
from remote_runtime.protocol import wire
from remote_runtime.system.accounts import Accounts
from remote_runtime.system.process.commands import Commands
from tests.hostile.figures import Figures

TITLE = "Lines that never end"
_PIECE = 64 << 10
_LIMIT = 6 << 20  # bytes that a flood may take
_NONCE = "abc"
_READY = b"ccm1 abc ready\n"


class _Flood:
    """A pipe that says ``first`` and then ``count`` pieces of a line on one stream."""

    def __init__(self, first: bytes, count: int, stream: int) -> None:
        self._first, self.left, self._stream = first, count, stream

    def write(self, data: bytes) -> None:
        """Nobody reads."""

    def read(self, timeout: float) -> tuple[bytes, bytes]:
        if self._first:
            first, self._first = self._first, b""
            return first, b""
        if not self.left:
            return b"", b""
        self.left -= 1
        piece = b"x" * _PIECE
        return (b"", piece) if self._stream else (piece, b"")

    def exit_status(self) -> int | None:
        return 1

    def close(self) -> None:
        """Nothing is open."""


def run(seconds: float, seed: int, now: Callable[[], float] = time.monotonic) -> Figures:
    """Floods of up to 1 GB until the time is up."""
    until, draw = now() + seconds, random.Random(seed)
    maximum = 1 << 30 if seconds >= 60 else 16 << 20
    build()
    counts: dict[str, int] = {"megabytes": 0}
    broken: list[str] = []
    while len(counts) == 1 or now() < until:
        size = draw.randrange(maximum // 2, maximum)
        for name, flood in _floods():
            tracemalloc.start()
            flood(size // _PIECE)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            counts[name] = counts.get(name, 0) + 1
            counts["megabytes"] += size >> 20
            if peak > _LIMIT:
                broken.append(f"{name}: {size:,} bytes took {peak:,} bytes of memory")
    return Figures(counts, broken)


def _floods() -> Iterator[tuple[str, Callable[[int], object]]]:
    yield "floods before the runtime starts", lambda count: _open(_Flood(b"", count, 0))
    yield "on standard error before the runtime starts", lambda count: _open(_Flood(b"", count, 1))
    yield "in the first line of the runtime", lambda count: _open(_Flood(_READY[:-1], count, 0))
    yield "instead of frames", lambda count: _read(_Flood(_READY, count, 0))
    yield "on standard error along with frames", lambda count: _read(_Flood(_READY, count, 1))
    yield "in the output of a command", _command


def _open(pipe: _Flood) -> Link | None:
    with suppress(CcmError):
        return Handshake("web1", pipe, nonce=_NONCE, image=build()).link()
    return None


def _read(pipe: _Flood) -> None:
    link, decoder = _open(pipe), wire.Decoder(wire.MAX_FROM_TARGET)
    assert link is not None
    with suppress(CcmError):
        while data := link.receive(60):
            for _ in decoder.feed(data):
                pass
    assert len(link.stderr_tail()) <= _PIECE


def _command(count: int) -> None:
    lines: list[int] = []
    commands = Commands(Accounts(), Cancellation())
    argv = ("sh", "-c", f"head -c {count * _PIECE} /dev/zero | tr '\\0' x")
    result = commands.run(argv, on_output=lambda stream, line: lines.append(len(line)))
    assert result.code == 0, result.stderr
    assert max(lines, default=0) <= _LIMIT
