"""Leaves out a module that a library asks for and does not use here (controller)."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from types import ModuleType

_leaving = threading.Lock()


@contextlib.contextmanager
def placeholder(name: str, **members: object) -> Iterator[None]:
    """Whoever imports the module meanwhile gets one with these members; afterwards it is the real
    one again. Does nothing where that is loaded already.

    A member that was not given is that of the real one, which is loaded for it; so are all of them
    afterwards, for who holds on to what was imported. A module below it cannot be imported
    meanwhile, unless it has a placeholder as well.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = module = _Placeholder(name)
    vars(module).update(members)
    above, _, own = name.rpartition(".")
    if above:  # as an import leaves it there
        setattr(importlib.import_module(above), own, module)
    try:
        yield
    finally:
        module.leave()
        for member in members:
            delattr(module, member)


class _Placeholder(ModuleType):
    def leave(self) -> None:
        """Make room for the real one, which needs the real ones above it and wants those below."""
        with _leaving:
            if sys.modules.get(self.__name__) is not self:
                return
            for name, module in list(sys.modules.items()):
                if isinstance(module, _Placeholder) and _are_related(name, self.__name__):
                    del sys.modules[name]

    def __getattr__(self, member: str) -> object:
        if member.startswith("__"):
            raise AttributeError(f"{self.__name__} has no {member}")
        self.leave()
        return getattr(importlib.import_module(self.__name__), member)


def _are_related(one: str, other: str) -> bool:
    """Whether one of two modules stands below the other one, or they are the same."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
