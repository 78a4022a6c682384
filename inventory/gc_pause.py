"""Pauses the garbage collector while many lasting objects are made (controller).

Nothing that a reader makes is garbage, and scanning it again and again doubles the time it takes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Disable the cyclic collector in the block, then restore its state; may be nested."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
