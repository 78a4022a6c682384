"""The kernel's parameters of a network namespace, as they are and as they were.

A namespace outlives its host's resets, and with it what was set by sysctl.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_BELOW = ("/proc/sys/net/ipv4", "/proc/sys/net/ipv6", "/proc/sys/net/core")


def of_namespace(name: str) -> dict[str, bytes]:
    """Return all parameters that can be read, by path."""
    return _inside(name, _all)


def restore(name: str, values: dict[str, bytes]) -> None:
    """Write the parameters that differ from `values`, those of all interfaces first."""

    def write() -> dict[str, bytes]:
        now = _all()
        differing = [path for path, value in values.items() if now.get(path, value) != value]
        for path in sorted(differing, key=lambda path: "/all/" not in path):
            with suppress(OSError), open(path, "wb", buffering=0) as file:
                file.write(values[path])
        return {}

    _inside(name, write)


def _all() -> dict[str, bytes]:
    found = {}
    for top in _BELOW:
        for directory, _, names in os.walk(top):
            for path in (os.path.join(directory, name) for name in names):
                with suppress(OSError), open(path, "rb", buffering=0) as file:
                    found[path] = file.read() or b""
    return found


def _inside(name: str, work: Callable[[], dict[str, bytes]]) -> dict[str, bytes]:
    """What `work` returns in a thread that has entered the namespace, and ends with it."""
    found: list[Any] = []

    def enter() -> None:
        with open(f"/run/netns/{name}") as namespace:
            if _LIBC.setns(namespace.fileno(), _NEW_NETWORK) != 0:
                number = ctypes.get_errno()
                found.append(OSError(number, os.strerror(number), name))
                return
        try:
            found.append(work())
        except BaseException as error:  # the caller raises it again
            found.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    (result,) = found
    if isinstance(result, BaseException):
        raise result
    values: dict[str, bytes] = result
    return values
