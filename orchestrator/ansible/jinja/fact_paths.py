"""Paths of this host's and other hosts' facts, and facts that a host may lack (controller)."""

from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import fact_names
from orchestrator.ansible.jinja.parsing import path_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.substitutes import filtered


def other_host(node: Any) -> tuple[Any, list[Any]]:
    """The host and the keys of ``hostvars[HOST].a.b``; None and no keys for other expressions."""
    keys: list[Any] = []
    while True:
        if isinstance(node, nodes.Getattr):
            keys.append(node.attr)
            node = node.node
            continue
        if not isinstance(node, nodes.Getitem):
            return None, []
        if isinstance(node.node, nodes.Name) and node.node.name == "hostvars":
            return node.arg, keys[::-1]
        if not isinstance(node.arg, nodes.Const):
            return None, []
        keys.append(node.arg.value)
        node = node.node


def fact_of(path: tuple[str, list[Any]]) -> str:
    """The name of the fact that a path reads as a whole, without ``ansible_``; "" for other
    paths.
    """
    name, keys = path
    if name == "ansible_facts" and len(keys) == 1:
        return str(keys[0]).removeprefix("ansible_")
    return name.removeprefix("ansible_") if name.startswith("ansible_") and not keys else ""


def may_be_empty(node: Any, scope: Scope) -> bool:
    """Whether a fact of any host is empty in ccm if Ansible leaves it undefined."""
    path = path_of(node)
    words = [path[0], *map(str, path[1])] if path is not None else ["", ""]
    if path is None:
        words += map(str, other_host(node)[1])
    if words[0] in scope.locals or words[0] in scope.values:
        return False
    if words[0] in ("hostvars", ""):
        words = words[2:]
    if words[:1] == ["ansible_facts"]:
        words = words[1:]
    return tuple(one.removeprefix("ansible_") for one in words) in fact_names.EMPTY


def is_there(fact: Any, wanted: bool) -> nodes.Compare:
    """The test whether a fact that may be empty is set, or the opposite."""
    if not isinstance(fact, nodes.Getattr):
        fact = filtered(fact, "default", "", True)
    return nodes.Compare(fact, [nodes.Operand("ne" if wanted else "eq", nodes.Const(""))])
