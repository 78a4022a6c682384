"""Reads the plan that the controller sends (target)."""

import sys
from typing import Any, Dict, Iterator, NamedTuple, Tuple

from remote_runtime.errors import ProtocolError
from remote_runtime.options import RunOptions
from remote_runtime.plan_item import Item, plan_error


class Plan(NamedTuple):
    """One run on one host.

    ``before``, in a preview, has the plans that would be applied first, in that order.
    """

    run_id: str
    user: str
    options: RunOptions
    fail_on_error: bool
    secrets: Tuple[str, ...]
    items: Tuple[Item, ...]
    earlier: Dict[str, Any]
    binding: Dict[str, Any] = {}
    digest: str = ""  # of all resources
    manifest: str = ""  # under which the host records the run, "" for no record
    before: Tuple["Plan", ...] = ()
    origin: Dict[str, Any] = {}  # who else is behind it, and the version and commit of ccm
    receipt: str = ""  # by which the controller asks for the record of this run, "" for none
    recall: Tuple[str, ...] = ()  # the receipts of earlier runs that it asks for
    login_keys: Tuple[str, ...] = ()  # fingerprints of the SSH key that the login used


def parse(message: Dict[str, Any]) -> Plan:
    """Return the plan of a ``plan`` frame. ``ProtocolError`` names the invalid part."""
    numbers = iter(range(sys.maxsize))  # itertools would need an import
    plan = Plan(
        run_id=_get(message, "run_id", str, ""),
        user=_get(message, "user", str, ""),
        options=_options(message),
        earlier=_get(message, "earlier", dict, {}),
        binding=_get(message, "binding", dict, {}),
        origin=_get(message, "origin", dict, {}),
        receipt=_get(message, "receipt", str, ""),
        recall=recall_of(message),
        login_keys=tuple([str(one) for one in _get(message, "login_keys", list, [])]),
        **_work(message, numbers),
    )
    before = _get(message, "before", list, [])
    return plan._replace(before=_before(plan, before, numbers)) if before else plan


def recall_of(message: Dict[str, Any]) -> Tuple[str, ...]:
    """The receipts of earlier runs that a message requests."""
    return tuple([str(receipt) for receipt in _get(message, "recall", list, [])])


def _work(entry: Any, numbers: Iterator[int]) -> Dict[str, Any]:
    """Return the resources of an entry, and the digest and manifest that the host records."""
    if not isinstance(entry, dict):
        raise plan_error("before", "a list of objects", entry)
    stage, resources = _get(entry, "stage", str, ""), _get(entry, "resources", list, [])
    return {
        "fail_on_error": _get(entry, "fail_on_error", bool, False),
        "secrets": tuple(str(s) for s in _get(entry, "secrets", list, [])),
        "items": tuple([Item.read(e, numbers, stage=stage) for e in resources]),
        "digest": _get(entry, "digest", str, ""),
        "manifest": _get(entry, "manifest", str, ""),
    }


def _before(plan: Plan, entries: Any, numbers: Iterator[int]) -> Tuple[Plan, ...]:
    """The plans before this one; their resources are numbered after its own."""
    if not plan.options.noop or plan.binding.get("serial"):
        raise ProtocolError(
            "invalid plan: only a preview can have earlier plans", kind="protocol.plan"
        )
    # Their results are not reported, so they need no diffs and no digests.
    shared = plan._replace(options=plan.options._replace(diff=False), earlier={}, binding={})
    return tuple([shared._replace(**_work(entry, numbers)) for entry in entries])


def _options(message: Dict[str, Any]) -> RunOptions:
    """The options; the type of each is that of its default, a boolean or a number."""
    values: Dict[str, Any] = {}
    for name, default in RunOptions._field_defaults.items():
        kind = type(default)
        values[name] = kind(_get(message, name, (int, float) if kind is float else kind, default))
    return RunOptions(**values)


def _get(entry: Dict[str, Any], key: str, kind: Any, default: Any) -> Any:
    value = entry.get(key, default)
    if not isinstance(value, kind):
        raise plan_error(key, str(kind), value)
    return value
