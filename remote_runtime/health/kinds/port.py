"""``port``: whether a program listens on a local port (target)."""

import _socket  # socket takes a target 4 ms to load
from typing import List, Tuple

from remote_runtime.health.kind import BOOLEAN, LIST, Kind, ObservedValues, Probe, Rule
from remote_runtime.system.paths import content_of

_PROTOCOLS = ("tcp", "tcp6", "udp", "udp6")
_LISTEN = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}


class _Port(Kind):
    identity = "port"
    attributes = {"listening": BOOLEAN, "ip": LIST}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        try:
            split(subject)
        except ValueError as error:
            return [("port", str(error), "write it as tcp:22, tcp6:22, udp:53 or udp6:53")]
        return []

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        protocol, port = split(subject)
        addresses = listeners(protocol, port)
        return {"listening": bool(addresses), "ip": addresses}


def split(subject: str) -> Tuple[str, int]:
    """Split ``tcp:22`` into its parts; tcp if only a number is given; ``ValueError``."""
    protocol, _, port = subject.rpartition(":")
    protocol = protocol or "tcp"
    if protocol not in _PROTOCOLS or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("%r is not a port" % subject)
    return protocol, int(port)


def listeners(protocol: str, port: int) -> List[str]:
    """Return the addresses of the listening sockets."""
    text = content_of("/proc/net/" + protocol).decode("ascii", "replace")
    result = []
    for line in text.splitlines()[1:]:  # none of a kernel without IPv6
        fields = line.split()
        address, _, number = fields[1].partition(":")
        if int(number, 16) == port and fields[3] == _LISTEN[protocol]:
            result.append(_address(address))
    return sorted(set(result))


def _address(text: str) -> str:
    """Parse four bytes, or four times four, each group in the byte order of this machine."""
    import struct

    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = struct.pack("=%dI" % len(words), *words)
    family = _socket.AF_INET if len(words) == 1 else _socket.AF_INET6
    return _socket.inet_ntop(family, packed)


KIND = _Port()
