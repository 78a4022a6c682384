"""Stores the beginning and the end of a stream, regardless of its length (target)."""

from typing import Callable, List, Optional

LineSink = Callable[[str], None]
MAX_LINE_LENGTH = 16 << 10


class Capture(object):
    """Bytes of one output: at most ``limit`` are stored, half from the start and half from the end.

    ``on_line`` receives each complete line, without its newline, cut at 16 KiB.
    """

    def __init__(self, limit: int, on_line: Optional[LineSink] = None) -> None:
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._on_line = on_line
        self._line = bytearray()

    def feed(self, data: bytes) -> None:
        """Receive the next bytes of the stream."""
        if self._on_line is not None:
            self._split(data)
        free = self._half - len(self._head)
        if free > 0:
            self._head += data[:free]
            data = data[free:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            self._trim()

    def _trim(self) -> None:
        extra = len(self._tail) - self._half
        if extra > 0:
            self._dropped += extra
            del self._tail[:extra]

    def text(self) -> str:
        """The stored output; if something was omitted, complete lines and a note with the size."""
        self._trim()
        head, tail = bytes(self._head), bytes(self._tail)
        if not self._dropped:
            return (head + tail).decode("utf-8", "replace")
        # Half a line could hold half a secret, which no mask would find.
        head = head[: head.rfind(b"\n") + 1]
        tail = tail[tail.find(b"\n") + 1 :] if b"\n" in tail else b""
        note = b"[... %d bytes omitted ...]\n" % (self._total() - len(head) - len(tail))
        return (head + note + tail).decode("utf-8", "replace")

    def _total(self) -> int:
        return len(self._head) + len(self._tail) + self._dropped

    def close(self) -> None:
        """Pass on a last line that has no newline."""
        if self._on_line is not None and self._line:
            self._emit(bytes(self._line))
            self._line = bytearray()

    def _split(self, data: bytes) -> None:
        pieces: List[bytes] = data.split(b"\n")
        for piece in pieces[:-1]:
            self._emit(bytes(self._line) + piece)
            self._line = bytearray()
        self._line += pieces[-1]
        del self._line[MAX_LINE_LENGTH:]

    def _emit(self, line: bytes) -> None:
        if self._on_line is not None:
            self._on_line(line[:MAX_LINE_LENGTH].decode("utf-8", "replace").rstrip("\r"))
