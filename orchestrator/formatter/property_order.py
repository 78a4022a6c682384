"""The order of the properties of a resource (controller)."""

from collections.abc import Callable, Iterator

from inventory.document import Mapping, Node, Sequence
from orchestrator.formatter.flow import Rank
from orchestrator.manifest.types import Types

FIRST = ("name", "foreach", "alias", "tags", "ensure")
LAST = (
    "provider", "require", "subscribe", "control", "health_checks", "register_when_stable",
    "sensitive", "render",
)  # fmt: skip


def rank_of(types: Types) -> Callable[[str], Rank]:
    """The rank of each property of a type: first FIRST, then the properties in the order of the
    type's page, then names that the type does not have, then LAST.
    """

    def of_type(name: str) -> Rank:
        type_ = types.get(name)
        own = [] if type_ is None else list(type_.schema.get("properties", {}))
        order = [*FIRST, *(key for key in own if key not in FIRST and key not in LAST)]
        places = {key: at for at, key in enumerate(order)}
        places.update({key: len(order) + 1 + at for at, key in enumerate(LAST)})
        return lambda key: places.get(key, len(order))

    return of_type


def property_maps(root: Node) -> Iterator[tuple[str, Mapping]]:
    """The maps of properties in a manifest, or in a list of resources, each with its type."""
    resources: Node | None = root
    if isinstance(root, Mapping):
        ccm = root.get("ccm")
        if not isinstance(ccm, Mapping):
            return
        resources = ccm.get("resources")
        yield from _maps(ccm.get("defaults"))
    for item in resources.nodes if isinstance(resources, Sequence) else ():
        for type_, value in _entries(item):
            if isinstance(value, Mapping):
                yield type_, value
            for entry in value.nodes if isinstance(value, Sequence) else ():
                yield from ((type_, properties) for _, properties in _maps(entry))


def _maps(node: Node | None) -> Iterator[tuple[str, Mapping]]:
    for name, value in _entries(node):
        if isinstance(value, Mapping):
            yield name, value


def _entries(node: Node | None) -> Iterator[tuple[str, Node]]:
    for key, value in node.pairs() if isinstance(node, Mapping) else ():
        yield key.text, value
