"""Leaves out a module that a library asks for and does not use here (controller)."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType


@contextlib.contextmanager
def placeholder(name: str, **members: object) -> Iterator[None]:
    """Whoever imports the module meanwhile gets one with these members; afterwards it is the real
    one again. Does nothing where that is loaded already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = module = ModuleType(name)
    vars(module).update(members)
    try:
        yield
    finally:
        del sys.modules[name]
