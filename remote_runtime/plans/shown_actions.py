"""What a plan file shows of each resource, as digests (both sides).

The controller makes them from the plan file, the target from its own preview right before the push.
So a plan file that was crafted to show less than it does is refused.
"""

import re
from typing import Any, Dict, Iterator, List

from remote_runtime.stdlib_light import json_text
from remote_runtime.stdlib_light.sha256_digest import sha256

_LENGTH = 16  # hexadecimal digits of a digest
_ALTERED = re.compile(r"\\[bfru]|\x7f")  # the controller may remove such characters from an event


def shown_digests(outcome: Dict[str, Any]) -> str:
    """The joined digests of the resource, of its status, and of each change with its diff.

    "" for a resource that is shown as unchanged: only one that would change is compared.
    """
    if outcome["status"] == "stable":
        return ""
    parts = [*_state(outcome)]
    for change in outcome["changes"]:
        parts.append(("what", change["what"]))
        parts.extend(_values(change))
        if change.get("diff"):
            parts.append(("diff of", change["what"]))
            parts.extend(_diff(change))
    return "".join(sorted({_digest(*part) for part in parts}))


def not_shown(event: Dict[str, Any], shown: str) -> List[str]:
    """The changes of an event that are not shown as such, by property; "" for its status.

    A preview without a diff is compared without it, and so are values that the controller may have
    altered.
    """
    parts = {shown[at : at + _LENGTH] for at in range(0, len(shown), _LENGTH)}

    def is_shown(*part: Any) -> bool:
        return _digest(*part) in parts

    names = []
    for change in event["changes"]:
        what = change["what"]
        details = list(_values(change))
        if change.get("diff") and is_shown("diff of", what):
            details += _diff(change)
        if not is_shown("what", what) or not all(is_shown(*part) for part in details):
            names.append(what)
    return names or ([] if all(is_shown(*part) for part in _state(event)) else [""])


def _state(event: Dict[str, Any]) -> Iterator[Any]:
    yield ("status", event["status"])
    yield ("refreshed", event["refreshed"])
    yield from _unaltered("resource", event["type"], event["name"])


def _values(change: Dict[str, Any]) -> Iterator[Any]:
    values = _sorted(change["from"]), _sorted(change["to"])
    return _unaltered("values", change["what"], *values)


def _diff(change: Dict[str, Any]) -> Iterator[Any]:
    return _unaltered("diff", change["what"], change["diff"])


def _unaltered(*part: Any) -> Iterator[Any]:
    if not _ALTERED.search(json_text.dumps(part)):
        yield part


def _sorted(value: Any) -> Any:
    """A JSON value whose text does not depend on the order of members."""
    if isinstance(value, dict):
        return [[key, _sorted(value[key])] for key in sorted(value)]
    return [_sorted(one) for one in value] if isinstance(value, (list, tuple)) else value


def _digest(*part: Any) -> str:
    digest: str = sha256(json_text.dumps(part).encode("ascii")).hexdigest()
    return digest[:_LENGTH]
