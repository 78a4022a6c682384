"""What a module ``cases/TYPE.py`` holds: ``SCENARIOS``, functions from a world to a scenario."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from tests.contract.world import World

PASSWORD = "open-sesame"
"""A text for values of properties that are secret by themselves; no event shows it."""

SECRET = "swordfish"
"""A text for desired values; no event of a sensitive resource shows it."""


def _as_it_is(provider: Any) -> None:
    """Most providers need no hand."""


def _nothing() -> None:
    """Most hosts are left alone meanwhile."""


class Scenario(NamedTuple):
    """One resource, which the world does not have as desired yet.

    ``properties`` are those of a plan. ``breaks`` says how to undo, once it is as desired, each
    thing that a verify looks at, and after a colon in which of several ways; empty where a verify
    has nothing to look at. ``fields`` are more
    of its item's. ``ready`` turns a provider to the world where it would look at this machine.
    ``meanwhile`` is what others do as soon as the resource says what it is doing. ``found_by`` are
    the properties that say, beside the name, where it is.
    """

    name: str
    properties: Mapping[str, Any]
    breaks: Mapping[str, Callable[[], object]] = {}
    provider: str = ""
    fields: Mapping[str, Any] = {}
    ready: Callable[[Any], None] = _as_it_is
    meanwhile: Callable[[], object] = _nothing
    found_by: Sequence[str] = ()


Maker = Callable[[World], Scenario]


def module_of(type_name: str) -> ModuleType:
    """The cases of a type; AssertionError says what to write where there are none.

    It may say of the type: ``STATELESS = True``, it has no state that ``ccm status`` could tell;
    ``UNSEEN = True``, a verify has nothing to look at in any scenario; ``ON_A_HOST = True``, the
    example of its page needs a host of the lab; ``PASSIVE = True``, it never changes anything.
    """
    name = f"{__package__}.cases.{type_name}"
    assert importlib.util.find_spec(name), (
        f"the type {type_name} has no scenarios: write tests/contract/cases/{type_name}.py with "
        f"SCENARIOS, a tuple of functions that take a World and return a Scenario; "
        f"tests/contract/cases/file.py is an example"
    )
    return importlib.import_module(name)


def makers_of(type_name: str) -> Sequence[Maker]:
    """The scenarios of a type."""
    found: Sequence[Maker] = module_of(type_name).SCENARIOS
    return found
