"""A runtime in a process of its own, forked from one that has imported it already."""

import array
import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from typing import Dict, List, Optional

_SERVER = """\
import os, sys
sys.path.insert(0, %r)
from tests.remote_runtime.fork_server import settings
nonce, lock, state = settings(%d, %r)
from remote_runtime.session import serve
os._exit(serve(nonce, "0" * 64, lock, state))  # to take all that was imported apart takes longest
"""


class ForkServer(object):
    """The process that forks, as this one's environment is now."""

    def __init__(self, root: str) -> None:
        self.environment = dict(os.environ)
        self.requests, theirs = socket.socketpair()
        number = theirs.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _SERVER % (root, number, root)],
            stdin=subprocess.PIPE,  # as a runtime has it: no file, no terminal
            stdout=subprocess.PIPE,
            pass_fds=[number],
        )
        theirs.close()
        atexit.register(self.close)

    def close(self) -> None:
        atexit.unregister(self.close)
        self.requests.close()
        self._process.communicate()


_servers: Dict[str, ForkServer] = {}


def _server(root: str) -> ForkServer:
    if root in _servers and _servers[root].environment != dict(os.environ):
        _servers.pop(root).close()
    if root not in _servers:
        _servers[root] = ForkServer(root)
    return _servers[root]


class Forked(object):
    """What ``subprocess.Popen`` would be for a runtime with these settings."""

    def __init__(self, root: str, settings: List[str]) -> None:
        pipes = [os.pipe() for _ in range(4)]
        (theirs_in, ours_in), *others = pipes
        theirs = [theirs_in] + [writing for _, writing in others]
        ours = [reading for reading, _ in others]
        told = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", theirs).tobytes())]
        _server(root).requests.sendmsg(["\0".join(settings).encode()], told)
        for number in theirs:
            os.close(number)
        self.returncode: Optional[int] = None
        self.stdin = os.fdopen(ours_in, "wb", 0)
        self.stdout, self.stderr, self._status = [os.fdopen(n, "rb", 0) for n in ours]
        self.pid = int(self._status.readline())

    def poll(self) -> Optional[int]:
        """The exit code of a process that has ended, a signal's number negated; else None."""
        return self._ended(0)

    def wait(self, timeout: Optional[float] = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("runtime", timeout or 0)
        return code

    def _ended(self, timeout: Optional[float]) -> Optional[int]:
        if self.returncode is None and self._has_status(timeout):
            status = int(self._status.readline())
            self._status.close()
            signalled = os.WIFSIGNALED(status)
            self.returncode = -os.WTERMSIG(status) if signalled else os.WEXITSTATUS(status)
        return self.returncode

    def _has_status(self, timeout: Optional[float]) -> bool:
        poll = select.poll()  # select takes no descriptor from 1024 on
        poll.register(self._status, select.POLLIN)
        return bool(poll.poll(None if timeout is None else timeout * 1000))

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it ended just now, and was waited for
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
