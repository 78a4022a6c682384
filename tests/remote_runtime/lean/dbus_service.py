"""A D-Bus service of one object's properties, on a socket of its own."""

import os
import socket
import sys
import threading
from contextlib import closing
from types import TracebackType
from typing import Any, Dict, Optional, Tuple, Type

ORDER: Any = sys.byteorder
MARK = {"little": b"l", "big": b"B"}
ANSWER, ERROR, SIGNAL = 2, 3, 4


def number(value: int) -> bytes:
    return value.to_bytes(4, ORDER)


def text(value: str) -> bytes:
    data = value.encode()
    return number(len(data)) + data + b"\0"


class Body(object):
    """Values one behind another, each where D-Bus has it stand."""

    def __init__(self) -> None:
        self.data = b""

    def add(self, data: bytes, align: int = 1) -> "Body":
        self.data += b"\0" * (-len(self.data) % align) + data
        return self

    def variant(self, kind: str, value: Any) -> "Body":
        self.add(bytes((len(kind),)) + kind.encode() + b"\0")
        return self.value(kind, value)

    def value(self, kind: str, value: Any) -> "Body":
        if kind == "(ss)":
            self.add(b"", 8)
            return self.value("s", value[0]).value("s", value[1])
        if kind == "as":
            return self.array("s", 4, value)
        if kind == "a(ss)":
            return self.array("(ss)", 8, value)
        if kind in ("b", "u"):
            return self.add(number(int(value)), 4)
        if kind == "t":
            return self.add(int(value).to_bytes(8, ORDER), 8)
        return self.add(text(value), 4)

    def array(self, kind: str, align: int, values: Any) -> "Body":
        self.add(number(0), 4)
        size_at = len(self.data) - 4
        self.add(b"", align)
        begins = len(self.data)
        for value in values:
            self.value(kind, value)
        size = number(len(self.data) - begins)
        self.data = self.data[:size_at] + size + self.data[size_at + 4 :]
        return self

    def table(self, properties: Dict[str, Tuple[str, Any]]) -> "Body":
        """What GetAll answers: name by name a type and a value."""
        self.add(number(0), 4).add(b"", 8)
        begins = len(self.data)
        for name, (kind, value) in properties.items():
            self.add(text(name), 8).variant(kind, value)
        self.data = number(len(self.data) - begins) + self.data[4:]
        return self


def message(kind: int, answered: int, body: bytes) -> bytes:
    """One message; ``answered`` is the number of the call that it answers, 0 for none."""
    fields = Body().add(b"\x08\x01g\0\x05a{sv}\0")
    if answered:
        fields.add(b"\x05\x01u\0", 8).add(number(answered), 4)
    head = MARK[ORDER] + bytes((kind, 1, 1)) + number(len(body)) + number(7)
    head += number(len(fields.data)) + fields.data
    return head + b"\0" * (-len(head) % 8) + body


class Service(object):
    """Lets one caller in with ``greeting`` and, once it is asked, sends ``messages`` in parts of
    ``part`` bytes; where it ``ends`` nothing comes behind them."""

    def __init__(
        self,
        folder: str,
        *messages: bytes,
        greeting: bytes = b"OK 1234\r\n",
        part: int = 1 << 20,
        ends: bool = True,
    ) -> None:
        self.address = os.path.join(folder, "private")
        self.heard = b""
        self._greeting = greeting
        self._data = b"".join(messages)
        self._part = part
        self._ends = ends
        self._over = threading.Event()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(self.address)
        self._listening.listen()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> "Service":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._over.set()
        self._thread.join()
        self._listening.close()

    def _serve(self) -> None:
        with closing(self._listening.accept()[0]) as link:
            while b"BEGIN\r\n" not in self.heard:
                self.heard += link.recv(1 << 16)
            self._say(link, self._greeting)
            if self._greeting.endswith(b"\n"):
                self.heard += link.recv(1 << 16)  # a question, or that the caller leaves
            self._say(link, self._data)
            if self._ends:
                link.shutdown(socket.SHUT_WR)
                while link.recv(1 << 16):
                    pass
            else:
                self._over.wait()

    def _say(self, link: socket.socket, data: bytes) -> None:
        for at in range(0, len(data), self._part):
            link.sendall(data[at : at + self._part])
