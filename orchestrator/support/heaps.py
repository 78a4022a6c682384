"""How many heaps the threads of this process have (controller; glibc).

glibc gives each new thread one of its own, up to eight for each processor, so that they need not
wait for each other. Where Python lets one of them go on at a time anyway, that only costs memory:
on 16 processors 0.1 MB for each host that is at work.
"""

from __future__ import annotations

import contextlib
import os
import sys

_M_ARENA_MAX = -8  # as <malloc.h> calls it


def share_heaps() -> None:
    """Have threads that begin from now on share the heaps that there are.

    Does nothing where the user has said how many there are to be, where several threads go on at a
    time, nor with another C library. glibc heeds it as long as there are eight heaps at the most.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if os.environ.get("MALLOC_ARENA_MAX") or "glibc.malloc.arena_max" in tunables:
        return
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    with contextlib.suppress(Exception):  # whatever forbids it: it only saves memory
        import ctypes  # takes 2 ms to load; some Pythons have none

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
