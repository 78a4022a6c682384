"""Pauses the garbage collector while many long-lived objects are created (controller).

Nothing that a reader creates is garbage, and repeatedly scanning it doubles the time.
"""

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
