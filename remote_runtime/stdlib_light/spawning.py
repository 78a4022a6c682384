"""Starts commands without special requirements, such as queries, without
``subprocess`` (target).
"""

import os
from typing import Any, Dict, Optional, Sequence

POSSIBLE = hasattr(os, "posix_spawn")  # since Python 3.8


class Spawned(object):
    """A running command, with the part of the interface of ``subprocess.Popen`` that is needed."""

    stdin = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: Optional[int] = None

    def poll(self) -> Optional[int]:
        """Return its exit code, or minus the signal that ended it, or None while it runs."""
        return self._reap(os.WNOHANG)

    def wait(self) -> int:
        """Wait for its end; return the same."""
        code = self._reap(0)
        while code is None:
            code = self._reap(0)
        return code

    def _reap(self, options: int) -> Optional[int]:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                ended = os.WIFSIGNALED(status)
                self.returncode = -os.WTERMSIG(status) if ended else os.WEXITSTATUS(status)
        return self.returncode


def spawn(
    program: str, argv: Sequence[str], env: Dict[str, str], outputs: Sequence[int]
) -> Spawned:
    """Start a command in a new session, with our directory, user and umask.

    ``outputs`` are the descriptors of its stdout and stderr. ``OSError``; ``NotImplementedError``
    if the system cannot start a session in this way.
    """
    signal: Any = __import__("_signal")  # its numbers without its enumerations
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, outputs[0], 1),
        (os.POSIX_SPAWN_DUP2, outputs[1], 2),
    ]
    # Python ignores these two; a program expects them to end it.
    default = [signal.SIGPIPE, signal.SIGXFSZ]
    pid = os.posix_spawn(
        program, list(argv), env, file_actions=actions, setsid=True, setsigdef=default
    )
    return Spawned(pid)
