"""``Groups`` and ``Hosts``: the other hosts, as templates of one host see them (controller)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.expressions.rendering_cache import RenderingCache
from orchestrator.language.other_hosts import (
    FactsOfHosts,
    Members,
    OtherHost,
    PackedFacts,
    ReadOnlyMap,
)

if TYPE_CHECKING:
    from inventory import Inventory


class InventoryView:
    """The inventory for templates; it contacts no host. Thread-safe.

    ``renderings`` caches results of templates that depend on no value of a host, ``facts`` has the
    known facts of hosts.
    """

    def __init__(
        self, groups: Mapping[str, Iterable[str]], hosts: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._given = groups, hosts
        self.renderings = RenderingCache()
        self.facts = FactsOfHosts()

    @classmethod
    def of(cls, inventory: Inventory) -> InventoryView:
        """The view of an inventory that is read on first use."""
        return _Lazy(inventory)

    @cached_property
    def groups(self) -> ReadOnlyMap:
        """The host names of each group, including ``all``."""
        return ReadOnlyMap({name: Members(hosts) for name, hosts in self._given[0].items()})

    @cached_property
    def hosts(self) -> ReadOnlyMap:
        """``name``, ``address``, ``groups`` and ``vars`` of each host, and its facts."""
        given = self._given[1]
        return ReadOnlyMap({name: OtherHost(about, self.facts) for name, about in given.items()})

    def record(self) -> dict[str, Any]:
        """The complete view, for JSON."""
        facts = self.facts
        known = {
            name: [one.gathered, b64encode(one.data).decode("ascii")]
            for name, one in facts.known.items()
        }
        return {
            "groups": self.groups,
            "hosts": self.hosts,
            "facts": known,
            "reasons": facts.reasons,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> InventoryView:
        """The view of a ``record``."""
        made = cls(record["groups"], record["hosts"])
        for name, (gathered, data) in record["facts"].items():
            made.facts.known[name] = PackedFacts(gathered, b64decode(data))
        made.facts.reasons.update(record["reasons"])
        return made


class _Lazy(InventoryView):
    """The view of an inventory, read on first use."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__({}, {})
        self._inventory = inventory

    @cached_property
    def groups(self) -> ReadOnlyMap:
        inventory = self._inventory
        members: dict[str, list[str]] = {name: [] for name in ("all", *inventory.groups)}
        for name, host in inventory.hosts.items():
            for group in ("all", *host.groups):
                members[group].append(name)
        return ReadOnlyMap({name: Members(names) for name, names in members.items()})

    @cached_property
    def hosts(self) -> ReadOnlyMap:
        found = {}
        for name, host in self._inventory.hosts.items():
            groups = list(host.groups)
            about = {"name": name, "address": host.address, "groups": groups, "vars": host.vars}
            found[name] = OtherHost(about, self.facts)
        return ReadOnlyMap(found)


NO_INVENTORY = InventoryView({}, {})
"""The view without an inventory: there are no groups and no hosts."""
