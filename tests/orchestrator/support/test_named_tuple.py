"""Named tuples that are made in a moment do what those of ``typing`` do."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import typing
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.support import named_tuple


class Theirs(typing.NamedTuple):
    """As Python makes them."""

    name: str
    port: int = 22
    tags: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """With its port."""
        return f"{self.name}:{self.port}"

    @classmethod
    def at_home(cls) -> Theirs:
        """One of them."""
        return cls("localhost", tags=("home",))


class Ours(named_tuple.NamedTuple):
    """As we make them, from the same text."""

    name: str
    port: int = 22
    tags: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """With its port."""
        return f"{self.name}:{self.port}"

    @classmethod
    def at_home(cls) -> Ours:
        """One of them."""
        return cls("localhost", tags=("home",))


class Below(Ours):
    """A class below one that has fields."""

    def __repr__(self) -> str:
        return f"<{super().__repr__()}>"


KINDS: list[Any] = [Theirs, Ours]
both = pytest.mark.parametrize("kind", KINDS)


@both
def test_values_by_place_name_and_default(kind: Any) -> None:
    """What is given is bound as with any function."""
    assert kind("a") == ("a", 22, ())
    assert kind("a", tags=("x",)) == ("a", 22, ("x",))
    assert kind(name="a", port=1, tags=()) == ("a", 1, ())
    assert (kind("a", 1).name, kind("a", 1).port, kind("a").label) == ("a", 1, "a:22")
    assert kind.at_home() == ("localhost", 22, ("home",))


@both
def test_what_python_knows_of_it(kind: Any) -> None:
    """Its fields and defaults, and its text."""
    assert kind._fields == kind.__match_args__ == ("name", "port", "tags")
    assert kind._field_defaults == {"port": 22, "tags": ()}
    assert repr(kind("a")) == f"{kind.__name__}(name='a', port=22, tags=())"
    assert kind("a")._asdict() == {"name": "a", "port": 22, "tags": ()}
    assert kind._make(["a", 1, ()])._replace(port=3) == ("a", 3, ())
    assert type(kind("a")._replace(port=3)) is kind
    assert kind.__module__ == __name__


@both
def test_it_holds_nothing_but_its_fields(kind: Any) -> None:
    """No dictionary for each, and nothing to be set."""
    assert not hasattr(kind("a"), "__dict__")
    with pytest.raises(AttributeError):
        kind("a").port = 3
    assert sys.getsizeof(kind("a")) == sys.getsizeof(Theirs("a"))


@both
def test_a_copy_is_of_its_class(kind: Any) -> None:
    """Copied, and pickled."""
    one = kind("a", tags=("x",))
    for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (type(made), made) == (kind, one)


@both
def test_it_is_matched(kind: Any) -> None:
    """By place and by name."""
    match kind("a", 1):
        case kind(name, port=1):
            assert name == "a"
        case _:
            pytest.fail("not matched")


@both
@pytest.mark.parametrize(
    "wrong",
    [
        lambda kind: kind(),
        lambda kind: kind("a", 1, (), 2),
        lambda kind: kind("a", ports=1),
        lambda kind: kind._make(("a", 1, (), 2)),
        lambda kind: kind._make(("a",)),
    ],
)
def test_wrong_values_are_refused(kind: Any, wrong: Callable[[Any], object]) -> None:
    """Too few, too many, and of another name."""
    with pytest.raises(TypeError):
        wrong(kind)


def test_a_field_that_is_not_there_is_not_replaced() -> None:
    """It is named."""
    unknown: dict[str, Any] = {"ports": 1, "host": "b"}
    with pytest.raises(TypeError, match="Ours has no host, ports"):
        Ours("a")._replace(**unknown)


@pytest.mark.parametrize("wrong", [(), (1,), (1, 2, 3, 4)])
def test_few_and_many_are_bound_alike(wrong: tuple[int, ...]) -> None:
    """Whether the class has its function already, or gets it for what it has to refuse."""

    class Bound(named_tuple.NamedTuple):
        x: int
        y: int
        z: int = 3

    for _ in range(30):
        assert Bound(1, 2) == Bound(1, y=2) == Bound(y=2, x=1) == (1, 2, 3)
        assert Bound(1, 2, 4) == Bound(z=4, y=2, x=1) == (1, 2, 4)
        with pytest.raises(TypeError, match=r"Bound\.__new__"):
            Bound(*wrong)
        wrong_name: dict[str, Any] = {"y": 2, "x": 3}
        with pytest.raises(TypeError, match="multiple values for argument 'x'"):
            Bound(1, **wrong_name)


def test_a_class_below_is_made_first() -> None:
    """Its tuples are its own, whichever of the two classes is asked first."""

    class Upper(named_tuple.NamedTuple):
        x: int

    class Lower(Upper):
        pass

    assert type(Lower(1)) is Lower
    assert type(Upper(1)) is Upper
    assert repr(Below("a")) == "<Below(name='a', port=22, tags=())>"
    assert type(Below("a")._replace(port=1)) is Below


def test_many_threads_make_the_first_one() -> None:
    """Each gets what it asked for."""

    class Asked(named_tuple.NamedTuple):
        who: int
        what: str = "x"

    ready = threading.Barrier(6)
    found: list[Asked] = []

    def ask(who: int) -> None:
        ready.wait()
        found.extend(Asked(who) for _ in range(12))

    threads = [threading.Thread(target=ask, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(who, "x") for who in range(6) for _ in range(12)]


def test_fields_may_have_the_names_that_functions_use() -> None:
    """They are given by name as any other."""

    class Odd(named_tuple.NamedTuple):
        cls: int
        values: int = 2

    for _ in range(12):
        assert Odd(cls=1) == (1, 2)
        assert Odd(1)._replace(cls=3, values=4) == (3, 4)
    assert Odd(1).__replace__(values=4) == (1, 4)  # type: ignore[attr-defined]  # since Python 3.13


def _body(**more: object) -> dict[str, object]:
    return {"__module__": __name__, "__annotations__": {"x": "int", "y": "int"}, **more}


@pytest.mark.parametrize(
    ("bases", "body", "why"),
    [
        ((), _body(__new__=tuple.__new__), "no __new__"),
        ((), _body(x=1), "fields with defaults last"),
        ((dict, tuple), _body(), "one base"),
        ((), {"__annotate_func__": id}, "from __future__ import annotations"),
    ],
)
def test_what_would_not_hold_is_refused(
    bases: tuple[type, ...], body: dict[str, object], why: str
) -> None:
    """The class is named, before there is one."""
    making: Any = type(named_tuple.NamedTuple)
    with pytest.raises(TypeError, match=f"Wrong: .*{why}"):
        making("Wrong", bases, body)
