"""The names that every language sees (controller)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

VARIABLES = ("Facts", "Data", "Environ", "Host", "Groups", "Hosts", "Asked")
FUNCTIONS = ("lookup", "file", "readFile", "registrations", "kvGet", "secret")
TEMPLATE_FUNCTIONS = ("template", "jet")
"""They render other templates."""
LOOP_VARIABLES = ("item", "index", "key")
"""The variables that ``foreach`` adds."""
TEMPLATE_VARIABLES = ("facts", "data", "environ", *VARIABLES)
"""In whole templates, small letters do as well for some."""

VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))
"""The types that the methods of a map return; results contain lists instead."""

Names = Callable[[frozenset[str]], Mapping[str, Any]]
"""Returns the variables and functions of one host for an expression with these string literals.
A path among the literals comes from the user, any other path may come from a host."""


def template_variables(names: Mapping[str, Any]) -> dict[str, Any]:
    """The variables as whole templates see them."""
    return {name: names[name.capitalize()] for name in TEMPLATE_VARIABLES}


def added_names(names: Mapping[str, Any]) -> dict[str, Any]:
    """Those that an iteration of ``foreach`` or the keywords of ``template()`` add."""
    own = (*VARIABLES, *FUNCTIONS, *TEMPLATE_FUNCTIONS)
    return {name: value for name, value in names.items() if name not in own}
