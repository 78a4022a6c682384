"""Reuses threads, because starting one means waiting until it runs (controller)."""

import os
import queue
import threading
from collections.abc import Callable

Work = Callable[[], None]
MAX_IDLE = 32
"""The maximum number of idle threads; each uses tens of KB for its stack and its caches."""
_spare: list["queue.SimpleQueue[Work]"] = []  # what each thread that has nothing to do waits at
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_spare.clear)  # threads stay behind


def run_in_background(work: Work, name: str) -> None:
    """Run it in another thread, which has that ``name`` during the call.

    The process does not wait for it at exit.
    """
    try:
        waiting = _spare.pop()
    except IndexError:
        waiting = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(waiting,), daemon=True).start()

    def named() -> None:
        """Run the work under the name of the thread."""
        threading.current_thread().name = name
        work()

    waiting.put(named)


def _serve(waiting: "queue.SimpleQueue[Work]") -> None:
    while True:
        waiting.get()()
        if len(_spare) >= MAX_IDLE:
            return
        threading.current_thread().name = "spare"
        _spare.append(waiting)
