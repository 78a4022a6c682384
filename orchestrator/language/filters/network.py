"""Addresses and networks (controller)."""

import ipaddress
from collections.abc import Callable
from functools import partial
from typing import Any

from orchestrator.language import value_types
from orchestrator.language.filters.registry import documented

_documented = partial(documented, "Network")
_PARTS = ("fragment", "hostname", "path", "port", "query", "scheme", "username")
_Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface


def _usable(interface: _Interface) -> tuple[int, int]:
    """The first and the last address of a network that a host can use."""
    network = interface.network
    first, last = int(network.network_address), int(network.broadcast_address)
    if network.num_addresses <= 2:
        return first, last
    return first + 1, last - (network.version == 4)


def _address(interface: _Interface, number: int) -> str:
    kind = ipaddress.IPv4Address if interface.version == 4 else ipaddress.IPv6Address
    return str(kind(number))


def _range(interface: _Interface) -> str:
    first, last = _usable(interface)
    return f"{_address(interface, first)}-{_address(interface, last)}"


_QUERIES: dict[str, Callable[[_Interface, bool], Any]] = {
    "address": lambda i, has: str(i.ip),
    "bool": lambda i, has: True,
    "broadcast": lambda i, has: str(i.network.broadcast_address),
    "cidr": lambda i, has: str(i) if has else False,
    "first_usable": lambda i, has: _address(i, _usable(i)[0]),
    "host": lambda i, has: str(i) if has else False,
    "host/prefix": lambda i, has: str(i) if has and i.ip != i.network.network_address else False,
    "hostmask": lambda i, has: str(i.network.hostmask),
    "int": lambda i, has: int(i.ip),
    "ipv4": lambda i, has: _shown(i, has) if i.version == 4 else False,
    "ipv6": lambda i, has: _shown(i, has) if i.version == 6 else False,
    "last_usable": lambda i, has: _address(i, _usable(i)[1]),
    "link-local": lambda i, has: _shown(i, has) if i.ip.is_link_local else False,
    "loopback": lambda i, has: _shown(i, has) if i.ip.is_loopback else False,
    "multicast": lambda i, has: _shown(i, has) if i.ip.is_multicast else False,
    "net": lambda i, has: str(i.network) if has and i.ip == i.network.network_address else False,
    "netmask": lambda i, has: str(i.network.netmask),
    "network": lambda i, has: str(i.network.network_address),
    "network/prefix": lambda i, has: str(i.network),
    "prefix": lambda i, has: i.network.prefixlen,
    "private": lambda i, has: _shown(i, has) if i.ip.is_private else False,
    "public": lambda i, has: _shown(i, has) if i.ip.is_global else False,
    "range_usable": lambda i, has: _range(i),
    "revdns": lambda i, has: i.ip.reverse_pointer + ".",
    "size": lambda i, has: i.network.num_addresses,
    "subnet": lambda i, has: str(i.network),
    "type": lambda i, has: "network" if i.ip == i.network.network_address and has else "address",
    "version": lambda i, has: i.version,
    "wildcard": lambda i, has: str(i.network.hostmask),
}


def _shown(interface: _Interface, has_prefix: bool) -> str:
    return str(interface if has_prefix else interface.ip)


def _read(value: Any) -> tuple[_Interface, bool] | None:
    """An address with its network, and whether its prefix length was given."""
    if not isinstance(value, str) or len(value) > 100:
        return None
    try:
        return ipaddress.ip_interface(value), "/" in value
    except ValueError:
        return None


@_documented(
    "ipaddr([query])",
    example="'192.0.2.10/24' | ipaddr('network/prefix')",
    result="'192.0.2.0/24'",
    meaning="The result of a query about an address, or `false`; for a list, the matching entries. "
    "Queries: " + ", ".join(f"`{name}`" for name in _QUERIES) + ", a number for the address at "
    "that position, a network for the addresses in it",
)
def ipaddr(value: Any, query: Any = "") -> Any:
    """The result of a query about an address."""
    if isinstance(value, list | tuple):
        found = [ipaddr(entry, query) for entry in value]
        return [entry for entry in found if entry is not False]
    read = _read(value)
    if isinstance(query, int) and not isinstance(query, bool):
        return False if read is None else _at(*read, query)
    value_types.texts("ipaddr", query)
    known = _QUERIES.get(query) if query else _shown
    network = None if known else _read(query)
    if known is None and network is None:
        raise ValueError(
            f"ipaddr takes a number, a network or one of {', '.join(_QUERIES)}, not {query!r}"
        )
    if read is None:
        return False
    if known is not None:
        return known(*read)
    assert network is not None  # one of both
    around, inside = network[0].network, read[0].network
    is_inside = inside.network_address in around and inside.prefixlen >= around.prefixlen
    return value if is_inside else False


def _at(interface: _Interface, has_prefix: bool, place: int) -> Any:
    network = interface.network
    if not -network.num_addresses <= place < network.num_addresses:
        return False
    return f"{network[place]}/{network.prefixlen}"


@_documented(
    "ipwrap()",
    example="['2001:db8::1', '192.0.2.1', 'web1'] | ipwrap",
    result="['[2001:db8::1]', '192.0.2.1', 'web1']",
)
def ipwrap(value: Any) -> Any:
    """An IPv6 address in brackets, any other value unchanged; lists entry by entry."""
    if isinstance(value, list | tuple):
        return [ipwrap(entry) for entry in value]
    read = _read(value)
    if read is None or read[0].version == 4:
        return value
    address, slash, prefix = value.partition("/")
    return f"[{address}]{slash}{prefix}"


@_documented(
    "urlsplit([part])",
    example="'https://web1.example.net:8443/status?full=1' | urlsplit('hostname')",
    result="'web1.example.net'",
    meaning="The parts of a URL as a map, or one of them: "
    + ", ".join(f"`{n}`" for n in _PARTS)
    + ". A missing part is empty or `null`. The password is not included",
)
def urlsplit(url: Any, part: Any = "") -> Any:
    """The parts of a URL, or one of them."""
    from urllib.parse import urlsplit as split

    value_types.texts("urlsplit", url, part)
    if part and part not in _PARTS:
        raise ValueError(f"urlsplit takes one of {', '.join(_PARTS)}, not {part!r}")
    try:
        found = split(url)
        parts = {name: getattr(found, name) for name in _PARTS}
    except ValueError as error:
        raise ValueError(f"urlsplit: this is not a URL: {error}") from error
    return parts[part] if part else parts
