"""``Groups`` and ``Hosts``: what the templates of one host see of the others (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from orchestrator.expressions.rendering_cache import RenderingCache

if TYPE_CHECKING:
    from inventory import Inventory


class ReadOnlyMap(dict[str, Any]):
    """A map that all hosts of a run share, so no template can change it."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("Groups and Hosts cannot be changed")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: Any) -> ReadOnlyMap:
        return self


class Members(list[str]):
    """The names of a group's hosts, in the order of the inventory."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self._all = frozenset(self)

    def __contains__(self, name: object) -> bool:
        try:
            return name in self._all
        except TypeError:  # a list or a map
            return False


class InventoryView:
    """What an inventory says of all hosts, for templates; it contacts nobody. Thread-safe.

    ``renderings`` has what came out of templates that no value of a host decides.
    """

    def __init__(
        self, groups: Mapping[str, Iterable[str]], hosts: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._given = groups, hosts
        self.renderings = RenderingCache()

    @classmethod
    def of(cls, inventory: Inventory) -> InventoryView:
        """The view of an inventory, which is read when a template asks for it."""
        return _Lazy(inventory)

    @cached_property
    def groups(self) -> ReadOnlyMap:
        """The names of the hosts of each group, ``all`` included."""
        return ReadOnlyMap({name: Members(hosts) for name, hosts in self._given[0].items()})

    @cached_property
    def hosts(self) -> ReadOnlyMap:
        """``name``, ``address``, ``groups`` and ``vars`` of each host."""
        return ReadOnlyMap({name: _read_only(about) for name, about in self._given[1].items()})

    def record(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"groups": self.groups, "hosts": self.hosts}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> InventoryView:
        """That of a ``record``."""
        return cls(record["groups"], record["hosts"])


class _Lazy(InventoryView):
    """The view of an inventory."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__({}, {})
        self._inventory = inventory

    @cached_property
    def groups(self) -> ReadOnlyMap:
        """See ``InventoryView``."""
        inventory = self._inventory
        members: dict[str, list[str]] = {name: [] for name in ("all", *inventory.groups)}
        for name, host in inventory.hosts.items():
            for group in ("all", *host.groups):
                members[group].append(name)
        return ReadOnlyMap({name: Members(names) for name, names in members.items()})

    @cached_property
    def hosts(self) -> ReadOnlyMap:
        """See ``InventoryView``."""
        return ReadOnlyMap(
            {
                name: _read_only(
                    {
                        "name": name,
                        "address": host.address,
                        "groups": list(host.groups),
                        "vars": host.vars,
                    }
                )
                for name, host in self._inventory.hosts.items()
            }
        )


def _read_only(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ReadOnlyMap({key: _read_only(below) for key, below in value.items()})
    if isinstance(value, list | tuple):
        return [_read_only(below) for below in value]
    return value


NO_INVENTORY = InventoryView({}, {})
"""Where no inventory is known: there are no groups and no hosts."""
