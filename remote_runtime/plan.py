"""Reads the plan that the controller sends (target)."""

import sys
from typing import Any, Dict, NamedTuple, Tuple

from remote_runtime.item import Item, broken
from remote_runtime.options import RunOptions


class Plan(NamedTuple):
    """One run of one host."""

    run_id: str
    user: str
    options: RunOptions
    fail_on_error: bool
    secrets: Tuple[str, ...]
    items: Tuple[Item, ...]
    earlier: Dict[str, Any]
    binding: Dict[str, Any] = {}
    digest: str = ""  # of all resources
    manifest: str = ""  # by which the host remembers what it did, "" for nothing to remember


def parse(message: Dict[str, Any]) -> Plan:
    """Return the plan of a ``plan`` frame. ``ProtocolError`` names what is broken."""
    numbers = iter(range(sys.maxsize))  # itertools would have to be imported
    return Plan(
        run_id=_get(message, "run_id", str, ""),
        user=_get(message, "user", str, ""),
        options=_options(message),
        fail_on_error=_get(message, "fail_on_error", bool, False),
        secrets=tuple(str(s) for s in _get(message, "secrets", list, [])),
        items=tuple([Item.read(e, numbers) for e in _get(message, "resources", list, [])]),
        earlier=_get(message, "earlier", dict, {}),
        binding=_get(message, "binding", dict, {}),
        digest=_get(message, "digest", str, ""),
        manifest=_get(message, "manifest", str, ""),
    )


def _options(message: Dict[str, Any]) -> RunOptions:
    """Each field is what its default is, true or false or a number."""
    given: Dict[str, Any] = {}
    for name, default in RunOptions._field_defaults.items():
        kind = type(default)
        given[name] = kind(_get(message, name, (int, float) if kind is float else kind, default))
    return RunOptions(**given)


def _get(entry: Dict[str, Any], key: str, kind: Any, default: Any) -> Any:
    value = entry.get(key, default)
    if not isinstance(value, kind):
        raise broken(key, str(kind), value)
    return value
