"""Hosts, groups and the inventory that holds them, with every value decided (controller)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from inventory.declaration import Declaration
from inventory.explanation import Explained, explain_host, group_tree
from inventory.nodes import Node
from inventory.selection import Runs, Selector
from remote_runtime.errors import InputError, Position, Problem
from remote_runtime.nearest import nearest


class Host:
    """One host with the nearest value of every property.

    ``connect_timeout`` is in seconds; ``become`` is None where nothing is said; ``groups`` has the
    nearest first and leaves out ``all``; ``vars`` may share nested values with other hosts, so do
    not change them. None means: not said here, the SSH configuration or the default decides.
    """

    __slots__ = (
        "_node",
        "address",
        "become",
        "connect_timeout",
        "connection",
        "groups",
        "jump",
        "key_file",
        "known_hosts",
        "name",
        "port",
        "python",
        "user",
        "vars",
    )

    def __init__(
        self,
        name: str,
        node: Node,
        *,
        groups: tuple[str, ...],
        values: dict[str, Any],
        vars_: dict[str, Any],
    ) -> None:
        get = values.get
        self.name = name
        self._node = node
        self.groups = groups
        self.vars = vars_
        self.address: str = get("address", name)
        self.port: int | None = get("port")
        self.user: str | None = get("user")
        self.key_file: str | None = get("key_file")
        self.known_hosts: str | None = get("known_hosts")
        self.become: bool | str | None = get("become")
        self.python: str | None = get("python")
        self.connection: Literal["ssh", "local"] = get("connection", "ssh")
        self.connect_timeout: float | None = get("connect_timeout")
        self.jump: str | None = get("jump")

    @property
    def position(self) -> Position:
        """Where the host is named first."""
        return self._node.position

    def __repr__(self) -> str:
        return f"Host({self.name!r})"


class Group:
    """One group: ``hosts`` and ``children`` are the direct ones, in the order written."""

    __slots__ = ("_node", "children", "hosts", "name")

    def __init__(
        self, name: str, node: Node, hosts: tuple[str, ...], children: tuple[str, ...]
    ) -> None:
        self.name = name
        self._node = node
        self.hosts = hosts
        self.children = children

    @property
    def position(self) -> Position:
        """Where the group is named first."""
        return self._node.position

    def __repr__(self) -> str:
        return f"Group({self.name!r})"


class Inventory:
    """All hosts and groups, in the order of the sources; made by ``inventory.load``.

    ``warnings`` are for the user and end nothing.
    """

    def __init__(
        self, hosts: dict[str, Host], groups: dict[str, Group], declaration: Declaration
    ) -> None:
        self.hosts = hosts
        self.groups = groups
        self.warnings: tuple[Problem, ...] = ()
        self._declaration = declaration
        self._selector: Selector | None = None

    def host(self, name: str) -> Host:
        """The host of that name; InputError with the nearest name where there is none."""
        host = self.hosts.get(name)
        if host is None:
            guess = nearest(name, self.hosts)
            hint = f"did you mean {guess!r}?" if guess else "'ccm inventory' lists the hosts"
            message = f"the inventory has no host {name[:80]!r}"
            raise InputError([Problem(message, None, hint, "inventory.no_match")])
        return host

    def select(
        self,
        limit: str | Iterable[str] | None = None,
        runs: Runs | None = None,
    ) -> list[Host]:
        """The hosts that the patterns pick, in the inventory's order; None picks all.

        ``runs`` says what patterns such as ``failed`` stand for. InputError
        (``inventory.no_match``) names every pattern that matches no host, with the nearest names.
        See ``inventory.selection`` for the patterns.
        """
        if self._selector is None:
            members = {host.name: host.groups for host in self.hosts.values()}
            self._selector = Selector(members, self.groups)
        picked = self._selector.select(limit, runs)
        return [host for name, host in self.hosts.items() if name in picked]

    def explain(self, name: str) -> list[Explained]:
        """Every property and variable of a host with its value and where that was written."""
        return explain_host(self.host(name).name, self.hosts[name].groups, self._declaration)

    def graph(self) -> str:
        """The groups and their hosts as a tree of text; ends with a newline."""
        return group_tree(self._declaration)
