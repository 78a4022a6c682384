"""Arguments with ``omit``: which are set, and what decides it (controller)."""

from dataclasses import dataclass, field
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import members, names_in, parts_of, path_of
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.problems import NotConvertible

CONDITION = "if "
"""The start of the key of a choice by a condition, not by whether a variable has a key."""


class OmitChoice(Exception):  # noqa: N818 - the loop catches it; no error
    """Some elements of a loop lack a key, and the task omits a property for these."""

    def __init__(self, key: str, in_loop: bool = True) -> None:
        super().__init__(key)
        self.key = key
        self.in_loop = in_loop


def choice_test(key: str, chosen: bool) -> str:
    """The condition, in Ansible's syntax, under which a choice is made."""
    if key.startswith(CONDITION):
        test = key.removeprefix(CONDITION)
        return test if chosen else f"not ({test})"
    return f"{key} is {'' if chosen else 'not '}defined"


_FEW = 2  # keys for which all combinations get a resource
_MAX_CASES = 16


@dataclass
class Cases:
    """The resources of one task that omits arguments: the keys that are set for each of them.

    ``elements``: the values that the project has; with many keys, only their combinations get a
    resource. ``root``: the variable with these keys.
    """

    root: str = ""
    elements: list[Any] = field(default_factory=list)
    combinations: list[dict[str, bool]] = field(default_factory=list)
    is_pruned: bool = False  # whether some combinations have no resource

    def branches(self, omits: dict[str, bool], key: str) -> list[bool]:
        """Whether there are resources with a key and without it. NotConvertible if there are too
        many.
        """
        if not self.elements or len(omits) < _FEW or key.startswith(CONDITION):
            return [True, False]
        found = [
            has
            for has in (True, False)
            if any(self._has(one, {**omits, key: has}) for one in self.elements)
        ]
        self.is_pruned |= found != [True, False]
        return found

    def add(self, omits: dict[str, bool]) -> None:
        """Add a resource. NotConvertible if there are too many."""
        self.combinations.append(omits)
        if len(self.combinations) > _MAX_CASES:
            raise NotConvertible("a task that omits many properties")

    def _key(self, key: str) -> str:
        """A key of an element; empty if it is none."""
        own = key.removeprefix(f"{self.root}.") if key.startswith(f"{self.root}.") else key
        is_other = key.startswith(CONDITION) or "." in own
        return "" if is_other or (self.root != "item" and own == key) else own

    def _has(self, element: Any, omits: dict[str, bool]) -> bool:
        return all(
            (self._key(key) in element) == has for key, has in omits.items() if self._key(key)
        )

    def tests(self) -> list[str]:
        """The combinations of keys with a resource, each as a condition in Ansible's syntax."""
        made = [
            " and ".join(
                choice_test(f"{self.root}.{self._key(key)}", has)
                for key, has in one.items()
                if self._key(key)
            )
            for one in self.combinations
        ]
        return list(dict.fromkeys(made))


