"""Finds types and chooses providers (target; the listing part also on the controller).

A type is the directory ``resources/TYPE/``: ``__init__.py`` lists ``PROVIDERS`` by name,
``resource.py`` has the class ``Resource``, a state type, and ``provider.py`` the class ``Provider``
of all of them. A type without listed providers has only the ports of the host.
"""

import os
import sys
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence, Tuple, Type

from remote_runtime.base import StateType
from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item, Properties
from remote_runtime.provider import FIRST, Provider

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.managed_resources.managed_resource import ManagedResource

PORTS = ("posix",)
"""The provider names of a state type that lists no providers; ``PORTS`` in its ``__init__.py``
replaces them."""


def types() -> List[str]:
    """Return every type in this runtime, sorted."""
    import pkgutil

    from remote_runtime import resources

    return sorted(m.name for m in pkgutil.iter_modules(resources.__path__) if m.ispkg)


def _load(type_name: str, module: str) -> Any:
    name = "%s.resources.%s" % (__package__, type_name)
    try:
        if not type_name.isidentifier():
            raise ModuleNotFoundError(type_name)
        __import__(name)
    except ModuleNotFoundError as error:
        raise ResourceError(
            "there is no resource type %r" % type_name, kind="resource.type"
        ) from error
    __import__(name + module)  # importlib would need an import itself
    return sys.modules[name + module]


def provider_names(type_name: str) -> Tuple[str, ...]:
    """Return the providers of a type, the best first. ``ResourceError`` for an unknown type."""
    package = _load(type_name, "")
    return tuple(getattr(package, "PROVIDERS", getattr(package, "PORTS", PORTS)))


def resource_class(type_name: str) -> Type[StateType]:
    """Return the class ``Resource`` of a type. ``ResourceError`` for an unknown type."""
    found: Type[StateType] = _load(type_name, ".resource").Resource
    return found


def schema_text(type_name: str) -> bytes:
    """Return the bytes of a type's ``schema.json``. ``ResourceError`` for an unknown type."""
    package = _load(type_name, "")
    # Like pkgutil.get_data, which would import many more modules.
    data: bytes = package.__loader__.get_data(os.path.join(package.__path__[0], "schema.json"))
    return data


class _Known(NamedTuple):
    """A type: the names of its providers, its class, and the class that runs its resources."""

    providers: Sequence[str]
    kind: Type[StateType]
    managed: "Type[ManagedResource]"


class Registry(object):
    """The providers of one run: one instance of each, which is prepared with its items once."""

    def __init__(self, context: "Context") -> None:
        self._context = context
        self._types: Dict[str, _Known] = {}
        self._instances: Dict[Tuple[str, str], Provider] = {}
        self._prepared: Dict[Tuple[str, str], bool] = {}

    def choose(self, item: Item, properties: Properties) -> Provider:
        """Return the provider for one resource: the explicit one, or the supported one with the
        lowest priority.

        ``ResourceError`` gives the reason if there is none.
        """
        names = self._type(item.type).providers
        if item.provider and item.provider not in names:
            raise ResourceError(
                "there is no provider %r for %s, only %s"
                % (item.provider, item.type, ", ".join(names)),
                kind="resource.provider",
            )
        best = None
        refusals = []
        for name in [item.provider] if item.provider else names:
            provider = self._instance(item.type, name)
            reason = provider.unsupported_reason(properties)
            if reason:
                refusals.append("%s: %s" % (name, reason))
            elif best is None or provider.priority < best.priority:
                best = provider
                if best.priority <= FIRST:
                    break  # the others need not even be imported
        if best is None:
            if self._context.overlay is not None:
                self._look_ahead(item, properties)
            raise ResourceError(
                "no provider can manage this resource on this host (%s)" % "; ".join(refusals),
                kind="resource.provider",
            )
        return best

    def _look_ahead(self, item: Item, properties: Properties) -> None:
        """Raise ``Unknowable`` if a provider is planned; record the uncertainty of a possible
        provider.
        """
        for name in [item.provider] if item.provider else self._type(item.type).providers:
            anew = type(self._instance(item.type, name))(self._context, name)
            if not self._context.as_planned(anew.unsupported_reason, properties):
                raise Unknowable(
                    "the dependencies of %s are missing until an earlier resource provides them"
                    % name
                )

    def create(self, item: Item, prepare: bool = True) -> "ManagedResource":
        """Return the resource of an item with its provider, which is prepared the first time."""
        provider = self.choose(item, item.properties)
        key = (item.type, provider.name)
        if prepare and key not in self._prepared:
            self._prepared[key] = True
            provider.prepare(
                [p for p in self._context.peers(item.type) if p.provider in ("", provider.name)]
            )
        return self._managed(item, provider)

    def suppose(self, item: Item) -> "ManagedResource":
        """Return the resource with the first provider, even if that cannot manage it: for a
        preview, in which an earlier change may make this possible.
        """
        names = [item.provider] if item.provider else self._type(item.type).providers
        first = min((self._instance(item.type, name) for name in names), key=_priority)
        return self._managed(item, first)

    def _managed(self, item: Item, provider: Provider) -> "ManagedResource":
        known = self._type(item.type)
        return known.managed(known.kind, item, provider, self._context)

    def _type(self, name: str) -> _Known:
        """Return a type, which is looked up once."""
        if name not in self._types:
            from remote_runtime.managed_resources import managed_class

            names, kind = provider_names(name), resource_class(name)
            self._types[name] = _Known(names, kind, managed_class(kind))
        return self._types[name]

    def _instance(self, type_name: str, name: str) -> Provider:
        key = (type_name, name)
        if key not in self._instances:
            self._instances[key] = self._provider(type_name)(self._context, name)
        return self._instances[key]

    @staticmethod
    def _provider(type_name: str) -> Type[Provider]:
        if not hasattr(_load(type_name, ""), "PROVIDERS"):
            return Provider
        found: Type[Provider] = _load(type_name, ".provider").Provider
        return found


def _priority(provider: Provider) -> int:
    return provider.priority
