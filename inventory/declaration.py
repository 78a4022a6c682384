"""Declarations of inventories, before the nearest value is chosen for each host (controller)."""

from typing import Any, NamedTuple

from inventory.connection_properties import PropertyValue
from inventory.document_nodes import Mapping, Node


class SetProperty(NamedTuple):
    """The value of a connection property, and the map and the key where it was written."""

    value: PropertyValue
    written_in: Mapping
    key: str

    @property
    def node(self) -> Node:
        """The declaration as written."""
        return self.written_in.value(self.key)


class Layer:
    """The settings of one place (a host, a group, the defaults).

    ``vars`` may be the document's own data, so it is replaced and never modified.
    """

    __slots__ = ("properties", "vars", "vars_written_in")

    def __init__(self) -> None:
        self.properties: dict[str, SetProperty] = {}
        self.vars: dict[str, Any] = {}
        self.vars_written_in: tuple[Mapping, ...] = ()

    def add_vars(self, values: dict[str, Any], *written_in: Mapping) -> None:
        """Add variables, which override those with the same names."""
        self.vars = {**self.vars, **values} if self.vars else values
        self.vars_written_in += written_in

    def var_node(self, name: str) -> Node:
        """Return the node of a variable's value; KeyError if it is not set here."""
        for mapping in reversed(self.vars_written_in):
            if name in mapping:
                return mapping.value(name)
        raise KeyError(name)

    def overlay(self, other: "Layer") -> None:
        """Override the settings of this layer with those of the other one, key by key."""
        self.properties.update(other.properties)
        self.add_vars(other.vars, *other.vars_written_in)


class HostEntry(NamedTuple):
    """One host: the position where it is first named, and its own settings."""

    name: str
    node: Node
    layer: Layer


class GroupEntry(NamedTuple):
    """One group: its direct hosts, and its children with the positions that name them."""

    name: str
    node: Node
    layer: Layer
    hosts: dict[str, None]
    children: dict[str, Node]


class Declaration:
    """Everything that one source, or several merged ones, declare; dicts keep the order."""

    def __init__(self) -> None:
        self.defaults = Layer()
        self.hosts: dict[str, HostEntry] = {}
        self.groups: dict[str, GroupEntry] = {}

    def host(self, name: str, node: Node) -> HostEntry:
        """The entry of a host, created when the host is first named."""
        entry = self.hosts.get(name)
        if entry is None:
            entry = self.hosts[name] = HostEntry(name, node, Layer())
        return entry

    def group(self, name: str, node: Node) -> GroupEntry:
        """The entry of a group, created when the group is first named."""
        entry = self.groups.get(name)
        if entry is None:
            entry = self.groups[name] = GroupEntry(name, node, Layer(), hosts={}, children={})
        return entry

    def merge(self, later: "Declaration") -> None:
        """Add another source: its values take precedence, and members of groups are merged."""
        self.defaults.overlay(later.defaults)
        for name, host in later.hosts.items():
            self.host(name, host.node).layer.overlay(host.layer)
        for name, group in later.groups.items():
            mine = self.group(name, group.node)
            mine.layer.overlay(group.layer)
            for host_name in group.hosts:
                mine.hosts.setdefault(host_name)
            for child, node in group.children.items():
                mine.children.setdefault(child, node)
