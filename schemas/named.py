"""``typing.NamedTuple`` without a ``__new__`` to compile for each class (controller only).

A class that is written as there is the same one here, made in a tenth of the time, and the start of
a push makes a hundred: what makes a tuple is compiled once for each number of fields, and given
their names. For targets ``remote_runtime.lean.tuples`` does it.
"""

import sys
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

_new: Any = tuple.__new__
_codes: dict[int, CodeType] = {}


def _maker(name: str, fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
    """The ``__new__`` of a class, which binds fields by place and name as any function does."""
    code = _codes.get(len(fields))
    if code is None:
        items = "".join(f"_{at}," for at in range(len(fields)))
        code = _codes[len(fields)] = eval(f"lambda _cls, {items}: _new(_cls, ({items}))").__code__
    code = code.replace(co_varnames=("_cls", *fields))
    made = FunctionType(code, {"_new": _new}, "__new__", defaults)
    made.__qualname__ = f"{name}.__new__"
    return made


class _Named(tuple[Any, ...]):
    """What all such classes have in common."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        """A tuple of the values, as many as there are fields."""
        made = _new(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changed: Any) -> Any:
        """A copy with these fields changed."""
        made = self._make([changed.pop(name, value) for name, value in zip(self._fields, self)])
        if changed:
            raise ValueError(f"Got unexpected field names: {list(changed)!r}")
        return made

    def _asdict(self) -> dict[str, Any]:
        """The values by name."""
        return dict(zip(self._fields, self))

    def __repr__(self) -> str:
        pairs = [f"{name}={value!r}" for name, value in zip(self._fields, self)]
        return f"{type(self).__name__}({', '.join(pairs)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _Maker(type):
    """Makes a class of the fields that its body names; the class itself is one as any other."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return type.__new__(cls, name, bases, body)
        from _collections import _tuplegetter  # type: ignore[import-not-found]  # not in the stubs

        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body[field] for field in fields if field in body}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one that has one")
        for at, field in enumerate(fields):
            body[field] = _tuplegetter(at, None)
        body["__slots__"] = ()
        body["__match_args__"] = body["_fields"] = fields
        body["_field_defaults"] = defaults
        body["__new__"] = _maker(body["__qualname__"], fields, tuple(defaults.values()))
        own = (_Named if base is NamedTuple else base for base in bases)
        return type(name, tuple(own), body)


if TYPE_CHECKING or sys.version_info >= (3, 14):  # where annotations stand elsewhere
    from typing import NamedTuple as NamedTuple
else:

    class NamedTuple(metaclass=_Maker):
        """A tuple whose items have the names and defaults that the body of a class says."""
