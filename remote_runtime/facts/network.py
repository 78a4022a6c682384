"""The family ``network``: interfaces, addresses and the default addresses (target)."""

import _socket  # socket takes a target 4 ms to load, and costs as much as gathering facts
import struct
from typing import Any, Dict, List, Optional, Tuple

from remote_runtime.facts.fact_source import Source
from remote_runtime.facts.netlink import GET_ADDRESSES, GET_LINKS, attributes

_IPV4, _IPV6 = 2, 10

# struct ifinfomsg and its attributes
_LINK = struct.Struct("=BxHiII")
_LINK_ADDRESS, _LINK_NAME, _LINK_MTU = 1, 3, 4
_LINK_FLAGS = (
    (0x1, "up"),
    (0x2, "broadcast"),
    (0x8, "loopback"),
    (0x10, "pointtopoint"),
    (0x1000, "multicast"),
)

# struct ifaddrmsg and its attributes; the local address of a point-to-point link is not its address
_ADDRESS = struct.Struct("=BBBBI")
_ADDRESS_PEER, _ADDRESS_LOCAL, _ADDRESS_FLAGS = 1, 2, 8
_SECONDARY_OR_TEMPORARY, _UNUSABLE = 0x01, 0x08 | 0x20 | 0x40  # failed, deprecated, tentative

# /proc/net/route and /proc/net/ipv6_route
_ROUTE_UP, _ROUTE_REJECT = 0x1, 0x200


class Address(object):
    """One address of an interface: packed, with its prefix length and its kernel flags."""

    def __init__(self, link: int, family: int, *, packed: bytes, prefix: int, flags: int) -> None:
        self.link = link
        self.family = family
        self.packed = packed
        self.prefix = prefix
        self.flags = flags

    @property
    def text(self) -> str:
        """The written form of the address."""
        return _socket.inet_ntop(self.family, self.packed)


def read(source: Source) -> Dict[str, Any]:
    """Return the family; ``OSError`` if the kernel does not report it."""
    interfaces = _interfaces(source)
    addresses = _addresses(source)
    names = {entry["index"]: entry["name"] for entry in interfaces}
    for entry in interfaces:
        entry["addrs"] = [
            {"addr": "%s/%d" % (address.text, address.prefix)}
            for address in addresses
            if address.link == entry["index"]
        ]
    usable = [a for a in addresses if a.link in names and not _is_special(a)]
    default_ipv4 = _default(usable, names, _IPV4, _route_ipv4(source))
    default_ipv6 = _default(usable, names, _IPV6, _route_ipv6(source))
    defaults = (default_ipv4, default_ipv6)
    return {
        "interfaces": interfaces,
        "addresses": [
            {
                "interface": names[address.link],
                "address": address.text,
                "ipv4": address.family == _IPV4,
                "default": address in defaults,
            }
            for address in usable
        ],
        "default_ipv4": default_ipv4.text if default_ipv4 else "",
        "default_ipv6": default_ipv6.text if default_ipv6 else "",
    }


def _interfaces(source: Source) -> List[Dict[str, Any]]:
    result = []
    for data in source.dump(GET_LINKS):
        _family, _kind, index, flags, _change = _LINK.unpack_from(data)
        values = attributes(data, _LINK.size)
        hardware = values.get(_LINK_ADDRESS, b"")
        mtu = values.get(_LINK_MTU, b"")
        result.append(
            {
                "index": index,
                "mtu": struct.unpack("=I", mtu)[0] if len(mtu) == 4 else 0,
                "name": values.get(_LINK_NAME, b"").rstrip(b"\0").decode("utf-8", "replace"),
                "hardwareAddr": ":".join("%02x" % b for b in hardware) if any(hardware) else "",
                "flags": [word for bit, word in _LINK_FLAGS if flags & bit],
            }
        )
    return sorted(result, key=lambda entry: entry["index"])


def _addresses(source: Source) -> List[Address]:
    result = []
    for data in source.dump(GET_ADDRESSES):
        family, prefix, flags, _scope, index = _ADDRESS.unpack_from(data)
        values = attributes(data, _ADDRESS.size)
        packed = values.get(_ADDRESS_LOCAL) or values.get(_ADDRESS_PEER, b"")
        if len(packed) != {_IPV4: 4, _IPV6: 16}.get(family):
            continue  # of a family that is not IP
        more = values.get(_ADDRESS_FLAGS, b"")
        if len(more) == 4:
            flags = struct.unpack("=I", more)[0]
        result.append(Address(index, family, packed=packed, prefix=prefix, flags=flags))
    return sorted(result, key=lambda address: (address.link, address.family))


def _is_special(address: Address) -> bool:
    """Return whether it is a loopback, link-local, multicast or unspecified address, which other
    hosts cannot reach.
    """
    first, second = address.packed[0], address.packed[1]
    if address.family == _IPV4:
        return first in (0, 127) or (first, second) == (169, 254) or 224 <= first < 240
    if not any(address.packed[:15]):
        return True  # :: and ::1
    return first == 0xFF or (first == 0xFE and second & 0xC0 == 0x80)


def _route_ipv4(source: Source) -> Tuple[str, bytes]:
    """Return the interface and the gateway of the IPv4 default route, "" if there is none."""
    best = (1 << 32, "", b"")
    for line in source.text_or_empty("/proc/net/route").splitlines()[1:]:
        words = line.split()
        if len(words) < 8 or words[1] != "00000000" or words[7] != "00000000":
            continue
        # The kernel prints a large metric as a negative number.
        flags, metric = int(words[3], 16), int(words[6]) & 0xFFFFFFFF
        if flags & _ROUTE_UP and not flags & _ROUTE_REJECT and metric < best[0]:
            # The kernel prints the address as a number of the machine's own byte order.
            best = (metric, words[0], struct.pack("=I", int(words[2], 16)))
    return best[1], best[2]


def _route_ipv6(source: Source) -> Tuple[str, bytes]:
    """Return the interface and the gateway of the IPv6 default route, "" if there is none."""
    best = (1 << 32, "", b"")
    for line in source.text_or_empty("/proc/net/ipv6_route").splitlines():
        words = line.split()
        if len(words) < 10 or words[1] != "00" or words[0].strip("0") or words[9] == "lo":
            continue
        flags, metric = int(words[8], 16), int(words[5], 16)
        if flags & _ROUTE_UP and not flags & _ROUTE_REJECT and metric < best[0]:
            best = (metric, words[9], bytes(bytearray.fromhex(words[4])))
    return best[1], best[2]


def _default(
    usable: List[Address], names: Dict[int, str], family: int, route: Tuple[str, bytes]
) -> Optional[Address]:
    """Return the source address of traffic on the default route; None if there is none."""
    interface, gateway = route
    if not interface:
        return None

    def rank(address: Address) -> Tuple[bool, ...]:
        """Return the reasons against an address, the strongest one first."""
        # An interface without its own address sends with one of another interface.
        return (
            names[address.link] != interface,
            bool(address.flags & _UNUSABLE),
            not _same_network(address, gateway),
            family == _IPV6 and address.packed[0] & 0xFE == 0xFC,  # unique local
            bool(address.flags & _SECONDARY_OR_TEMPORARY),
        )

    candidates = [address for address in usable if address.family == family]
    return min(candidates, key=rank) if candidates else None


def _same_network(address: Address, gateway: bytes) -> bool:
    if len(gateway) != len(address.packed):
        return False
    host_bits = len(gateway) * 8 - address.prefix
    difference = int.from_bytes(address.packed, "big") ^ int.from_bytes(gateway, "big")
    return difference >> host_bits == 0
