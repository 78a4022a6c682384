"""The names that every language provides (controller)."""

from collections.abc import Callable, Mapping
from typing import Any

VARIABLES = ("Facts", "Data", "Environ", "Host", "Groups", "Hosts", "Asked")
FUNCTIONS = ("lookup", "file", "readFile", "registrations", "kvGet", "secret")
TEMPLATE_FUNCTIONS = ("template", "jet")
"""The functions that render other templates."""
LOOP_VARIABLES = ("item", "index", "key")
"""The variables that ``foreach`` adds."""
TEMPLATE_VARIABLES = ("facts", "data", "environ", *VARIABLES)
"""In whole templates, some names may also be written in lowercase."""

VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))
"""The types that the methods of a map return; results contain lists instead."""

Names = Callable[[frozenset[str]], Mapping[str, Any]]
"""Returns the variables and functions of one host for an expression with these string literals.
A path among the literals comes from the user, any other path may come from a host."""


def template_variables(names: Mapping[str, Any]) -> dict[str, Any]:
    """The variables as provided to whole templates."""
    return {name: names[name.capitalize()] for name in TEMPLATE_VARIABLES}


def added_names(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that an iteration of ``foreach`` or the keywords of ``template()`` add."""
    own = (*VARIABLES, *FUNCTIONS, *TEMPLATE_FUNCTIONS)
    return {name: value for name, value in names.items() if name not in own}
