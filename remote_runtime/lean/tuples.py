"""``typing.NamedTuple`` as the shipped runtime has it: the same classes, made in a moment (target).

``orchestrator.image.stripping`` puts this base in the place of the other and writes each field as
``name = field()`` or ``name = field(DEFAULT)``.
"""

from _operator import itemgetter  # all of ``operator`` that is needed
from typing import Any, Dict, Tuple

_REQUIRED = object()


class field(object):  # noqa: N801  (it reads as a word of the language)
    """One field of a class, with the default that it may have."""

    def __init__(self, default: Any = _REQUIRED) -> None:
        self.default = default


class NamedTuple(tuple):  # type: ignore[type-arg]  # of whatever the fields are
    """A tuple whose items have names; a class below it is made of fields, methods and constants."""

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

    def __new__(cls, *values: Any, **named: Any) -> Any:
        if named or len(values) != len(cls._fields):
            values += cls._rest(cls._fields[len(values) :], named)
            if len(values) != len(cls._fields):
                raise TypeError("%s has %d fields" % (cls.__name__, len(cls._fields)))
        return tuple.__new__(cls, values)

    @classmethod
    def _rest(cls, names: Tuple[str, ...], named: Dict[str, Any]) -> Tuple[Any, ...]:
        default = cls._field_defaults
        try:
            rest = tuple([named.pop(n) if n in named else default[n] for n in names])
        except KeyError as missing:
            raise TypeError("%s needs %s" % (cls.__name__, missing)) from None
        if named:
            raise TypeError("%s: what is %s?" % (cls.__name__, ", ".join(sorted(named))))
        return rest

    def _replace(self, **changed: Any) -> Any:
        """A copy with these fields changed."""
        values = [changed.pop(name, value) for name, value in zip(self._fields, self)]
        return type(self)(*values, **changed)

    def __repr__(self) -> str:
        pairs = ["%s=%r" % pair for pair in zip(self._fields, self)]
        return "%s(%s)" % (type(self).__name__, ", ".join(pairs))
