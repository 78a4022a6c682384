"""Variables whose definitions read names that exist only in one task (controller).

Ansible renders a variable where a task reads it, so its definition can read the element of a loop
or a variable of that task. The data of ccm is the same for the whole manifest. Therefore, the name
is replaced by such a definition.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import is_template, parse_template
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.problems import NotConvertible


def place_names(scope: Scope) -> set[str]:
    """The names that exist only in this task: the element of a loop, and variables of the task."""
    renamed = {name for name, new in scope.renames.items() if not new.startswith("Data.")}
    return {*scope.task_vars, *scope.place, *renamed, *({"item"} & set(scope.locals))}


def definition(name: str, scope: Scope) -> list[Any]:
    """The definition of a variable that reads such a name, in a list; empty for other variables.

    NotConvertible if the variable has other definitions.
    """
    read = reads(name, scope)
    if not read:
        return []
    if len(scope.values.get(name, [])) != 1:
        shown = ", ".join(sorted(read))
        raise NotConvertible(f"{name} has several values, and one reads {shown} of the task")
    return list(scope.late[name])


def reads(name: str, scope: Scope) -> set[str]:
    """The names of this task that a variable reads, directly or through other variables."""
    places = place_names(scope) - {name}
    if not places:
        return set()
    found: set[str] = set()
    seen, left = {name}, [name]
    while left:
        for value in scope.late.get(left.pop(), ()):
            names = {one for text in _texts(value) for one in _names(text)}
            found |= names & places
            further = {one for one in names - places - seen if one not in scope.renames}
            seen |= further
            left += sorted(further)
    return found


def read_by_text(text: str, scope: Scope) -> set[str]:
    """Return the names of this task that variables in a string read."""
    words = set(re.findall(r"\w+", text)) & set(scope.late) if place_names(scope) else set()
    return {one for word in words for one in reads(word, scope)}


def _texts(value: Any) -> Iterator[str]:
    """The templates in a YAML value."""
    if isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
    elif is_template(value):
        yield str(value)


@cache
def _names(text: str) -> frozenset[str]:
    """The names that a template reads but does not set."""
    try:
        found = list(parse_template(text).find_all(nodes.Name))
    except NotConvertible:
        return frozenset()
    own = {one.name for one in found if one.ctx != "load"}
    return frozenset(one.name for one in found) - own
