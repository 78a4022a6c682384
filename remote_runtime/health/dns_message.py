"""Sends one query to one name server, over UDP, and over TCP if the response is
truncated (target).
"""

import os
import socket
import struct
import time
from typing import List, NamedTuple, Tuple

from remote_runtime.errors import ResourceError

TYPES = {
    "A": 1,
    "NS": 2,
    "CNAME": 5,
    "PTR": 12,
    "MX": 15,
    "TXT": 16,
    "AAAA": 28,
    "SRV": 33,
    "CAA": 257,
}
_NUMBERS = {TYPES["MX"]: 1, TYPES["SRV"]: 3}  # the number before the name
_FAMILIES = {4: socket.AF_INET, 16: socket.AF_INET6}
_NO_SUCH_NAME = 3
_CODES = {1: "malformed query", 2: "server failure", 4: "not implemented", 5: "refused"}
_CUT = 0x0200
_HEADER = struct.Struct("!6H")
_RECORD = struct.Struct("!HHIH")
_MAX_POINTERS = 64


class Answer(NamedTuple):
    """``values`` in the form of goss; ``failure`` for a server that did not answer."""

    values: List[str]
    failure: str = ""


def ask(record: str, name: str, server: Tuple[str, int], seconds: float) -> Answer:
    """Ask for the records of one type; ``ResourceError`` if the server does not answer."""
    number = struct.unpack("!H", os.urandom(2))[0]
    query = _HEADER.pack(number, 0x0100, 1, 0, 0, 0) + _encoded(name)
    query += struct.pack("!HH", TYPES[record], 1)
    try:
        reply = _over_udp(query, server, seconds)
        if struct.unpack_from("!H", reply, 2)[0] & _CUT:
            reply = _over_tcp(query, server, seconds)
    except OSError as error:
        reason = error.strerror or str(error) or "timed out"
        raise ResourceError("%s:%d does not answer: %s" % (*server, reason)) from error
    try:
        return _Reply(reply).answer(TYPES[record])
    except (LookupError, struct.error, ValueError) as error:
        raise ResourceError("%s:%d sends a malformed response" % server) from error


def reverse_name(address: str) -> str:
    """Return the reverse name of an address; a name is returned unchanged."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            packed = socket.inet_pton(family, address)
        except OSError:
            continue
        if family == socket.AF_INET:
            return ".".join(str(byte) for byte in reversed(packed)) + ".in-addr.arpa"
        digits = "".join("%02x" % byte for byte in packed)
        return ".".join(reversed(digits)) + ".ip6.arpa"
    return address


def _encoded(name: str) -> bytes:
    out = b""
    for label in name.rstrip(".").split("."):
        try:
            part = label.encode("ascii")  # underscores and all, which IDNA would refuse
        except UnicodeEncodeError:
            part = label.encode("idna")
        if not 0 < len(part) < 64:
            raise ResourceError("%r is not a valid DNS name" % name)
        out += bytes([len(part)]) + part
    return out + b"\0"


def _over_udp(query: bytes, server: Tuple[str, int], seconds: float) -> bytes:
    family, _, _, _, where = socket.getaddrinfo(*server, 0, socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as channel:
        channel.connect(where)  # so that only this server is heard, and a closed port is reported
        channel.send(query)
        until = time.monotonic() + seconds
        while True:  # a server may send other things without end
            channel.settimeout(max(until - time.monotonic(), 0.001))
            reply = channel.recv(65535)
            if len(reply) >= _HEADER.size and reply[:2] == query[:2]:
                return reply
            if time.monotonic() > until:
                raise OSError("timed out")


def _over_tcp(query: bytes, server: Tuple[str, int], seconds: float) -> bytes:
    with socket.create_connection(server, seconds) as channel:
        channel.sendall(struct.pack("!H", len(query)) + query)
        data = b""
        while len(data) < 2 or len(data) < 2 + struct.unpack_from("!H", data)[0]:
            piece = channel.recv(65535)
            if not piece:
                raise OSError("the connection was closed")
            data += piece
        return data[2:]


class _Reply(object):
    """One reply, read from its beginning."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = _HEADER.size

    def answer(self, wanted: int) -> Answer:
        """Return the values of all records of the requested type."""
        _, flags, questions, answers, _, _ = _HEADER.unpack_from(self._data)
        code = flags & 0xF
        if code not in (0, _NO_SUCH_NAME):
            return Answer([], _CODES.get(code, "error %d" % code))
        for _ in range(questions):
            self._name()
            self._at += 4
        values = []
        for _ in range(answers):
            self._name()
            kind, _, _, length = _RECORD.unpack_from(self._data, self._at)
            self._at += _RECORD.size
            end = self._at + length
            if end > len(self._data):
                raise ValueError("the record is longer than the reply")
            if kind == wanted:
                values.append(self._value(kind, end))
            self._at = end
        return Answer(values)

    def _value(self, kind: int, end: int) -> str:
        if kind in (TYPES["A"], TYPES["AAAA"]):
            return socket.inet_ntop(_FAMILIES[end - self._at], self._data[self._at : end])
        if kind in _NUMBERS:
            return self._numbered(_NUMBERS[kind])
        if kind == TYPES["TXT"]:
            return self._texts(end)
        return self._authority(end) if kind == TYPES["CAA"] else self._name()

    def _numbered(self, count: int) -> str:
        """Return some numbers and a name, as in ``10 mail.example.net.``."""
        numbers = struct.unpack_from("!%dH" % count, self._data, self._at)
        self._at += 2 * count
        return " ".join([str(n) for n in numbers] + [self._name()])

    def _texts(self, end: int) -> str:
        text = b""
        while self._at < end:
            length = self._data[self._at]
            text += self._data[self._at + 1 : self._at + 1 + length]
            self._at += 1 + length
        return text.decode("utf-8", "replace")

    def _authority(self, end: int) -> str:
        flags, length = self._data[self._at], self._data[self._at + 1]
        tag = self._data[self._at + 2 : self._at + 2 + length].decode("ascii", "replace")
        value = self._data[self._at + 2 + length : end].decode("utf-8", "replace")
        return "%d %s %s" % (flags, tag, value)

    def _name(self) -> str:
        """Return a name with its final dot; its labels may be elsewhere in the reply."""
        labels: List[str] = []
        at, after, jumps = self._at, -1, 0
        while True:
            length = self._data[at]
            if length & 0xC0:
                after = at + 2 if after < 0 else after
                at = struct.unpack_from("!H", self._data, at)[0] & 0x3FFF
                jumps += 1
                if jumps > _MAX_POINTERS:
                    raise ValueError("the name contains a pointer loop")
                continue
            if not length:
                break
            labels.append(self._data[at + 1 : at + 1 + length].decode("ascii", "replace"))
            at += 1 + length
        self._at = at + 1 if after < 0 else after
        return ".".join(labels) + "."
