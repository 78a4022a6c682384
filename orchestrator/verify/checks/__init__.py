"""The checks of a verify: a module for each type, found by its name (controller).

Its ``expectations`` function takes a ``Subject`` and returns the expectations, none if nothing can
be checked. A custom type has the same function in ``verify.py`` in its directory. Resources of a
type without either are counted, but not checked.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from orchestrator.manifest.resource_types import Types

Expectations = Callable[[Subject], list[Expectation]]


def expectations_of(type_name: str, types: Types) -> Expectations | None:
    """The function that creates the expectations of a type, or None if it has none.

    InputError if that of a custom type cannot be imported.
    """
    return _built_in(type_name) or types.expectations(type_name)


@cache
def _built_in(type_name: str) -> Expectations | None:
    module = f"{__name__}.{type_name}"
    if importlib.util.find_spec(module) is None:
        return None
    expectations: Expectations = importlib.import_module(module).expectations
    return expectations
