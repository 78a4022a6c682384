"""Detects whether systemd has executed the program of a service yet (target).

systemd forks, reports the service as running, and only then prepares the process and executes the
program. Until then, the process has another name. If it fails in between, it is gone although its
state was already reported as running.
"""

from typing import Callable, Tuple

TIMEOUT = 5.0  # seconds that systemd is given
_STEP = 0.01
_PROCESSES = "/proc"
_EXECUTOR = b"systemd-executo"  # as the kernel cuts it


def await_execution(
    sleep: Callable[[float], None], process: int, processes: str = _PROCESSES
) -> bool:
    """Wait until the program is executed or the process is gone; return whether waiting was
    necessary.
    """
    waited = 0.0
    while process and waited < TIMEOUT and _is_prepared(process, processes):
        sleep(_STEP)
        waited += _STEP
    return waited > 0


def _is_prepared(process: int, processes: str) -> bool:
    """Return whether the process is still systemd's own; its name has parentheses now or soon."""
    name, words = _told(process, processes)
    return name.startswith((b"(", _EXECUTOR)) or bool(name and (name, words) == _told(1, processes))


def _told(process: int, processes: str) -> Tuple[bytes, bytes]:
    """Its name and its command line; empty if it is gone."""
    try:
        with open("%s/%d/comm" % (processes, process), "rb") as file:
            name = file.read()
        with open("%s/%d/cmdline" % (processes, process), "rb") as file:
            return name, file.read()
    except OSError:
        return b"", b""
