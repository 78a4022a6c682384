"""A fast replacement for ``typing.NamedTuple`` in the shipped runtime (target).

``orchestrator.image.minifier`` replaces the original base with this one and writes out the fields::

    y = 2  # a default
    __slots__ = ()
    _fields = ("x", "y",)
    _field_defaults = {"y": y}
    __new__ = lambda cls, x, y=y: made(cls, (x, y,))
    x, y, = items[:2]
"""

from operator import itemgetter
from typing import Any, Callable, Dict, List, Tuple

_MAX_FIELDS = 40  # of one class

made: Callable[..., Any] = tuple.__new__
items: List[Any] = [property(itemgetter(at)) for at in range(_MAX_FIELDS)]


class NamedTuple(tuple):  # type: ignore[type-arg]  # fields of any type
    """A tuple with named items; a subclass consists of fields, methods and constants."""

    __slots__ = ()
    _fields: Tuple[str, ...] = ()
    _field_defaults: Dict[str, Any] = {}

    def _replace(self, **changed: Any) -> Any:
        """Return a copy with these fields changed."""
        values = [changed.pop(name, value) for name, value in zip(self._fields, self)]
        if changed:
            names = ", ".join(sorted(changed))
            raise TypeError("%s has no field %s" % (type(self).__name__, names))
        return made(type(self), values)

    def __repr__(self) -> str:
        pairs = ["%s=%r" % pair for pair in zip(self._fields, self)]
        return "%s(%s)" % (type(self).__name__, ", ".join(pairs))
