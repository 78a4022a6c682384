"""Ends blocking operations when a time limit is reached or the run must end (target)."""

import os
from typing import Any, List

from remote_runtime.cancellation import await_input
from remote_runtime.context import Context
from remote_runtime.downloads.time_limit import Limit

_CONNECT = 30.0  # seconds for one address, within the whole


class Guard(object):
    """Opens connections that end when the limit is reached or the run must end.

    A thread waits for either and shuts the sockets down, which ends a blocked read at once; then
    ``limit.check`` raises the reason.
    """

    def __init__(self, context: Context, limit: Limit) -> None:
        self.limit = limit
        self._wakeup = context.cancellation.wakeup
        self._sockets: List[Any] = []
        self._fired = False

    def __enter__(self) -> "Guard":
        import threading

        self._lock = threading.Lock()
        self._stopped, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *failure: Any) -> None:
        os.write(self._stop, b"x")
        self._thread.join()
        for descriptor in (self._stopped, self._stop):
            os.close(descriptor)
        for held in self._sockets:
            held.close()

    def connect(self, address: Any, timeout: Any = None, source_address: Any = None) -> Any:
        """Do the same as ``socket.create_connection``, but guarded; the given timeout
        is ignored.
        """
        import socket

        self.limit.check()
        opened = socket.create_connection(
            address, min(_CONNECT, self.limit.left or _CONNECT), source_address
        )
        # The guard ends every wait; this one holds should the clock of the thread be late.
        opened.settimeout(self.limit.left + _CONNECT)
        with self._lock:
            # A copy: TLS takes the descriptor of the original away.
            self._sockets.append(opened.dup())
            if self._fired:
                _shut(self._sockets[-1])
        return opened

    def _watch(self) -> None:
        ready = await_input([self._wakeup, self._stopped], self.limit.left)
        if self._stopped in ready:
            return
        with self._lock:
            self._fired = True
            for held in self._sockets:
                _shut(held)


def _shut(held: Any) -> None:
    import socket

    try:
        held.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other side was faster
