"""``typing.NamedTuple``, whose classes are made in a moment (controller).

Python compiles a function for each class of that: a tenth of a millisecond each, for a hundred of
them in a command that makes few tuples of most. Here it is compiled for what is made often.

A class takes its fields from the annotations as they are written, so its module has ``from
__future__ import annotations``. On a target it is ``remote_runtime.lean.tuples`` that does this,
with functions that are written out when the runtime is packed.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter  # what ``collections.namedtuple`` reads an item with

    OFTEN = 8
    _bare = tuple.__new__

    class _Named(tuple):
        """What all of these classes have."""

        __slots__ = ()

        def __new__(cls, /, *values: Any, **named: Any) -> Any:
            """One of the first tuples of a class, or one that cannot be: TypeError."""
            owner = next(one for one in cls.__mro__ if "_fields" in vars(one))
            owner._made_so_far += 1
            rest = owner._fields[len(values) :]
            found = {**owner._field_defaults, **named}
            left = named.keys() - set(rest)
            fits = not left and len(values) + len(rest) == len(owner._fields)
            if fits and owner._made_so_far < OFTEN:
                with contextlib.suppress(KeyError):
                    return _bare(cls, (*values, *[found[name] for name in rest]))
            owner.__new__ = staticmethod(_maker(owner))
            return owner.__new__(cls, *values, **named)

        @classmethod
        def _make(cls, values: Any) -> Any:
            """A tuple of a value for each field; TypeError."""
            made = _bare(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
            return made

        def _replace(self, /, **changed: Any) -> Any:
            """A copy with these fields changed; TypeError where there is none of a name."""
            if not changed.keys() <= set(self._fields):
                unknown = ", ".join(sorted(changed.keys() - set(self._fields)))
                raise TypeError(f"{type(self).__name__} has no {unknown}")
            return _bare(type(self), map(changed.get, self._fields, self))

        __replace__ = _replace  # as ``copy.replace`` calls it

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

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if any(one.startswith("__annotate") for one in body) and "__annotations__" not in body:
                raise TypeError(f"{name}: its module lacks from __future__ import annotations")
            fields = tuple(body.get("__annotations__", ()))
            defaults = {one: body[one] for one in fields if one in body}
            defaults_last = fields[len(fields) - len(defaults) :] == tuple(defaults)
            if len(bases) > 1 or "__new__" in body or not defaults_last:
                raise TypeError(f"{name}: one base, no __new__, and fields with defaults last")
            body.update((one, _tuplegetter(at, None)) for at, one in enumerate(fields))
            body.setdefault("__match_args__", fields)
            own = {"_fields": fields, "_field_defaults": defaults, "_made_so_far": 0}
            return type(name, (_Named,), {**body, **own, "__slots__": ()})

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
    # The names are those of fields, which Python has read as names already.
    made = eval(source, {**defaults, "_bare": tuple.__new__})
    made.__name__, made.__qualname__ = "__new__", f"{kind.__qualname__}.__new__"
    return made
