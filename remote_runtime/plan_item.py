"""One resource in the form of a plan (both sides)."""

from typing import Any, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple

from remote_runtime.errors import ProtocolError

Properties = Dict[str, Any]

SELECTION = ("only", "tags", "skip")  # the options that select a part of a manifest


class Item(NamedTuple):
    """One resource in the form of a plan; every property is final except deferred ones.

    This class defines what a plan contains for a resource, on both sides.
    """

    index: int  # type: ignore[assignment]  # its place in the plan, not tuple.index
    type: str
    name: str
    properties: Properties
    alias: str = ""
    provider: str = ""
    require: Tuple[str, ...] = ()
    subscribe: Tuple[str, ...] = ()
    managed: bool = True  # the result of the expressions of `control`
    control: Tuple[Dict[str, Any], ...] = ()  # what to check on the host: exists, absent, command
    asked: Tuple[Dict[str, Any], ...] = ()  # the lookups that its text reads, each with its name
    left_out: str = ""  # the option, one of SELECTION, that excludes it
    needed: bool = False  # it is excluded, and a selected resource requires it
    sensitive: bool = False
    secrets: Tuple[str, ...] = ()  # properties whose values are masked in every sink
    redact_hash: bool = False  # its content contains a secret, so its hash must not be shown
    deferred_error: str = ""  # a deferred template that failed; reported when the resource runs
    deferred_render: bool = False  # the controller renders it when the resource runs
    health_checks: Tuple[Dict[str, Any], ...] = ()
    noop: bool = False  # strengthened by an enclosing apply, as monitor_only is
    monitor_only: bool = False
    applies: str = ""  # the child manifest that contains its children
    fail_on_error: bool = False  # that of the child manifest
    manifest: str = ""  # the child manifest that contains it; "" for the pushed manifest
    own: bool = False  # its type is a custom type, in types/ next to the manifest
    stage: str = ""  # the earlier stage whose preview contains it; "" for that of the run itself
    children: Tuple["Item", ...] = ()

    @property
    def label(self) -> str:
        """Its ID in messages, with its stage if that is an earlier one."""
        return "%s of stage %s" % (self.id, self.stage) if self.stage else self.id

    @property
    def id(self) -> str:
        """``type#name``."""
        return "%s#%s" % (self.type, self.name)

    @property
    def implied(self) -> bool:
        """Whether the plan contains all properties and checks for an event."""
        return not (self.applies or self.deferred_render or self.health_checks)

    def entry(self) -> Dict[str, Any]:
        """Return its record in a plan, without its children and default values."""
        said = zip(self._fields, self)
        return {k: v for k, v in said if k in _KINDS and (k not in _DEFAULTS or v != _DEFAULTS[k])}

    @classmethod
    def read(
        cls,
        entry: Any,
        numbers: Iterator[int],
        within: Optional["Item"] = None,
        stage: str = "",
    ) -> "Item":
        """Return the item of such a record, and its children; ``numbers`` gives each its index.

        The settings of the ``within`` item also apply to it. ``stage`` is that of an earlier plan.
        ``ProtocolError`` names the broken part.
        """
        if not isinstance(entry, dict):
            raise plan_error("resources", "a list of objects", entry)
        fields: Dict[str, Any] = {"index": next(numbers), "properties": {}}
        for key in ("type", "name"):
            if key not in entry:
                raise plan_error(key, "given", None)
        # Most items have only a few keys, so the loop iterates over these, not over all fields.
        for key, value in entry.items():
            kind = _KINDS.get(key)
            if kind is None:
                continue
            if not isinstance(value, kind):
                raise plan_error(key, str(kind), value)
            fields[key] = tuple(value) if kind is list else value
        if within is not None:
            fields["manifest"] = within.applies
            for key in ("noop", "monitor_only"):
                fields[key] = fields.get(key, False) or getattr(within, key)
        item = cls(stage=stage, **fields)
        children = entry.get("children", [])
        if not isinstance(children, list):
            raise plan_error("children", str(list), children)
        if not children:
            return item
        return item._replace(children=tuple([cls.read(c, numbers, item, stage) for c in children]))


_BY_PLACE = ("manifest", "stage", "children")
_DEFAULTS: Dict[str, Any] = dict(Item._field_defaults, properties={})

# The members of an item's record in addition to its children, each with its kind in JSON.
_KINDS: Dict[str, Any] = {"type": str, "name": str, "properties": dict}
for _key, _default in Item._field_defaults.items():
    if _key not in _BY_PLACE:
        _KINDS[_key] = list if _default == () else type(_default)


def each_of(items: Iterable[Item], managed: bool = False) -> Iterator[Item]:
    """Yield these items and all of their children, in pre-order.

    ``managed``: without the children of items that are not managed.
    """
    for item in items:
        yield item
        if item.children and (item.managed or not managed):
            yield from each_of(item.children, managed)


def plan_error(key: str, expected: str, value: Any) -> ProtocolError:
    """Return the error for a plan whose ``key`` is not as ``expected``."""
    return ProtocolError(
        "invalid plan: %s must be %s, not %r" % (key, expected, type(value).__name__),
        kind="protocol.plan",
    )
