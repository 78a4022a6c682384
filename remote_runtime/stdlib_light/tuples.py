"""A fast replacement for ``typing.NamedTuple`` in the shipped runtime (target).

``orchestrator.image.minifier`` replaces the original base with this one, writes each field as
``name = field()`` or ``name = field(DEFAULT)``, and adds the constructor after the last field::

    __new__ = lambda cls, x, y=y.default: made(cls, (x, y,))
"""

from operator import itemgetter
from typing import Any, Callable, Dict, Tuple

_REQUIRED = object()

made: Callable[..., Any] = tuple.__new__


class field(object):  # noqa: N801 - it reads as a word of the language
    """Declare one field of a class, with an optional default."""

    def __init__(self, default: Any = _REQUIRED) -> None:
        self.default = default


class NamedTuple(tuple):  # type: ignore[type-arg]  # fields of any type
    """A tuple with named items; a subclass consists of fields, methods and constants."""

    __slots__ = ()
    _fields: Tuple[str, ...] = ()
    _field_defaults: Dict[str, Any] = {}

    def __init_subclass__(cls) -> None:
        fields = {name: value for name, value in vars(cls).items() if isinstance(value, field)}
        cls._fields = tuple(fields)
        cls._field_defaults = {
            name: value.default for name, value in fields.items() if value.default is not _REQUIRED
        }
        for at, name in enumerate(fields):
            setattr(cls, name, property(itemgetter(at)))

    def _replace(self, **changed: Any) -> Any:
        """Return a copy with these fields changed."""
        values = [changed.pop(name, value) for name, value in zip(self._fields, self)]
        if changed:
            raise TypeError(
                "%s: no such field: %s" % (type(self).__name__, ", ".join(sorted(changed)))
            )
        return made(type(self), values)

    def __repr__(self) -> str:
        pairs = ["%s=%r" % pair for pair in zip(self._fields, self)]
        return "%s(%s)" % (type(self).__name__, ", ".join(pairs))
