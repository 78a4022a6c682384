"""One resource as a plan carries it (both sides)."""

from typing import Any, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple

from remote_runtime.errors import ProtocolError

Properties = Dict[str, Any]

SELECTION = ("only", "tags", "skip")  # the options that choose a part of a manifest


class Item(NamedTuple):
    """One resource as the plan carries it; every property is final except deferred ones.

    This is the list of what a plan says of a resource: both sides go by it.
    """

    index: int  # type: ignore[assignment]  # its place in the plan, not tuple.index
    type: str
    name: str
    properties: Properties
    alias: str = ""
    provider: str = ""
    require: Tuple[str, ...] = ()
    subscribe: Tuple[str, ...] = ()
    managed: bool = True  # what the expressions of `control` came to
    control: Tuple[Dict[str, Any], ...] = ()  # what it asks at the turn: exists, absent, command
    asked: Tuple[Dict[str, Any], ...] = ()  # the look-ups that it stands on, each with its name
    left_out: str = ""  # the option, one of SELECTION, that leaves it out
    needed: bool = False  # it is left out, and what is not left out requires it
    sensitive: bool = False
    secrets: Tuple[str, ...] = ()  # properties whose values are masked in every sink
    veiled: bool = False  # its content holds a secret, so no hash of it may be told
    deferred_error: str = ""  # a deferred template that failed; told when the turn comes
    deferred_render: bool = False  # ask the controller when the turn comes
    health_checks: Tuple[Dict[str, Any], ...] = ()
    noop: bool = False  # strengthened by an enclosing apply, as monitor_only is
    monitor_only: bool = False
    applies: str = ""  # the child manifest that its children come of
    fail_on_error: bool = False  # that of the child manifest
    manifest: str = ""  # the child manifest that it stands in; "" for the one that was pushed
    own: bool = False  # its type is the site's own, in types/ beside the manifest
    children: Tuple["Item", ...] = ()

    @property
    def id(self) -> str:
        """``type#name``."""
        return "%s#%s" % (self.type, self.name)

    @property
    def implied(self) -> bool:
        """Whether the plan says all that an event has of its properties and checks."""
        return not (self.applies or self.deferred_render or self.health_checks)

    def entry(self) -> Dict[str, Any]:
        """Its record in a plan, without its children; what is as its default is left out."""
        said = zip(self._fields, self)
        return {k: v for k, v in said if k in _KINDS and (k not in _DEFAULTS or v != _DEFAULTS[k])}

    @classmethod
    def read(cls, entry: Any, numbers: Iterator[int], within: Optional["Item"] = None) -> "Item":
        """The item of such a record, and its children; ``numbers`` gives each its index.

        What holds for the one that it stands ``within`` holds for it, too. ``ProtocolError`` names
        what is broken.
        """
        if not isinstance(entry, dict):
            raise plan_error("resources", "a list of objects", entry)
        fields: Dict[str, Any] = {"index": next(numbers), "properties": {}}
        for key in ("type", "name"):
            if key not in entry:
                raise plan_error(key, "given", None)
        # Of most items only a few keys are given, so these are gone through, not those that may be.
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
        item = cls(**fields)
        children = entry.get("children", [])
        if not isinstance(children, list):
            raise plan_error("children", str(list), children)
        if not children:
            return item
        return item._replace(children=tuple([cls.read(c, numbers, item) for c in children]))


_BY_PLACE = ("manifest", "children")
_DEFAULTS: Dict[str, Any] = dict(Item._field_defaults, properties={})

# What the record of an item may say beside its children, and of which kind that is in JSON.
_KINDS: Dict[str, Any] = {"type": str, "name": str, "properties": dict}
for _key, _default in Item._field_defaults.items():
    if _key not in _BY_PLACE:
        _KINDS[_key] = list if _default == () else type(_default)


def each_of(items: Iterable[Item], managed: bool = False) -> Iterator[Item]:
    """These items and all that they are made of, pre-order.

    ``managed``: what those are made of that are not managed is left out.
    """
    for item in items:
        yield item
        if item.managed or not managed:
            yield from each_of(item.children, managed)


def plan_error(key: str, expected: str, value: Any) -> ProtocolError:
    """The error of a plan in which ``key`` is not as ``expected``."""
    return ProtocolError(
        "the plan is broken: %s should be %s, it is %r" % (key, expected, type(value).__name__),
        kind="protocol.plan",
    )
