"""Resources that must not exist if their conditions are false (controller).

ccm renders the name and some properties of each resource, regardless of its ``control``, and
refuses two resources with one name. Ansible does neither: a skipped task may read variables that
nothing sets, or manage what another task manages on other hosts. A ``foreach`` over an empty list
omits such a resource.
"""

import re
from typing import Any

from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja.parsing import names_in, parse_expression
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.output.manifest_entries import Entry, any_of, as_test, both, chosen

_DATA = re.compile(r"\bData\.(\w+)\b(?! is (?:not )?(?:un)?defined| \| default\()")
"""A variable that must be set if it is read."""
_LIST = re.compile(r"\[?Data\.(\w+)\]?(?: \| (?:flatten|unique|list))*")
_AT_ITS_TURN = frozenset(["content", "command", "unless", "onlyif", "environment", "validate"])
"""Properties that ccm renders only if the resource runs."""
_NAMED_FREELY = frozenset(["exec", "wait", "apply"])


def leave_out(builder: Conversion) -> None:
    """Omit resources whose conditions are false if they could not exist otherwise."""
    _leave_to_lists(builder)
    entries = builder.manifest.entries()
    groups: dict[tuple[Any, ...], list[Entry]] = {}
    names = {id(entry): _name_in_lists(entry) for entry in entries}
    for entry in entries:
        groups.setdefault(names[id(entry)], []).append(entry)
    left_out: list[Entry] = []
    for entry in entries:
        if not entry.conditions or entry.partial:
            continue
        twins = [one for one in groups[names[id(entry)]] if one is not entry]
        if twins or _reads_what_may_be_unset(builder, entry):
            earlier = [one for one in twins if any(one is each for each in left_out)]
            alike = [one for one in earlier if one.properties == entry.properties]
            _exist_only_where(builder, entry, not_where=alike)
            left_out.append(entry)


def _name_in_lists(entry: Entry) -> tuple[Any, ...]:
    """What resources with the same names in a list, or the same computed name, have in common."""
    if entry.type in _NAMED_FREELY or entry.type == "edit":
        return (id(entry),)
    computed = bool(entry.foreach) or "{{" in entry.name
    return (entry.type, entry.name, entry.foreach) if computed else (id(entry),)


def _reads_what_may_be_unset(builder: Conversion, entry: Entry) -> bool:
    """Whether the name, the list or a property reads a variable that may be unset or empty."""
    written = {
        key: one
        for key, one in entry.properties.items()
        if entry.type != "exec" and key not in _AT_ITS_TURN
    }
    read = set(_DATA.findall(f"{entry.name} {entry.foreach} {written}"))
    always = builder.project_variables | set(builder.facts) | set(builder.manifest.data)
    empty = builder.scope.uses.optional if entry.type != "exec" else set()
    if read - always or read & empty:
        return True
    alone = _WHOLE_NAME.fullmatch(entry.name)
    ending = re.search(r"/\{\{ \(?Data\.(\w+)()\)?(?: \| basename)? \}\}$", entry.name)
    last = alone or ending
    return last is not None and _may_be_empty(builder, last[1], last[2].split(".")[1:])


_WHOLE_NAME = re.compile(r"\{\{ Data\.(\w+)((?:\.\w+)*)(?: \| (?:dirname|basename))? \}\}")


def _may_be_empty(builder: Conversion, name: str, keys: list[str]) -> bool:
    conditional = builder.facts.get(name)
    if conditional is not None and all(when for _, when, _ in conditional):
        return True
    values = builder.scope.values.get(name, [])
    for key in keys:
        values = [one.get(key) for one in values if isinstance(one, dict)]
    return any(one in ("", None) for one in values)


def _exist_only_where(builder: Conversion, entry: Entry, *, not_where: list[Entry]) -> None:
    """Move the conditions of a resource into its list, which is empty if they are false."""
    old = entry.reference
    on_element = [one for one in entry.conditions if entry.foreach and _reads_element(one)]
    conditions = [one for one in entry.conditions if one not in on_element]
    if not conditions:
        return
    others = [one.exists_where for one in not_where if one.exists_where]
    if others:
        conditions = [*conditions, f"not ({any_of(others)})"]
    entry.exists_where = conditions
    if entry.foreach:
        elements = f"({entry.foreach})" if " if " in entry.foreach else entry.foreach
        entry.foreach = f"{elements} if {as_test(conditions)} else []"
    else:
        entry.foreach = chosen(text_expression(entry.name), conditions)
        entry.comments.append(f"{entry.name}, if the condition is true")
        entry.name = "{{ item }}"
    entry.conditions = on_element
    new = builder.reference(entry) if _is_awaited(builder, old) else entry.reference
    for other in builder.manifest.entries():
        other.subscribe = [new if one == old else one for one in other.subscribe]


def _is_awaited(builder: Conversion, reference: str) -> bool:
    return any(reference in one.subscribe for one in builder.manifest.entries())


def _reads_element(condition: str) -> bool:
    return bool(names_in(parse_expression(condition)) & {"item", "index", "key"})


# --- a package that is also an element of a list


def _leave_to_lists(builder: Conversion) -> None:
    """Omit a package on hosts where a list of another task contains it."""
    entries = builder.manifest.entries()
    lists = [one for one in entries if one.type == "package" and one.name == "{{ item }}"]
    for entry in entries:
        if entry.type != "package" or not entry.is_literal or entry.partial:
            continue
        tests = [test for one in lists if (test := _has(builder, one, entry.name))]
        if not tests:
            continue
        if all(_ensures(one) == _ensures(entry) for one in lists):
            entry.comments.append("omitted if the list of another task contains it")
        entry.conditions = [*entry.conditions, *(f"not ({one})" for one in tests)]
        _exist_only_where(builder, entry, not_where=[])


def _ensures(entry: Entry) -> str:
    return str(entry.properties.get("ensure", "present"))


def _has(builder: Conversion, entry: Entry, name: str) -> str:
    """The test whether a list of packages contains a name; "" if that is unknown."""
    match = _LIST.fullmatch(entry.foreach)
    if match is None:
        return ""
    known = builder.scope.values.get(match.group(1), [])
    if not any(isinstance(one, list) and name in one for one in known):
        return ""
    conditions = [one for one in entry.conditions if not _reads_element(one)]
    return both([*conditions, f"{name!r} in {entry.foreach}"])
