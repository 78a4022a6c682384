"""Asks a D-Bus service for properties over its own socket, without a library or command (target).

Of D-Bus this is what that takes: one end of a connection without a bus between, which names itself
by its user id, calls ``org.freedesktop.DBus.Properties`` and reads the answers.
"""

import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

Question = Tuple[str, Sequence[str]]  # an object's path; its interface, and a property if one only

_TIMEOUT = 5.0  # seconds of silence
_LONGEST = 16 << 20  # bytes of one message
_PART = 1 << 18  # bytes to read at once
_ORDER: Any = sys.byteorder
_MARK = {"little": b"l", "big": b"B"}[sys.byteorder]
_CALL, _ANSWER, _ERROR = 1, 2, 3  # types of messages
_PATH, _INTERFACE, _MEMBER, _ANSWERS, _SIGNATURE = 1, 2, 3, 5, 8  # fields of a message's head
_PROPERTIES = "org.freedesktop.DBus.Properties"
_SIZES = {"y": 1, "n": 2, "q": 2, "b": 4, "i": 4, "u": 4, "h": 4, "x": 8, "t": 8, "d": 8}
_BLANK = 0x20
_ALIGNED = dict(_SIZES, s=4, o=4, a=4, **{"(": 8, "{": 8})  # what is not here stands anywhere


class Service(object):
    """A service that is asked over its own socket; ``close`` it in the end.

    ``OSError`` where nobody answers, or not within seconds; ``ValueError`` for what is not D-Bus.
    """

    def __init__(self, address: str) -> None:
        import _socket  # the C part of ``socket`` alone, which imports much

        self._link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._incoming = _Incoming(self._link)
        self._asked = 0
        try:
            self._link.settimeout(_TIMEOUT)
            self._link.connect(address)
            user = str(os.geteuid()).encode().hex().encode()
            self._link.sendall(b"\0AUTH EXTERNAL %s\r\nBEGIN\r\n" % user)
            # systemd leaves a short question unheard that comes along with this.
            self._incoming.greeted()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ask no more."""
        self._link.close()

    def ask(
        self, questions: Sequence[Question], wanted: Sequence[str]
    ) -> List[Optional[Dict[str, Any]]]:
        """Those ``wanted`` of the properties that answer each question, by name; None where the
        service refuses it. A value is a string, a whole number, or a list of them."""
        numbers = range(self._asked + 1, self._asked + len(questions) + 1)
        self._asked += len(questions)
        self._link.sendall(b"".join([_call(n, *asked) for n, asked in zip(numbers, questions)]))
        answers: Dict[int, Optional[Dict[str, Any]]] = {}
        while len(answers) < len(questions):
            kind, number, body = self._incoming.message()
            if kind in (_ANSWER, _ERROR) and number in numbers:
                given = questions[number - numbers[0]][1]
                answers[number] = _read(body, given, wanted) if kind == _ANSWER else None
        return [answers[number] for number in numbers]


class _Incoming(object):
    """What comes, cut into messages."""

    def __init__(self, link: Any) -> None:
        self._link = link
        self._held = b""

    def _more(self) -> None:
        part = self._link.recv(_PART)
        if not part:
            raise ConnectionResetError("the service closed the connection")
        self._held += part

    def _take(self, size: int) -> bytes:
        while len(self._held) < size:
            self._more()
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def greeted(self) -> None:
        """Read that the service lets us in."""
        while b"\r\n" not in self._held:
            if len(self._held) > _PART:
                raise ValueError("no line of D-Bus")
            self._more()
        line, _, self._held = self._held.partition(b"\r\n")
        if not line.startswith(b"OK "):
            raise PermissionError("the service refuses this user")

    def message(self) -> Tuple[int, int, bytes]:
        """The next message's type, the number of the call that it answers or 0, its body."""
        fixed = self._take(16)
        body, fields = _number(fixed[4:8]), _number(fixed[12:16])
        if fixed[:1] != _MARK or body + fields > _LONGEST:
            raise ValueError("no message of D-Bus")
        head = _Reader(self._take(fields + -fields % 8))
        answered = 0
        while head.at < fields:
            head.align(8)
            code = head.byte()
            value = head.value(head.signature())
            if code == _ANSWERS and isinstance(value, int):
                answered = value
        return fixed[1], answered, self._take(body)


