"""Pauses the garbage collector while many lasting objects are made (controller).

Nothing that a reader makes is garbage, and scanning it again and again doubles the time it takes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 100_000
"""Objects that it would take a noticeable time to look at, in every full collection to come."""


@contextmanager
def collection_paused() -> Iterator[None]:
    """Switch the cyclic collector off for the block and back to what it was; may be nested.

    Very many objects that came to be in the block are never looked at: they stay to the end.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > _MANY:
                gc.freeze()
            gc.enable()
