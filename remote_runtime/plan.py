"""Reads the plan that the controller sends (target)."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .base import Item
from .errors import ProtocolError
from .options import RunOptions

# What an item may say beside its children, and of which kind that is.
_KINDS: Dict[str, Any] = {
    "type": str,
    "name": str,
    "properties": dict,
    "alias": str,
    "provider": str,
    "require": list,
    "subscribe": list,
    "managed": bool,
    "sensitive": bool,
    "secrets": list,
    "veiled": bool,
    "deferred_error": str,
    "deferred_render": bool,
    "health_checks": list,
    "noop": bool,
    "monitor_only": bool,
    "applies": str,
    "fail_on_error": bool,
}


class Plan(NamedTuple):
    """One run of one host."""

    run_id: str
    user: str
    options: RunOptions
    fail_on_error: bool
    secrets: Tuple[str, ...]
    items: Tuple[Item, ...]
    earlier: Dict[str, Any]


def parse(message: Dict[str, Any]) -> Plan:
    """Return the plan of a ``plan`` frame. ``ProtocolError`` names what is broken."""
    numbers = _Numbers()
    return Plan(
        run_id=_get(message, "run_id", str, ""),
        user=_get(message, "user", str, ""),
        options=_options(message),
        fail_on_error=_get(message, "fail_on_error", bool, False),
        secrets=tuple(str(s) for s in _get(message, "secrets", list, [])),
        items=_items(_get(message, "resources", list, []), numbers),
        earlier=_get(message, "earlier", dict, {}),
    )


def _options(message: Dict[str, Any]) -> RunOptions:
    """Each field is what its default is, true or false or a number."""
    given: Dict[str, Any] = {}
    for name, default in RunOptions._field_defaults.items():
        kind = type(default)
        given[name] = kind(_get(message, name, (int, float) if kind is float else kind, default))
    return RunOptions(**given)


class _Numbers(object):
    """Counts the items in pre-order over the whole plan."""

    def __init__(self) -> None:
        self._next = 0

    def next(self) -> int:
        self._next += 1
        return self._next - 1


def _items(
    entries: List[Any], numbers: _Numbers, within: Optional[Item] = None
) -> Tuple[Item, ...]:
    return tuple(_item(entry, numbers, within) for entry in entries)


def _item(entry: Any, numbers: _Numbers, within: Optional[Item]) -> Item:
    """One item; what holds for the one that it is a child of holds for it, too."""
    if not isinstance(entry, dict):
        raise _broken("resources", "a list of objects", entry)
    fields: Dict[str, Any] = {"index": numbers.next(), "properties": {}}
    for key in ("type", "name"):
        if key not in entry:
            raise _broken(key, "given", None)
    # Of most items only a few keys are given, so these are gone through, not those that may be.
    for key, value in entry.items():
        kind = _KINDS.get(key)
        if kind is None:
            continue
        if not isinstance(value, kind):
            raise _broken(key, str(kind), value)
        fields[key] = tuple(value) if kind is list else value
    if within is not None:
        fields["manifest"] = within.applies
        for key in ("noop", "monitor_only"):
            fields[key] = fields.get(key, False) or getattr(within, key)
    item = Item(**fields)
    if "children" in entry:
        item = item._replace(children=_items(_get(entry, "children", list, []), numbers, item))
    return item


def _get(entry: Dict[str, Any], key: str, kind: Any, default: Any) -> Any:
    value = entry.get(key, default)
    if not isinstance(value, kind):
        raise _broken(key, str(kind), value)
    return value


def _broken(key: str, expected: str, value: Any) -> ProtocolError:
    return ProtocolError(
        "the plan is broken: %s should be %s, it is %r" % (key, expected, type(value).__name__),
        kind="protocol.plan",
    )
