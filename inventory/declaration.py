"""What inventories declare, before the nearest value is chosen for each host (controller)."""

from __future__ import annotations

from typing import Any

from inventory.nodes import Node

Setting = tuple[Any, Node]
"""A value and the node it was written in."""


class Layer:
    """What one place (a host, a group, the defaults) sets."""

    __slots__ = ("properties", "vars")

    def __init__(self) -> None:
        self.properties: dict[str, Setting] = {}
        self.vars: dict[str, Setting] = {}

    def overlay(self, other: Layer) -> None:
        """Let what the other layer sets win over this one's, key by key."""
        self.properties.update(other.properties)
        self.vars.update(other.vars)


class HostEntry:
    """One host: where it is named first, and what it sets itself."""

    __slots__ = ("layer", "name", "node")

    def __init__(self, name: str, node: Node) -> None:
        self.name = name
        self.node = node
        self.layer = Layer()


class GroupEntry:
    """One group: its direct hosts and children with the places that name them."""

    __slots__ = ("children", "hosts", "layer", "name", "node")

    def __init__(self, name: str, node: Node) -> None:
        self.name = name
        self.node = node
        self.layer = Layer()
        self.hosts: dict[str, Node] = {}
        self.children: dict[str, Node] = {}


class Declaration:
    """Everything that one source, or several merged ones, declare; dicts keep the order."""

    def __init__(self) -> None:
        self.defaults = Layer()
        self.hosts: dict[str, HostEntry] = {}
        self.groups: dict[str, GroupEntry] = {}

    def host(self, name: str, node: Node) -> HostEntry:
        """The entry of a host, made where it is named for the first time."""
        entry = self.hosts.get(name)
        if entry is None:
            entry = self.hosts[name] = HostEntry(name, node)
        return entry

    def group(self, name: str, node: Node) -> GroupEntry:
        """The entry of a group, made where it is named for the first time."""
        entry = self.groups.get(name)
        if entry is None:
            entry = self.groups[name] = GroupEntry(name, node)
        return entry

    def merge(self, later: Declaration) -> None:
        """Add another source: its values win, members of groups are joined."""
        self.defaults.overlay(later.defaults)
        for name, host in later.hosts.items():
            self.host(name, host.node).layer.overlay(host.layer)
        for name, group in later.groups.items():
            mine = self.group(name, group.node)
            mine.layer.overlay(group.layer)
            for host_name, node in group.hosts.items():
                mine.hosts.setdefault(host_name, node)
            for child, node in group.children.items():
                mine.children.setdefault(child, node)
