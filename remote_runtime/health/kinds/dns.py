"""``dns``: the addresses and records of a name (target)."""

import socket
from typing import Any, Dict, List, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.health.dns_message import TYPES, Answer, ask, reverse_name
from remote_runtime.health.kind import (
    BOOLEAN,
    LIST,
    NUMBER,
    TEXT,
    Kind,
    ObservedValues,
    Probe,
    Rule,
)

_SERVER_TIMEOUT = 0.5
_SYSTEM_TIMEOUT = 30.0  # as long as the system's own resolver tries, and then some


class _Dns(Kind):
    identity = "resolve"
    attributes = {"resolvable": BOOLEAN, "addrs": LIST}
    settings = {"server": TEXT, "timeout": NUMBER}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        """See the base class. A query for a record needs a server, given by its address."""
        problems = []
        record, _ = split(subject)
        if record and not rule.get("server"):
            hint = "set the DNS server to query"
            problems.append(("resolve", "a %s record requires server" % record, hint))
        server = rule.get("server")
        if server:
            try:
                server_address(str(server))
            except ValueError as error:
                problems.append(("server", str(error), "write it as 192.0.2.53 or 192.0.2.53:5353"))
        return problems

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the addresses or records of the name, from the server or the system."""
        record, name = split(subject)
        server = str(rule.get("server") or "")
        seconds = probe.patience(rule, _SERVER_TIMEOUT if server else _SYSTEM_TIMEOUT)
        if server:
            where = server_address(server)
            values = probe.wait(
                probe.bound(seconds + 1), lambda: _from_server(record, name, where, seconds)
            )
        else:
            values = probe.wait(seconds, lambda: _from_system(name))
        return {"resolvable": bool(values), "addrs": values}


def split(subject: str) -> Tuple[str, str]:
    """Split ``CNAME:name`` into the type of the record, "" if there is none, and the name."""
    record, colon, name = subject.partition(":")
    return (record, name) if colon and record in TYPES else ("", subject)


def server_address(text: str) -> Tuple[str, int]:
    """Return the host and the port of a server; port 53 by default; ``ValueError``."""
    host, port = text, "53"
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest[1:] or port
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("%r is not the address of a name server" % text)
    return host, int(port)


def _from_system(name: str) -> List[str]:
    try:
        addresses = socket.getaddrinfo(name, None, 0, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return sorted({str(entry[4][0]) for entry in addresses})


def _from_server(record: str, name: str, server: Tuple[str, int], seconds: float) -> List[str]:
    wanted = [record] if record else ["A", "AAAA"]
    if record == "PTR":
        name = reverse_name(name)
    result: List[str] = []
    failures: Dict[str, Any] = {}
    for kind in wanted:
        answer: Answer = ask(kind, name, server, seconds)
        result += answer.values
        if answer.failure:
            failures[kind] = answer.failure
    if len(failures) == len(wanted):
        reasons = sorted(set(failures.values()))
        raise ResourceError("%s answered: %s" % ("%s:%d" % server, ", ".join(reasons)))
    return sorted(set(result))


KIND = _Dns()
