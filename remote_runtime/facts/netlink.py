"""Links and addresses from the kernel, without a subprocess (target; Python 3.6 and newer).

rtnetlink is available to every user and answers for all interfaces at once, whereas
``/sys/class/net`` needs four files for each and has no addresses.
"""

# Importing ``socket`` builds its enumerations, which costs more than all families together.
import _socket  # socket takes a target 4 ms to load, and costs as much as gathering facts
import errno
import os
import struct
from typing import Any, Dict, Iterator, List, Tuple

GET_LINKS = 18  # RTM_GETLINK
GET_ADDRESSES = 22  # RTM_GETADDR

_NETLINK_ROUTE = 0
_REQUEST_DUMP = 0x1 | 0x300
_INTERRUPTED = 0x10
_ERROR, _DONE = 2, 3
_ATTEMPTS = 3
_BUFFER = 1 << 16  # the kernel fills at most half of it
_SKIP_STATISTICS = 1 << 3
_EXT_MASK = 29

_HEAD = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")


def dump(kind: int) -> List[bytes]:
    """Return the payload of every message of one dump; ``OSError`` if the kernel refuses."""
    channel = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, _NETLINK_ROUTE)
    try:
        for sequence in range(1, _ATTEMPTS + 1):
            channel.send(_request(kind, sequence))
            payloads, whole = collect(channel, sequence)
            if whole:
                return payloads
    finally:
        channel.close()
    raise OSError(errno.EAGAIN, "the interfaces kept changing while they were read")


def collect(channel: Any, sequence: int) -> Tuple[List[bytes], bool]:
    """Receive the answer to one request; return False if an interface changed in the meantime and
    the request must be repeated.
    """
    payloads: List[bytes] = []
    whole = True
    while True:
        data = channel.recv(_BUFFER)
        if not data:
            raise OSError(errno.EPIPE, "netlink: the kernel ended the dump early")
        for kind, flags, number, payload in _messages(data):
            if number != sequence:
                continue
            if flags & _INTERRUPTED:
                whole = False
            if kind == _DONE:
                return payloads, whole
            if kind == _ERROR:
                code = -struct.unpack_from("=i", payload)[0]
                raise OSError(code, "netlink: %s" % os.strerror(code))
            payloads.append(payload)


def attributes(data: bytes, at: int) -> Dict[int, bytes]:
    """Return the attributes in ``data`` from the offset ``at``, by their number."""
    result = {}
    while at + 4 <= len(data):
        length, number = _ATTRIBUTE.unpack_from(data, at)
        if length < 4:
            break
        result[number & 0x3FFF] = data[at + 4 : at + length]
        at += (length + 3) & ~3
    return result


def _request(kind: int, sequence: int) -> bytes:
    if kind == GET_LINKS:
        body = struct.pack("=BBHiII", 0, 0, 0, 0, 0, 0)
        body += _ATTRIBUTE.pack(8, _EXT_MASK) + struct.pack("=I", _SKIP_STATISTICS)
    else:
        body = struct.pack("=BBBBI", 0, 0, 0, 0, 0)
    return _HEAD.pack(_HEAD.size + len(body), kind, _REQUEST_DUMP, sequence, 0) + body


def _messages(data: bytes) -> Iterator[Tuple[int, int, int, bytes]]:
    at = 0
    while at + _HEAD.size <= len(data):
        length, kind, flags, number, _port = _HEAD.unpack_from(data, at)
        if length < _HEAD.size or at + length > len(data):
            raise OSError(errno.EMSGSIZE, "netlink: a message of %d bytes was truncated" % length)
        yield kind, flags, number, data[at + _HEAD.size : at + length]
        at += (length + 3) & ~3
