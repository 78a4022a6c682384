"""Obstacles to listening on the addresses of a socket unit (target; in previews only)."""

import os
from typing import TYPE_CHECKING, Iterator, List, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import NETWORK
from remote_runtime.text.numbers import is_number
from remote_runtime.units.service_directories import parsed_mode
from remote_runtime.units.unit_files import Definition

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.units.preview.planned_units import PlannedUnits

_AT_PATHS = ("ListenStream", "ListenDatagram", "ListenSequentialPacket", "ListenFIFO")
_FIFO = "ListenFIFO"
_ANY_OF_6 = "::"
_ANY = ("0.0.0.0", _ANY_OF_6)
_FOREIGN = ("FreeBind", "Transparent")  # with these an address need not be the host's
_SOCKET_MODE = 0o666


class SocketChecks(object):
    """Checks the addresses and paths of a socket unit that does not listen yet."""

    def __init__(self, context: "Context", units: "PlannedUnits") -> None:
        self._context = context
        self._units = units

    def obstacles(self, unit: Definition) -> Iterator[str]:
        """Each obstacle, as text that continues the unit's name; ``Unknowable`` if stopping an
        earlier unit may remove it.
        """
        for key in _AT_PATHS:
            for given in unit.text.all("Socket", key):
                value = (unit.text.expand(given) or "").strip()
                if value.startswith("/"):
                    reason = self._at_path(unit, key, value)
                else:
                    reason = self._at_port(unit, value) if key == "ListenStream" else ""
                if reason:
                    yield "cannot listen at %s: %s" % (value, reason)

    def _at_path(self, unit: Definition, key: str, path: str) -> str:
        """Check a path at which systemd creates the parent directories, and replaces anything that
        is there unless it is a directory.
        """
        files = self._context.files
        above = os.path.dirname(path)
        while above != "/" and not files.exists(above):
            above = os.path.dirname(above)
        if not files.is_directory(above):
            return "%s is not a directory" % above
        if files.is_directory(path):
            return "it is a directory"
        status = files.status(path, follow=True) if key == _FIFO else None
        mode = parsed_mode(unit.text.last("Socket", "SocketMode"), _SOCKET_MODE)
        other = status is not None and (status.kind != "other" or status.mode != mode)
        return "an existing file is not a FIFO with this mode" if other else ""

    def _at_port(self, unit: Definition, value: str) -> str:
        address, port = _split(value)
        if not port:
            return ""
        text = unit.text
        if not (any(text.flag("Socket", key) for key in _FOREIGN) or _is_own(address)):
            self._context.record_read("host", NETWORK)  # a command may add it
            return "this host does not have the address"
        if address == _ANY_OF_6 and text.last("Socket", "BindIPv6Only") != "ipv6-only":
            address = ""
        planned = any(_clash(address, other) for other in self._started(unit.name, port))
        if not (planned or any(_clash(address, other) for other in _listeners(port))):
            return ""
        if text.flag("Socket", "ReusePort"):
            raise Unknowable("the listener on port %d may share it" % port)
        if planned:
            return "an earlier socket uses the address"
        overlay = self._context.overlay
        if overlay is not None and any(effect.active is False for effect in overlay.units.values()):
            raise Unknowable("the listener on port %d may be stopped first" % port)
        self._context.record_read("host", NETWORK)  # or stop what listens
        return "the address is in use"

    def _started(self, but: str, port: int) -> Iterator[str]:
        """The addresses at which socket units started earlier in the run listen on a port."""
        overlay = self._context.overlay
        for name, effect in overlay.units.items() if overlay is not None else ():
            if effect.active and name.endswith(".socket") and name != but:
                text = self._units.definition(name).text
                for given in text.all("Socket", "ListenStream"):
                    address, used = _split((text.expand(given) or "").strip())
                    if used == port:
                        yield address or _ANY[0]


def _split(value: str) -> Tuple[str, int]:
    """The address, "" for any, and the port, 0 if it is invalid."""
    address, _, port = value.rpartition(":")
    return address.strip("[]"), int(port) if is_number(port) and int(port) < 65536 else 0


def _clash(address: str, other: str) -> bool:
    """Return whether a listener at one address prevents a listener at the other.

    A listener at the IPv6 wildcard address may leave the IPv4 addresses free.
    """
    if not address or other == address:
        return True
    alike = (":" in address) == (":" in other)
    return alike and (address in _ANY or other in _ANY)


def _listeners(port: int) -> List[str]:
    from remote_runtime.health.kinds.port import listeners

    return [other for protocol in ("tcp", "tcp6") for other in listeners(protocol, port)]


def _is_own(address: str) -> bool:
    """Return whether the host has an address; "" means any, and systemd itself rejects invalid
    ones.
    """
    import errno
    import socket

    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as attempt:
            attempt.bind((address, 0))
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True