class Omissions:
    """The choices that are made about the arguments of one task.

    ``omits`` maps keys to whether their variable is set; ``notes`` gets what the project decides.
    """

    def __init__(self, scope: Scope, omits: dict[str, bool], notes: list[str]) -> None:
        self.scope = scope
        self._omits = omits
        self.notes = notes
        self.absent: set[str] = set()  # keys that no element has

    def decided(self, name: str, node: nodes.Expr) -> nodes.Expr | None:
        """An expression without ``omit``, or None if it is omitted.

        Raises OmitChoice where a condition decides.
        """
        if path_of(node) == ("omit", []):
            return None
        found = omitted(node)
        if found is not None:
            empty = isinstance(node, nodes.Filter) and len(node.args) > 1
            return self._kept(name, found, empty)
        choice = _conditional(node)
        if choice is None:
            return node
        test, yes, no = choice
        key = CONDITION + unparse(test)
        if self._never(name, test):
            return self.decided(name, no)
        if key not in self._omits:
            raise OmitChoice(key, in_loop=False)
        return self.decided(name, yes if self._omits[key] else no)

    def _never(self, name: str, test: nodes.Expr) -> bool:
        """Whether a condition asks for a key that no element of the project has."""
        for one in parts_of(test, nodes.And):
            if not isinstance(one, nodes.Test) or one.name != "defined":
                continue
            root, keys = path_of(one.node) or ("", [])
            outer = self.scope.locals.get(root)
            if outer is None or len(keys) != 1 or outer.open or not outer.values:
                continue
            if not any(isinstance(each, dict) and keys[0] in each for each in outer.values):
                self.notes.append(
                    f"a condition of {name} is false, because no element has {keys[0]}"
                )
                self.absent.add(str(keys[0]))
                return True
        return False

    def _kept(self, name: str, node: nodes.Expr, empty: bool) -> nodes.Expr | None:
        """The operand of ``x | default(omit)``, or None if nothing sets x.

        ``empty``: an empty value is omitted, too.
        """
        while isinstance(node, nodes.Filter) and node.name in ("default", "d") and node.node:
            node = node.node  # default(none), which is as good as omitted
        path = path_of(node)
        if path is None and isinstance(node, nodes.Call):
            return node  # the result of a call is never missing
        if path is None:
            raise NotConvertible(f"{name} is omitted under a condition")
        root, keys = path
        if not keys and root in self.scope.values and root not in self.scope.task_vars:
            known = sample_of(node, self.scope)
            closed = bool(known.values) and not known.open and not known.kinds
            if empty and closed and not any(known.values):
                self.notes.append(f"{name} is omitted because {root} is empty")
                return None
        if root in self.scope.task_vars or root in self.scope.locals:
            return self._kept_of_element(name, node, root, keys)
        if root in self.scope.values:
            return self._kept_of_variable(name, node, root, keys)
        if root.startswith("ansible_"):
            return node
        self.notes.append(f"{name} is omitted because nothing sets {root}")
        return None

    def _kept_of_variable(
        self, name: str, node: nodes.Expr, root: str, keys: list[Any]
    ) -> nodes.Expr | None:
        if not keys:
            return node
        key = ".".join([root, *(str(one) for one in keys)])
        if key in self._omits:
            return node if self._omits[key] else None
        outer = members(nodes.Name(root, "load"), keys[:-1])
        sample = sample_of(outer, self.scope)
        maps = [isinstance(one, dict) and keys[-1] in one for one in sample.values]
        if maps and not sample.open and all(maps):
            return node
        if maps and not sample.open and not any(maps):
            self.notes.append(f"{name} is omitted because nothing sets {key}")
            return None
        raise OmitChoice(key, in_loop=False)

    def _kept_of_element(
        self, name: str, node: nodes.Expr, root: str, keys: list[Any]
    ) -> nodes.Expr | None:
        if root in self.scope.task_vars:
            found = sample_of(node, self.scope)
            if found.values:
                return node
            if not found.kinds and not isinstance(self.scope.task_vars[root], str):
                return None
        key = ".".join(str(one) for one in keys)
        if not keys:
            return node
        if key in self._omits:
            return node if self._omits[key] else None
        if len(keys) != 1 or not isinstance(keys[0], str):
            raise NotConvertible(f"{name} is omitted for some elements")
        sample = self.scope.locals.get(root)
        if sample is not None and not sample.open and sample.values:
            have = [isinstance(one, dict) and keys[0] in one for one in sample.values]
            if all(have):
                return node
            if not any(have):
                self.notes.append(f"{name} is omitted because no element has {key}")
                self.absent.add(key)
                return None
        raise OmitChoice(key)


def omitted(node: nodes.Expr) -> nodes.Expr | None:
    """Return the operand of ``default(omit)``; None for other expressions."""
    if isinstance(node, nodes.Filter) and node.name in ("default", "d") and node.args:
        return node.node if path_of(node.args[0]) == ("omit", []) else None
    if not isinstance(node, nodes.CondExpr) or node.expr2 is None:
        return None
    test = node.test
    if not isinstance(test, nodes.Test) or test.name != "defined":
        return None
    own = path_of(test.node) == path_of(node.expr1) is not None
    return node.expr1 if own and path_of(node.expr2) == ("omit", []) else None


def _conditional(node: nodes.Expr) -> tuple[nodes.Expr, nodes.Expr, nodes.Expr] | None:
    """The condition and both values of ``a if x else omit``; None without ``omit``."""
    if isinstance(node, nodes.CondExpr) and node.expr2 is not None:
        found = node.test, node.expr1, node.expr2
    elif isinstance(node, nodes.Filter) and node.name == "ternary" and len(node.args) == 2:
        assert node.node is not None
        found = node.node, node.args[0], node.args[1]
    else:
        return None
    return found if any("omit" in names_in(one) for one in found[1:]) else None
