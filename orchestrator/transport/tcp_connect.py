"""Opens TCP connections with a time limit and clear errors (controller)."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.support.background_call import BackgroundCall
from remote_runtime.errors import UnreachableError

if TYPE_CHECKING:
    from orchestrator.transport.route import Route

REFUSED_ATTEMPTS = 4
_FAMILIES = {"any": socket.AF_UNSPEC, "inet": socket.AF_INET, "inet6": socket.AF_INET6}
_GONE = {
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ETIMEDOUT: "no response",
    errno.EHOSTDOWN: "the host is down",
    errno.EACCES: "blocked by a local firewall",
    errno.EPERM: "blocked by a local firewall",
}


class Backoff:
    """Pauses between attempts, with jitter so that a fleet does not retry simultaneously."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self.attempts = 0

    def pause(self) -> bool:
        """Wait briefly; False if there is no time for another attempt."""
        self.attempts += 1
        import random

        delay = random.uniform(0.1, 0.3) * min(2.0 ** (self.attempts - 1), 8.0)
        if time.monotonic() + delay >= self._deadline:
            return False
        time.sleep(delay)
        return True


def dial(
    address: str,
    port: int,
    *,
    family: str,
    deadline: float,
) -> socket.socket:
    """A connected socket that does not delay small packets and limits how long a peer may be
    silent.

    ``deadline`` is a time of ``time.monotonic()``. UnreachableError with the kind
    ``transport.resolve`` or ``transport.connect``. A refused connection is retried a few times.
    """
    backoff = Backoff(deadline)
    addresses = _resolve(address, port, family, deadline)
    while True:
        error: OSError | None = None
        for number, (kind, target) in enumerate(addresses):
            share = (deadline - time.monotonic()) / (len(addresses) - number)
            try:
                return _connect(kind, target, share)
            except OSError as caught:
                error = caught
        if not _may_pass(error, backoff.attempts) or not backoff.pause():
            raise _unreachable(address, port, error) from error


def _may_pass(error: OSError | None, attempts: int) -> bool:
    """Whether another attempt may succeed: sshd sheds load by resetting connections."""
    if isinstance(error, ConnectionRefusedError):
        return attempts < REFUSED_ATTEMPTS - 1
    return isinstance(error, ConnectionResetError)


def _resolve(
    address: str, port: int, family: str, deadline: float
) -> list[tuple[int, tuple[str, int] | tuple[str, int, int, int]]]:
    # For a string, Python loads the codec of international names, which takes 1 ms.
    host = address.encode("ascii") if address.isascii() else address

    def look_up(flags: int = 0) -> list[Any]:
        """The addresses of the host. OSError."""
        kind = _FAMILIES.get(family, socket.AF_UNSPEC)
        return socket.getaddrinfo(host, port, kind, socket.SOCK_STREAM, flags=flags)

    try:
        try:
            addresses = look_up(socket.AI_NUMERICHOST)
        except socket.gaierror:  # a name: the resolver itself knows no deadline
            addresses = BackgroundCall(look_up, f"look up {address}").wait(deadline)
    except TimeoutError as error:
        raise UnreachableError(
            f"timed out resolving {address}",
            "transport.resolve",
            hint="check the name server, raise --connect-timeout, or set 'address:' in the "
            "inventory",
        ) from error
    except (socket.gaierror, UnicodeError) as error:
        raise UnreachableError(
            f"cannot resolve {address}: {getattr(error, 'strerror', None) or error}",
            "transport.resolve",
            hint="check the name, or set 'address:' in the inventory",
        ) from error
    return [(kind, target) for kind, _, _, _, target in addresses]


def _connect(kind: int, target: tuple[object, ...], timeout: float) -> socket.socket:
    if timeout <= 0:
        raise TimeoutError(errno.ETIMEDOUT, "timed out")
    sock = socket.socket(kind, socket.SOCK_STREAM)
    try:
        end = time.monotonic() + timeout
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sock.connect(target)
        _await(sock, end)
        sock.settimeout(timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


def _await(sock: socket.socket, end: float) -> None:
    """Wait until a connection that was started is established; OSError."""
    poll = select.poll()
    poll.register(sock, select.POLLOUT)
    if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
        raise TimeoutError(errno.ETIMEDOUT, "timed out")
    failure = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if failure:
        raise OSError(failure, os.strerror(failure))


class ConnectAttempt(NamedTuple):
    """The first attempt to reach a host: its time limit and, if that needs no SSH, its socket."""

    deadline: float
    sock: socket.socket | None

    @classmethod
    def to(cls, route: Route) -> ConnectAttempt:
        """Dial a host that is reached directly; UnreachableError."""
        deadline = route.end(route.timeout)
        direct = not (route.jumps or route.proxy_command)
        return cls(deadline, dial_route(route, deadline) if direct else None)


def dial_route(route: Route, deadline: float) -> socket.socket:
    """A socket connected to the address of a route, and monitored; see ``dial``."""
    sock = dial(route.address, route.port, family=route.family, deadline=deadline)
    watch(sock, route.alive)
    return sock


def watch(sock: socket.socket, seconds: float) -> None:
    """Let the kernel end a connection whose peer is silent for ``seconds``, idle or not."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    third = max(1, int(seconds / 3))
    for name, value in (
        ("TCP_KEEPIDLE", third),
        ("TCP_KEEPINTVL", third),
        ("TCP_KEEPCNT", 2),
        ("TCP_USER_TIMEOUT", int(seconds * 1000)),
    ):
        if hasattr(socket, name):  # Linux has all of them, other systems some
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def disconnect_hint(port: int) -> str:
    """Return the hint for a port that ends or resets connections before the SSH greeting."""
    return (
        f"is {port} the port of sshd? If so, sshd may be overloaded (MaxStartups) or refuse "
        "this address; lower --forks"
    )


def _unreachable(address: str, port: int, error: OSError | None) -> UnreachableError:
    where = f"{address} port {port}"
    if isinstance(error, ConnectionRefusedError):
        hint = "is sshd running on the host, and is the port correct?"
        return UnreachableError(f"{where}: connection refused", "transport.connect", hint=hint)
    if isinstance(error, ConnectionResetError):
        hint = disconnect_hint(port)
        return UnreachableError(f"{where}: connection reset", "transport.connect", hint=hint)
    if isinstance(error, TimeoutError):
        hint = "is the host up, and is the address correct? Raise --connect-timeout to wait longer"
        return UnreachableError(f"{where}: connection timed out", "transport.connect", hint=hint)
    reason = _GONE.get(error.errno or 0, error.strerror or str(error)) if error else "no address"
    return UnreachableError(f"cannot connect to {where}: {reason}", "transport.connect")
