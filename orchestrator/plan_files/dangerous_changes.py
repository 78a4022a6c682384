"""Finds dangerous changes in the events of a preview (controller).

It uses the changes of the event, and the effects that no change names. The summary of a preview,
``ccm plan show``, its reports and ``ccm plan check`` all use this.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from remote_runtime import registry
from remote_runtime.reporting.masking import MASKED

REMOVES, PACKAGES, ACCOUNTS = "removes", "package_removes", "account_removes"
REBOOTS, RESTARTS, STOPS, MODES = "reboots", "restarts", "stops", "modes_widened"
KINDS = (PACKAGES, ACCOUNTS, REMOVES, REBOOTS, STOPS, RESTARTS, MODES)
"""The kinds of danger, in the order in which they are shown."""

ASSUMED, UNKNOWN = "assumed", "unknown"
HIDDEN = "its values are hidden"
_ACCOUNTS = ("user", "group")
_PACKAGE = "package "  # prefix of the change of another package
_THERE = ("present", "directory", "file", "symlink")
_NO_MODES = ("ensure", "owner", "group")  # never the name of a path in a resource
_TREE = b'"x-ccm-tree"'
_MODE = re.compile(r"[0-7]{3,5}\Z")
_OTHERS = 0o6077  # what others than the owner may do, and as whom a program runs
_WRITE, _STICKY = 0o022, 0o1000
_ENDS = {"restarted": RESTARTS, "rebooted": REBOOTS, "stopped": STOPS}
# Properties whose new value takes nothing away, whatever it is.
_HARMLESS = ("content", "checksum", "owner", "group", "command", "password", "enable")

EventRecord = Mapping[str, Any]


class Danger(NamedTuple):
    """One thing that a change removes, interrupts or opens.

    ``what`` is a resource as ``type#name``, or the name of something else that the resource ``by``
    removes or interrupts. ``how`` has details, such as both modes.
    """

    kind: str
    what: str
    by: str = ""
    how: str = ""


def dangers_of(event: EventRecord) -> list[Danger]:
    """The dangers of one resource in a preview, in order of their kinds."""
    dangers = dict.fromkeys(_of_changes(event))
    own = f"{event['type']}#{event['name']}"
    gone = any(one.what == own and one.kind in (PACKAGES, ACCOUNTS) for one in dangers)
    dangers.update(dict.fromkeys(_of_effects(event, gone)))
    return list(dangers)


def unknown_of(event: EventRecord) -> str:
    """Why the effects of a resource are unknown, as text; "" if they are known."""
    if event.get("prediction") == UNKNOWN:
        return str(event.get("prediction_reason") or "no reason given")
    for effect in event.get("effects", ()):
        if effect["kind"] == UNKNOWN:
            return str(effect["name"])
    return HIDDEN if any(map(_is_hidden, event["changes"])) else ""


def runs_command(event: EventRecord) -> bool:
    """Whether a command of the user would run, which may do anything."""
    return any(one["what"] == "command" and one["from"] in (None, MASKED) for one in _done(event))


def _done(event: EventRecord) -> list[EventRecord]:
    """The changes that would be made, possibly before a resource fails."""
    return list(event["changes"]) if event["status"] in ("changed", "failed") else []


def _of_changes(event: EventRecord) -> Iterator[Danger]:
    resource = f"{event['type']}#{event['name']}"
    for change in _done(event):
        what, before, after = change["what"], change["from"], change["to"]
        if what == "ensure":
            if after == "absent":
                yield Danger(_removed(event), resource, how=_recursively(event, before))
            elif isinstance(after, str) and after in _ENDS:
                yield Danger(_ENDS[after], resource)
        elif after == "absent" and what.startswith(_PACKAGE):
            yield Danger(PACKAGES, what.removeprefix(_PACKAGE), resource)
        elif after == "absent" and before in _THERE:
            yield Danger(REMOVES, what, resource)
        elif is_widened(before, after) and _may_be_mode(event["type"], what):
            itself = what == "mode"
            yield Danger(
                MODES,
                resource if itself else what,
                "" if itself else resource,
                f"{before} → {after}",
            )


def _may_be_mode(type_name: str, what: str) -> bool:
    """Whether a change may be the change of a mode, of the resource itself or of a path in it.

    Numbers in other properties and versions of packages look like modes.
    """
    if what == "mode" or what.startswith(("/", "mode of ")):
        return True
    return what not in _NO_MODES and _has_tree(type_name)


@cache
def _has_tree(type_name: str) -> bool:
    """Whether a type is a built-in one that manages a tree, whose changes name relative paths."""
    return type_name in registry.types() and _TREE in registry.schema_text(type_name)


def _removed(event: EventRecord) -> str:
    """The kind of the removed resource, from the effects of its removal."""
    kinds = {one["kind"] for one in event.get("effects", ()) if one["state"] == "absent"}
    if "package" in kinds:
        return PACKAGES
    return ACCOUNTS if kinds & {*_ACCOUNTS} else REMOVES


def _recursively(event: EventRecord, before: Any) -> str:
    deep = before == "directory" and "recursively" in event.get("noop_message", "")
    return "with its contents" if deep else ""


def _of_effects(event: EventRecord, gone: bool) -> Iterator[Danger]:
    """The dangers that no change names; ``gone``: the resource itself is a package or an account
    that is removed."""
    resource = f"{event['type']}#{event['name']}"
    changes = (one["what"] for one in event["changes"])
    packages = {what.removeprefix(_PACKAGE) for what in changes if what.startswith(_PACKAGE)}
    unit = _unit_of(event)
    for effect in event.get("effects", ()):
        kind, name, state = effect["kind"], effect["name"], effect["state"]
        if kind == "unit" and state in _ENDS:
            if name != unit:
                yield Danger(_ENDS[state], name, resource)
        elif state != "absent":
            continue
        elif gone and name.partition(":")[0] == event["name"].partition(":")[0]:
            gone = False  # that is the resource itself
        elif kind == "package":
            if name not in packages:
                yield Danger(PACKAGES, name, resource)
        elif kind in _ACCOUNTS:
            yield Danger(ACCOUNTS, f"{kind} {name}", resource)
        else:
            yield Danger(REMOVES, name, resource)


def _unit_of(event: EventRecord) -> str:
    """The unit that a change to the resource itself stops or restarts, "" for none."""
    states = [one["to"] for one in _done(event) if one["what"] == "ensure"]
    units: list[str] = [
        one["name"]
        for one in event.get("effects", ())
        if one["kind"] == "unit" and one["state"] in states
    ]
    name = event["name"]
    return next((one for one in units if one in (name, f"{name}.service")), (*units, "")[0])


def is_widened(before: Any, after: Any) -> bool:
    """Whether a mode gives others more access than the previous one, or sets setuid or setgid;
    False if it is not a mode.
    """
    if not (isinstance(before, str) and isinstance(after, str)):
        return False
    if not (_MODE.match(before) and _MODE.match(after)):
        return False
    old, new = int(before, 8), int(after, 8)
    unstuck = old & _STICKY and not new & _STICKY and new & _WRITE
    return bool(new & ~old & _OTHERS or unstuck)


def _is_hidden(change: EventRecord) -> bool:
    """Whether a mask hides a change that could be dangerous."""
    return change["to"] == MASKED and change["what"] not in _HARMLESS
