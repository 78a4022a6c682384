"""Hosts, groups and the inventory that contains them, with all values resolved (controller)."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from inventory.connection_properties import PropertyValue
from inventory.declaration import Declaration, HostEntry
from inventory.document_nodes import Node
from remote_runtime.errors import InputError, Position, Problem
from remote_runtime.text.suggestions import nearest

if TYPE_CHECKING:
    from inventory.explanation import ExplainedValue
    from inventory.selection import Runs, Selector

T = TypeVar("T")


class SharedValues(NamedTuple):
    """The common values of hosts in the same groups: the nearest values of groups and defaults."""

    groups: tuple[str, ...]
    values: dict[str, PropertyValue]
    vars: dict[str, Any]


class _Nearest(Generic[T]):
    """A connection property of a host."""

    def __init__(self, default: T) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, host: "Host", owner: type) -> T:
        return host.nearest(self._name, self._default)


class Host:
    """One host with the nearest value of every property.

    ``connect_timeout`` is in seconds; ``become`` is None if it is not set; ``groups`` has the
    nearest group first and does not include ``all``; ``vars`` may share nested values with other
    hosts, so do not change them. None means that a value is not set here, so the SSH configuration
    or the default decides.
    """

    __slots__ = ("_entry", "_shared")

    port = _Nearest[int | None](None)
    user = _Nearest[str | None](None)
    key_file = _Nearest[str | None](None)
    known_hosts = _Nearest[str | None](None)
    become = _Nearest[bool | str | None](None)
    python = _Nearest[str | None](None)
    connection = _Nearest[Literal["ssh", "local"]]("ssh")
    connect_timeout = _Nearest[float | None](None)
    jump = _Nearest[str | None](None)
    site = _Nearest[str | None](None)

    def __init__(self, entry: HostEntry, shared: SharedValues) -> None:
        self._entry = entry
        self._shared = shared

    def nearest(self, name: str, default: T) -> T:
        """Return the nearest value of a property, the default if it is not set."""
        setting = self._entry.layer.properties.get(name)
        value: Any = self._shared.values.get(name) if setting is None else setting.value
        return default if value is None else value

    @property
    def name(self) -> str:
        """The name in the inventory."""
        return self._entry.name

    @property
    def address(self) -> str:
        """The address of the connection."""
        return self.nearest("address", self.name)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that contain it, nearest first."""
        return self._shared.groups

    @property
    def vars(self) -> dict[str, Any]:
        """The nearest value of every variable."""
        return {**self._shared.vars, **self._entry.layer.vars}

    @property
    def position(self) -> Position:
        """The position where the host is first named."""
        return self._entry.node.position

    def __repr__(self) -> str:
        return f"Host({self.name!r})"


class Group(NamedTuple):
    """One group: ``hosts`` and ``children`` are the direct ones, in the order written."""

    name: str
    node: Node
    hosts: tuple[str, ...]
    children: tuple[str, ...]

    @property
    def position(self) -> Position:
        """The position where the group is first named."""
        return self.node.position


class Inventory:
    """All hosts and groups, in the order of the sources; created by ``inventory.load``.

    ``warnings`` are for the user and do not stop anything; ``notes`` has the positions that YAML
    1.1 would read differently.
    """

    def __init__(
        self, hosts: dict[str, Host], groups: dict[str, Group], declaration: Declaration
    ) -> None:
        self.hosts = hosts
        self.groups = groups
        self.warnings: tuple[Problem, ...] = ()
        self.notes: tuple[Problem, ...] = ()
        self._declaration = declaration
        self._selector: Selector | None = None

    def host(self, name: str) -> Host:
        """Return the host with that name; InputError with the most similar name if there
        is none.
        """
        host = self.hosts.get(name)
        if host is None:
            guess = nearest(name, self.hosts)
            hint = f"did you mean {guess}?" if guess else "'ccm inventory' lists the hosts"
            message = f"the inventory does not contain host {name[:80]!r}"
            raise InputError([Problem(message, None, hint, "inventory.no_match")])
        return host

    def select(
        self,
        limit: str | Iterable[str] | None = None,
        runs: "Runs | None" = None,
    ) -> list[Host]:
        """Return the hosts that the patterns match, in the inventory's order; None matches all.

        ``runs`` resolves patterns such as ``failed``. InputError (``inventory.no_match``) names
        every pattern that matches no host, with the most similar names. See ``inventory.selection``
        for the patterns.
        """
        if limit is None and self.hosts:
            return list(self.hosts.values())
        if self._selector is None:
            from inventory.selection import Selector

            members = {host.name: host.groups for host in self.hosts.values()}
            self._selector = Selector(members, self.groups)
        picked = self._selector.select(limit, runs)
        return [host for name, host in self.hosts.items() if name in picked]

    def among(self, names: Collection[str]) -> "Inventory":
        """The inventory with only these hosts, and the groups that contain one of them."""
        hosts = {name: host for name, host in self.hosts.items() if name in names}
        kept = {group for host in hosts.values() for group in host.groups}
        groups = {
            name: group._replace(
                hosts=tuple(host for host in group.hosts if host in hosts),
                children=tuple(child for child in group.children if child in kept),
            )
            for name, group in self.groups.items()
            if name in kept
        }
        return Inventory(hosts, groups, self._declaration)

    def explain(self, name: str) -> "list[ExplainedValue]":
        """Every property and variable of a host with its value and the position where it
        was set.
        """
        from inventory.explanation import explain_host

        return explain_host(self.host(name).name, self.hosts[name].groups, self._declaration)

    def graph(self) -> str:
        """The groups and their hosts as a tree of text; ends with a newline."""
        from inventory.explanation import group_tree

        return group_tree(self._declaration)
