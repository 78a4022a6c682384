"""Resolves every host's values from the declarations: the nearest value is used (controller).

The nearest is the host itself, then its groups (a child before its parent and, among unrelated
groups, the one named later in the inventory first), then ``all``, then the defaults. A variable is
completely replaced by a nearer one with the same name: maps and lists in ``vars`` are not merged.
"""

from itertools import pairwise
from typing import Any

from inventory.connection_properties import PropertyValue
from inventory.declaration import Declaration, GroupEntry, Layer
from inventory.model import Group, Host, Inventory, SharedValues
from inventory.problem_collector import Checker
from remote_runtime.text.suggestions import nearest


def resolve(declaration: Declaration, checker: Checker) -> Inventory:
    """The inventory that a declaration describes; raises all problems as InputError."""
    _check_children(declaration, checker)
    _check_cycles(declaration, checker)
    checker.finish()
    groups = {
        name: Group(name, entry.node, hosts=tuple(entry.hosts), children=tuple(entry.children))
        for name, entry in declaration.groups.items()
    }
    inventory = Inventory(_Hosts(declaration).resolve(), groups, declaration)
    inventory.warnings = tuple(checker.warnings)
    inventory.notes = tuple(checker.notes)
    return inventory


def _check_children(declaration: Declaration, checker: Checker) -> None:
    for group in declaration.groups.values():
        for child, node in list(group.children.items()):
            if child in declaration.groups and child != "all":
                continue
            del group.children[child]
            if child == "all":
                message, hint = "'all' contains every group and cannot be a child", "remove it"
            else:
                guess = nearest(child, declaration.groups)
                message = f"group {group.name}: group {child[:60]!r} does not exist"
                hint = f"did you mean {guess}?" if guess else "define it under 'groups'"
                if not guess and child in declaration.hosts:
                    hint = f"{child} is a host: list it under 'hosts'"
            checker.report(node, message, hint, "inventory.unknown_group")


def _check_cycles(declaration: Declaration, checker: Checker) -> None:
    """Report each cycle once, at the child that closes it, and break it there."""
    done: set[str] = set()
    for start in declaration.groups:
        if start not in done:
            _walk(start, declaration, checker, done)


def _walk(start: str, declaration: Declaration, checker: Checker, done: set[str]) -> None:
    groups = declaration.groups
    path = {start: iter(list(groups[start].children))}  # in the order of descent
    while path:
        name, children = next(reversed(path.items()))
        child = next(children, None)
        if child is None:
            done.add(name)
            del path[name]
        elif child in path:
            names = list(path)
            _report_cycle(declaration, checker, [*names[names.index(child) :], child])
            del groups[name].children[child]
        elif child not in done:
            path[child] = iter(list(groups[child].children))


def _report_cycle(declaration: Declaration, checker: Checker, cycle: list[str]) -> None:
    steps = []
    for parent, child in pairwise(cycle):
        where = declaration.groups[parent].children[child].position
        steps.append(f"{parent} -> {child} ({where})")
    node = declaration.groups[cycle[-2]].children[cycle[-1]]
    message = "groups form a cycle: " + ", ".join(steps)
    checker.report(node, message, "remove one of these children", "inventory.group_cycle")


class _Hosts:
    """Chooses values; hosts in the same groups share the work for those groups."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._rank = {name: rank for rank, name in enumerate(declaration.groups)}
        self._parents: dict[str, list[str]] = {name: [] for name in declaration.groups}
        self._direct: dict[str, list[str]] = {}
        self._shared: dict[tuple[str, ...], SharedValues] = {}
        for group in declaration.groups.values():
            self._enter(group)

    def _enter(self, group: GroupEntry) -> None:
        if group.name == "all":
            return
        for child in group.children:
            self._parents[child].append(group.name)
        for host in group.hosts:
            self._direct.setdefault(host, []).append(group.name)

    def resolve(self) -> dict[str, Host]:
        """All hosts, in the order of the inventory."""
        alone = self._chosen(())
        chosen, direct = self._chosen, self._direct
        return {
            name: Host(entry, chosen(tuple(direct[name])) if name in direct else alone)
            for name, entry in self._declaration.hosts.items()
        }

    def _chosen(self, direct: tuple[str, ...]) -> SharedValues:
        """The resolved values for the hosts in exactly these groups."""
        known = self._shared.get(direct)
        if known is None:
            groups = self._ordered(direct)
            values: dict[str, PropertyValue] = {}
            variables: dict[str, Any] = {}
            for layer in reversed(self._layers(groups)):
                values.update({key: setting.value for key, setting in layer.properties.items()})
                variables.update(layer.vars)
            known = self._shared[direct] = SharedValues(groups, values, variables)
        return known

    def _layers(self, groups: tuple[str, ...]) -> list[Layer]:
        entries = self._declaration.groups
        layers = [entries[name].layer for name in groups]
        if "all" in entries:
            layers.append(entries["all"].layer)
        return [*layers, self._declaration.defaults]

    def _ordered(self, direct: tuple[str, ...]) -> tuple[str, ...]:
        """The groups and their ancestors, nearest first: repeatedly takes the later-named of those
        whose children were all taken.
        """
        waiting: dict[str, int] = {}
        pending = list(direct)
        while pending:
            name = pending.pop()
            if name not in waiting:
                waiting[name] = 0
                pending.extend(self._parents[name])
        for name in waiting:
            for parent in self._parents[name]:
                waiting[parent] += 1
        ordered: list[str] = []
        while waiting:
            ready = (name for name, children in waiting.items() if children == 0)
            name = max(ready, key=self._rank.__getitem__)
            del waiting[name]
            ordered.append(name)
            for parent in self._parents[name]:
                waiting[parent] -= 1
        return tuple(ordered)
