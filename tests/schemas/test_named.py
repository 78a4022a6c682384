"""The small tuples' classes of the controller."""

import copy
import pickle
import typing
from typing import Any

import pytest

import schemas.named


class Point(schemas.named.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    kind = "point"

    @property
    def sum(self) -> int:
        return self.x + self.y


class Typed(typing.NamedTuple):
    """The same, as the standard library makes it."""

    x: int
    y: int = 2


class Nothing(schemas.named.NamedTuple):
    """No field."""


def test_it_is_a_tuple_with_names() -> None:
    """It unpacks, compares and hashes as a tuple does, and has methods and constants."""
    x, y = point = Point(y=5, x=1)
    assert (x, y) == (point.x, point.y) == point == (1, 5)
    assert (point.kind, point.sum, Point.__doc__) == ("point", 6, "A point.")
    assert len({Point(1), Point(1, 2), Point(x=1)}) == 1
    assert Nothing() == ()
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]  # which is what is tried
    assert not hasattr(point, "__dict__")


def test_it_does_what_that_of_the_standard_library_does() -> None:
    """Text, copies, dictionaries and what a class tells of itself are the same."""
    for kind in (Point, Typed):
        made: Any = kind(1)
        assert repr(made).partition("(")[2] == "x=1, y=2)"
        assert made._asdict() == {"x": 1, "y": 2}
        assert (made._replace(x=9), kind._make([3, 4])) == ((9, 2), (3, 4))
        assert (kind._fields, kind._field_defaults) == (("x", "y"), {"y": 2})
        assert kind.__match_args__ == ("x", "y")
        assert type(kind) is type
        for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert (type(again), again) == (kind, made)
        for values in ((), (1, 2, 3)):
            with pytest.raises(TypeError, match=r"__new__\(\)"):
                kind(*values)
        for named in ({"z": 1}, {"x": 1}):
            with pytest.raises(TypeError, match=r"'[xz]'"):
                kind(1, **named)
        with pytest.raises(ValueError, match="'z'"):
            made._replace(z=1)
        with pytest.raises(TypeError, match="2 arguments, got 1"):
            kind._make([3])


def test_a_field_without_a_default_comes_first() -> None:
    """The other order is refused, where the class stands."""
    with pytest.raises(TypeError, match="Wrong"):
        type(schemas.named.NamedTuple)(
            "Wrong",
            (schemas.named.NamedTuple,),
            {"__annotations__": {"x": int, "y": int}, "x": 1, "__qualname__": "Wrong"},
        )
