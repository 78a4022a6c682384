"""A name server on loopback that answers from a table, over UDP and TCP (Python 3.6 and newer)."""

import socket
import socketserver
import struct
import threading
from typing import Any, Dict, List, Tuple

# question -> records as (type, data); a name in data may point back to the question at offset 12
Zone = Dict[Tuple[str, int], List[Tuple[int, bytes]]]
CUT = "cut.test"


def name(text: str) -> bytes:
    return b"".join(bytes([len(p)]) + p.encode() for p in text.rstrip(".").split(".")) + b"\0"


ZONE = {
    ("web.test", 1): [(5, name("real.test")), (1, b"\x0a\0\0\x01"), (1, b"\x0a\0\0\x02")],
    ("web.test", 28): [(28, b"\0" * 15 + b"\1")],
    ("web.test", 5): [(5, b"\4real\xc0\x10")],  # a pointer into the question: "test"
    ("web.test", 15): [(15, b"\0\x0a" + name("mail.test"))],
    ("web.test", 16): [(16, b"\5v=abc\4 def"), (16, b"\5other")],
    ("web.test", 2): [(2, name("ns1.test"))],
    ("_s._tcp.test", 33): [(33, struct.pack("!3H", 0, 5, 443) + name("a.test"))],
    ("web.test", 257): [(257, b"\0\5issueca.test")],
    ("8.8.8.8.in-addr.arpa", 12): [(12, name("dns.test"))],
    (CUT, 16): [(16, b"\4long")],
    ("loop.test", 5): [(5, b"\xc0\x27")],  # points to itself
}  # type: Zone


def reply(query: bytes, over_tcp: bool) -> bytes:
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    asked, kind = ".".join(labels), struct.unpack_from("!H", query, at + 1)[0]
    records = ZONE.get((asked, kind), [])
    known = any(zone == asked for zone, _ in ZONE)
    flags = 0x8180 | (0 if known else 3)
    if asked == "refused.test":
        flags = 0x8185
    if asked == CUT and not over_tcp:
        flags, records = flags | 0x0200, []
    out = query[:2] + struct.pack("!5H", flags, 1, len(records), 0, 0) + query[12 : at + 5]
    for record, data in records:
        out += b"\xc0\x0c" + struct.pack("!HHIH", record, 1, 60, len(data)) + data
    return out


class _Udp(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        data, channel = self.request
        channel.sendto(reply(data, False), self.client_address)


class _Tcp(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        length = struct.unpack("!H", self.request.recv(2))[0]
        answer = reply(self.request.recv(length), True)
        self.request.sendall(struct.pack("!H", len(answer)) + answer)


class NameServer(object):
    """Runs until ``close``; ``address`` is HOST:PORT."""

    def __init__(self) -> None:
        self._servers: List[Any] = []
        for _ in range(20):
            udp = socketserver.ThreadingUDPServer(("127.0.0.1", 0), _Udp)
            try:
                tcp = socketserver.ThreadingTCPServer(udp.server_address, _Tcp)
            except OSError:
                udp.server_close()
                continue
            self._servers = [udp, tcp]
            break
        self.address = "%s:%d" % self._servers[0].server_address
        for server in self._servers:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, args=(0.05,))
            thread.daemon = True
            thread.start()

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


def silent() -> socket.socket:
    """A bound UDP socket that never answers."""
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.bind(("127.0.0.1", 0))
    return channel