class _Reader(object):
    """Reads values one behind another."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def align(self, size: int) -> None:
        """Go to the next place that is a multiple of ``size``."""
        self.at += -self.at % size

    def byte(self) -> int:
        """One byte, as a number."""
        return self._bytes(1)[0]

    def signature(self) -> str:
        """The type of a value that follows."""
        found = self._bytes(self.byte()).decode("ascii")
        self._bytes(1)
        return found

    def value(self, kind: str) -> Any:
        """A value of this type: for a string, a number or a list what it is."""
        first = kind[:1]
        self.align(_ALIGNED.get(first, 1))
        if first in ("s", "o"):
            return self._text(_number(self._bytes(4)))
        if first == "g":
            return self._text(self.byte())
        if first == "v":
            return self.value(self.signature())
        if first == "a":
            return self._array(kind[1:])
        if first in ("(", "{"):
            return [self.value(part) for part in _parts(kind[1:-1])]
        if first not in _SIZES:
            raise ValueError("no type of D-Bus")
        return _number(self._bytes(_SIZES[first]))

    def named(self, wanted: Sequence[str]) -> Dict[str, Any]:
        """Those that are wanted of a table of properties, which is all that is left.

        They are few of some hundred: each is looked for by how its name is written. A text that
        says the same is followed by no type.
        """
        found = {}
        ends = self._end_of_array("{")
        begins = self.at
        for name in wanted:
            key = _string(name)
            at = self._data.find(key, begins, ends)
            while at >= 0:
                self.at = at + len(key)
                kind = b"" if at % 8 else self._kind()
                if kind:
                    found[name] = self.value(kind.decode("ascii"))
                    break
                at = self._data.find(key, at + 1, ends)
        return found

    def _kind(self) -> bytes:
        """The type of a value that may follow; none where something else does."""
        size = int(self._data[self.at]) if self.at < len(self._data) else 0
        ends = self.at + 1 + size
        kind = self._data[self.at + 1 : ends]
        if not kind or min(kind) <= _BLANK or self._data[ends : ends + 1] != b"\0":
            return b""
        self.at = ends + 1
        return kind

    def _array(self, kind: str) -> List[Any]:
        found = []
        ends = self._end_of_array(kind[:1])
        while self.at < ends:
            found.append(self.value(kind))
        return found

    def _end_of_array(self, first: str) -> int:
        """Begin to read an array of what this type begins with; where it ends."""
        self.align(4)
        size = _number(self._bytes(4))
        self.align(_ALIGNED.get(first, 1))
        if self.at + size > len(self._data):
            raise ValueError("a message of D-Bus is too short")
        return self.at + size

    def _text(self, size: int) -> str:
        found = self._bytes(size).decode("utf-8", "surrogateescape")
        self._bytes(1)
        return found

    def _bytes(self, size: int) -> bytes:
        found = self._data[self.at : self.at + size]
        if len(found) < size:
            raise ValueError("a message of D-Bus is too short")
        self.at += size
        return found


def _read(body: bytes, given: Sequence[str], wanted: Sequence[str]) -> Dict[str, Any]:
    reader = _Reader(body)
    try:
        return {given[1]: reader.value("v")} if len(given) > 1 else reader.named(wanted)
    except IndexError:
        raise ValueError("a message of D-Bus is too short") from None


def _call(number: int, path: str, given: Sequence[str]) -> bytes:
    """The message that asks for a property, or for all of an interface."""
    body = b"".join(_padded(_string(word), 4) for word in given[:-1]) + _string(given[-1])
    member = "Get" if len(given) > 1 else "GetAll"
    fields = b""
    named = ((_PATH, b"o", path), (_INTERFACE, b"s", _PROPERTIES), (_MEMBER, b"s", member))
    for code, kind, value in named:
        fields += _padded(bytes((code, 1)) + kind + b"\0" + _string(value), 8)
    fields += bytes((_SIGNATURE, 1)) + b"g\0" + bytes((len(given),)) + b"s" * len(given) + b"\0"
    sizes = [size.to_bytes(4, _ORDER) for size in (len(body), number, len(fields))]
    return _padded(_MARK + bytes((_CALL, 0, 1)) + b"".join(sizes) + fields, 8) + body


def _string(text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    return len(data).to_bytes(4, _ORDER) + data + b"\0"


def _padded(data: bytes, size: int) -> bytes:
    return data + b"\0" * (-len(data) % size)


def _number(data: bytes) -> int:
    return int.from_bytes(data, _ORDER)


def _parts(kinds: str) -> Iterator[str]:
    """The single types of a row of them."""
    begun, depth = "", 0
    for char in kinds:
        begun += char
        depth += (char in "({") - (char in ")}")
        if not depth and char != "a":
            yield begun
            begun = ""
