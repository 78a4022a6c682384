"""Runs state types of a test through the real engine (Python 3.6 and newer)."""

from typing import Any, Callable, Dict, List, Mapping, Optional, Type

from remote_runtime.base import Diff, StateType
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.managed_resources import managed_class
from remote_runtime.managed_resources.managed_resource import ManagedResource
from remote_runtime.plan_item import Item
from remote_runtime.provider import Provider
from tests.remote_runtime.fakes import context, item, run_items


class Kinds(object):
    """A registry that has one state type."""

    def __init__(self, ctx: Any, kind: Type[StateType]) -> None:
        self._context, self._kind = ctx, kind

    def create(self, wanted: Item, prepare: bool = True) -> ManagedResource:
        return managed_class(self._kind)(self._kind, wanted, Provider(self._context), self._context)

    suppose = create


def run(kind: Type[StateType], *items: Item, **options: Any) -> List[Dict[str, Any]]:
    """The events of a run."""
    ctx = context(items, **options)
    return run_items(items, Kinds(ctx, kind), shared=ctx)


def kind_of(
    read: Callable[[HostReader], Optional[Mapping[str, Any]]] = lambda host: None,
    apply: Callable[[Host], object] = lambda host: None,
    desired: Optional[Mapping[str, Any]] = None,
) -> Type[StateType]:
    """A state type of these."""

    class Kind(StateType):
        def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
            return read(host)

        def desired(self) -> Mapping[str, Any]:
            return desired or {}

        def apply(self, host: Host, diff: Diff) -> None:
            apply(host)

        def remove(self, host: Host) -> None:
            apply(host)

    return Kind


def thing(name: str = "x", **properties: Any) -> Item:
    return item("thing", name, properties=properties)
