"""Convert ``service_facts`` and ``package_facts`` to look-ups on the host (controller)."""

import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import expression, members, path_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.problems import NotConvertible

_KINDS = {
    ("services",): "services",
    ("ansible_services",): "services",
    ("ansible_facts", "services"): "services",
    ("packages",): "packages",
    ("ansible_packages",): "packages",
    ("ansible_facts", "packages"): "packages",
}
_NAME = re.compile(r"[A-Za-z0-9@._+-]+")
_OF_SERVICE = 3  # words of ``services[UNIT].state``
_MEMBERS = {
    "state": ("active", "running", "stopped"),
    "status": ("enabled", "enabled", "disabled"),
}


def kind_of(path: tuple[str, list[Any]] | None) -> str:
    """``services`` or ``packages`` for the name of such a fact, "" for other names."""
    return "" if path is None else _KINDS.get((path[0], *map(str, path[1])), "")


def is_among(left: Any, operator: str, right: Any, scope: Scope) -> Any:
    """``'a.service' in services`` and ``'a' in ansible_facts.packages`` as look-ups.

    None for other expressions. NotConvertible.
    """
    kind = kind_of(path_of(right))
    if kind not in scope.uses.listed or not isinstance(left, nodes.Const):
        return None
    word = str(left.value)
    if _NAME.fullmatch(word) is None:
        raise NotConvertible(f"whether {word!r} is among the {kind}")
    if kind == "services":
        command = f"systemctl cat {word}"
    else:
        command = (
            f'sh -c \'dpkg-query -W -f "${{db:Status-Status}}" {word} 2>/dev/null '
            f"| grep -qx installed || rpm -q {word}'"
        )
    question = {"command": command}
    name = scope.uses.name_of(f"has_{word_of(word)}", question)
    scope.uses.ask(name, question, scope.uses.listed[kind])
    code = members(nodes.Name("Asked", "load"), [name, "exit_code"])
    return nodes.Compare(code, [nodes.Operand("eq" if operator == "in" else "ne", nodes.Const(0))])


def is_defined(node: Any, positive: bool, scope: Scope) -> Any:
    """``services['a.service'] is defined`` as the same look-up; None for other names."""
    path = path_of(node)
    if path is None or not path[1]:
        return None
    return is_among(nodes.Const(path[1][-1]), "in" if positive else "notin", node.node, scope)


def of_service(words: tuple[str, ...], scope: Scope) -> Any:
    """``services[UNIT].state`` and ``.status``; None for other expressions.

    NotConvertible.
    """
    if words[0] != "services" or "services" not in scope.uses.listed or len(words) != _OF_SERVICE:
        return None
    _, unit, key = words
    if key not in _MEMBERS or _NAME.fullmatch(unit) is None:
        raise NotConvertible(f"{key} of the service {unit}")
    question = {"service": unit.removesuffix(".service")}
    name = scope.uses.name_of(f"service_{word_of(unit)}", question)
    scope.uses.ask(name, question, scope.uses.listed["services"])
    member, yes, no = _MEMBERS[key]
    return expression(f"'{yes}' if Asked.{name}.{member} else '{no}'")


def word_of(text: str) -> str:
    """The part of a look-up's name that is derived from a text."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
