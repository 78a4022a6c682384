"""``typing.NamedTuple``, whose classes are made in a moment (controller).

Python compiles a function for each class of that, also for those of which a command makes no tuple:
a tenth of the time that the command takes. Here the function is compiled with the first tuple.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter  # what ``collections.namedtuple`` reads an item with

    _bare = tuple.__new__

    class _Named(tuple):
        """What all of these classes have."""

        __slots__ = ()

        def __new__(cls, *values: Any, **named: Any) -> Any:
            """The first tuple of a class, which gets the function for all others."""
            owner = next(one for one in cls.__mro__ if "_fields" in vars(one))
            owner.__new__ = staticmethod(_maker(owner))
            return owner.__new__(cls, *values, **named)

        @classmethod
        def _make(cls, values: Any) -> Any:
            """A tuple of so many values; TypeError."""
            return cls(*values)

        def _replace(self, **changed: Any) -> Any:
            """A copy with these fields changed; TypeError where there is none of a name."""
            if not changed.keys() <= set(self._fields):
                unknown = ", ".join(sorted(changed.keys() - set(self._fields)))
                raise TypeError(f"{type(self).__name__} has no {unknown}")
            return _bare(type(self), map(changed.get, self._fields, self))

        def _asdict(self) -> dict[str, Any]:
            """Its values by name, in order."""
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            """What a copy is made of."""
            return tuple(self)

        def __repr__(self) -> str:
            told = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({told})"

    class _Making(type):
        """Makes a class of what is written below ``class X(NamedTuple)``."""

        def __new__(cls, name: str, _: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = {one: body[one] for one in fields if one in body}
            body.update((one, _tuplegetter(at, None)) for at, one in enumerate(fields))
            own = {"__slots__": (), "_fields": fields, "_field_defaults": defaults}
            return type(name, (_Named,), {**body, **own, "__match_args__": fields})

    NamedTuple = type.__new__(_Making, "NamedTuple", (), {"__slots__": ()})


def _maker(kind: Any) -> Any:
    """The function that binds what is given to the fields of a class, as any function does."""
    defaults = {f"_{at}": value for at, value in enumerate(kind._field_defaults.values())}
    given = dict(zip(kind._field_defaults, defaults, strict=True))
    takes = "".join(
        f", {name}={given[name]}" if name in given else f", {name}" for name in kind._fields
    )
    items = "".join(f"{name}, " for name in kind._fields)
    source = f"lambda _cls{takes}: _bare(_cls, ({items}))"
    made = eval(source, {**defaults, "_bare": tuple.__new__})
    made.__name__, made.__qualname__ = "__new__", f"{kind.__qualname__}.__new__"
    return made
