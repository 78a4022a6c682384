"""``addr``: whether an address can be reached (target)."""

import os
import socket
from typing import List, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import BOOLEAN, NUMBER, TEXT, Kind, ObservedValues, Probe, Rule

_SOCKETS = {
    "tcp": (socket.AF_UNSPEC, socket.SOCK_STREAM),
    "tcp4": (socket.AF_INET, socket.SOCK_STREAM),
    "tcp6": (socket.AF_INET6, socket.SOCK_STREAM),
    "udp": (socket.AF_UNSPEC, socket.SOCK_DGRAM),
    "udp4": (socket.AF_INET, socket.SOCK_DGRAM),
    "udp6": (socket.AF_INET6, socket.SOCK_DGRAM),
}
_DEFAULT = 0.5


class _Addr(Kind):
    identity = "address"
    attributes = {"reachable": BOOLEAN}
    settings = {"timeout": NUMBER, "local-address": TEXT}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        try:
            split(subject)
        except ValueError as error:
            return [("address", str(error), "write it as tcp://host:port")]
        return []

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return whether a connection succeeds in time."""
        seconds = probe.patience(rule, _DEFAULT)
        local = str(rule.get("local-address") or "")

        def reachable() -> bool:
            try:
                return bool(probe.wait(seconds, lambda: not refusal(subject, seconds, local)))
            except ResourceError:
                return False  # the time is up, which is what cannot be reached looks like

        return {"reachable": reachable}


def split(address: str) -> Tuple[str, str, int]:
    """Split ``tcp://host:port`` into its parts; ``ValueError``."""
    protocol, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if protocol not in _SOCKETS or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("%r is not a valid address" % address)
    return protocol, host, int(port)


def refusal(address: str, seconds: float, local: str = "") -> str:
    """Return the reason why nothing answers there, "" for an answer; the seconds apply to each of
    its addresses.
    """
    protocol, host, port = split(address)
    family, kind = _SOCKETS[protocol]
    try:
        found = socket.getaddrinfo(host, port, family, kind)
    except (OSError, UnicodeError):
        return "the host %s could not be resolved" % host
    reason = "it has no address"
    for number, kind, proto, _, where in found:
        try:
            with socket.socket(number, kind, proto) as connection:
                connection.settimeout(seconds)
                if local:
                    connection.bind((local, 0))
                connection.connect(where)
                return ""
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else "no response"
    return reason


KIND = _Addr()
