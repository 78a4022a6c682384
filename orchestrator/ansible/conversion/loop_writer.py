"""Writes the loop of a task into its resources (controller)."""

import re
from collections.abc import Callable

from jinja2 import nodes

from orchestrator.ansible.conversion.conditions import Conditions
from orchestrator.ansible.conversion.edit_groups import loop_edits
from orchestrator.ansible.conversion.loops import Loop
from orchestrator.ansible.jinja.parsing import names_in, parse_expression, path_of
from orchestrator.ansible.jinja.unparse import literal, operand
from orchestrator.ansible.modules.omissions import Cases
from orchestrator.ansible.output.manifest_entries import READS_ELEMENT, Entry, grouped, list_of
from orchestrator.ansible.problems import NotConvertible

_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_INDEX = re.compile(r"(?<![\w.])index\b")


def loop_over(
    entries: list[Entry],
    loop: Loop,
    *,
    omits: dict[str, bool],
    tests: list[str] | None = None,
    conditions: Conditions,
    as_list: Callable[[str], str],
) -> None:
    """Give resources the ``foreach`` of their loop.

    ``as_list`` converts an expression with braces to the form that ``foreach`` accepts. Conditions
    on the element filter the list, because names are rendered before ``control``. So do ``tests``,
    which choose between resources of the same names.
    """
    text = loop.foreach
    for key, present in omits.items():
        text = _chosen(text, key, present)
    if tests:
        text = _where(text, tests)
    own = [one for one in conditions.expressions if "item" in names_in(parse_expression(one))]
    if own and not any(_reads_index(f"{e.name} {e.all_properties()}") for e in entries):
        conditions.expressions = [one for one in conditions.expressions if one not in own]
        text = _where(text, own)
    for entry in entries:
        if entry.foreach:
            raise NotConvertible("a list in a loop")
        if (
            (entry.type == "file" or entry.implied)
            and "item" not in f"{entry.name} {entry.properties}"
            and not _reads_index(f"{entry.name} {entry.properties}")
            and not entry.foreach
        ):
            # The one file that a loop edits, or a directory above it.
            if not text.startswith("[") and "{{" not in text:
                entry.conditions.append(
                    f"({text}) | length > 0" if " " in text else f"{text} | length > 0"
                )
            continue
        if READS_ELEMENT.search(entry.name):
            entry.foreach = text
        elif entry.type == "edit":
            loop_edits(entry, as_list(text))
        else:
            raise NotConvertible(f"a loop that manages {entry.type}#{entry.name} several times")
    for entry in entries:
        entry.foreach = as_list(entry.foreach)


def _reads_index(text: str) -> bool:
    """Whether an expression in a string reads the loop index."""
    return any(_INDEX.search(_TEXT.sub("", one)) for one in _EXPRESSION.findall(text))


def _chosen(text: str, key: str, present: bool) -> str:
    word = "selectattr" if present else "rejectattr"
    return f"{operand(parse_expression(text))} | {word}('{key}', 'defined') | list"


def _where(text: str, conditions: list[str]) -> str:
    """The elements for which the conditions are true."""
    left: list[str] = []
    for one in conditions:
        key, present = _defined(one)
        if key:
            text = _chosen(text, key, present)
        else:
            left.append(one)
    return list_of("item", text, left) if left else text


def _defined(condition: str) -> tuple[str, bool]:
    """The key in ``item.KEY is defined``, and whether it must be defined."""
    node = parse_expression(condition)
    negative = isinstance(node, nodes.Not)
    test = node.node if isinstance(node, nodes.Not) else node
    if not isinstance(test, nodes.Test) or test.name not in ("defined", "undefined"):
        return "", False
    path = path_of(test.node)
    if path is None or path[0] != "item" or len(path[1]) != 1 or not isinstance(path[1][0], str):
        return "", False
    return path[1][0], (test.name == "defined") != negative


# --- elements without some keys


def cases_of(loop: Loop) -> Cases:
    """The elements of a loop, if the project has all of them."""
    sample = loop.sample
    is_known = not sample.open and not sample.kinds
    maps = [one for one in sample.values if isinstance(one, dict)]
    return Cases("item", maps if is_known and len(maps) == len(sample.values) else [])


def known_elements(loop: Loop, cases: Cases) -> str:
    """The condition that each element has a combination of keys with a resource."""
    either = " or ".join(f"({one})" for one in cases.tests())
    absent = " and ".join(f"item.{key} is not defined" for key in sorted(loop.absent))
    either = f"({either}) and {absent}" if absent else either
    body = f"{{% for item in {grouped(loop.foreach)} if not ({either}) %}}x{{% endfor %}}"
    return f"template({literal(body)}) == ''"
