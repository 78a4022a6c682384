"""The planned action of a resource as text, derived from its change records (controller)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from remote_runtime.reporting.masking import MASKED

CHANGE = "change"  # the text only lists the properties
_STATES = {
    "absent": "remove",
    "directory": "create directory",
    "mounted": "mount",
    "running": "start",
    "stopped": "stop",
    "restarted": "restart",
    "reloaded": "reload",
    "rebooted": "reboot",
}
_SWITCHED = {"true": "enable", "false": "disable"}
_MADE = {"package": "install"}  # a version that is not known beforehand
_HIDDEN = ("exec", MASKED)  # a command that is not to be seen; there was none before
_OPERATIONS = {
    ("path", "file"): "write file",
    ("path", "attributes"): "set attributes of",
    ("path", "directory"): "write directory",
    ("path", "symlink"): "write symlink",
    ("path", "something"): "write",
    ("path", "absent"): "remove",
    ("mount", "present"): "mount",
    ("mount", "absent"): "unmount",
    ("unit", "started"): "start",
    ("unit", "stopped"): "stop",
    ("unit", "restarted"): "restart",
    ("unit", "reloaded"): "reload",
    ("unit", "enabled"): "enable",
    ("unit", "disabled"): "disable",
    ("unit", "masked"): "mask",
    ("unit", "unmasked"): "unmask",
}
# Verbs without a noun.
_BARE = {CHANGE, "create", "install", "extract", *_STATES.values(), *_SWITCHED.values()}
_OF_ITSELF = ("ensure", "content", "mode", "checksum")
_HASH = "sha256:"
_MODE = "[0-7]{4}"
_FIRED = " (refresh)"
_PACKAGE = "package "
UNCERTAIN = ("assumed", "unknown")  # predictions that a preview marks


class ChangeLine(NamedTuple):
    """One property that differs; ``before`` and ``after`` as text."""

    what: str
    before: str
    after: str
    diff: str


def is_masked(change: ChangeLine) -> bool:
    """Whether the report shows only that it differs."""
    return change.before == change.after == MASKED


class Intent(NamedTuple):
    """The text for changes, and the changes that the text does not cover.

    ``words`` are equal for hosts that differ only in values, which follow in ``values``.
    """

    words: str
    values: str
    rest: tuple[ChangeLine, ...]


def intent(type_name: str, changes: Sequence[ChangeLine], fired: bool) -> Intent:
    """The action of a resource: ``create``, ``install 1.2``, ``change``.

    ``fired``: it was triggered by a subscription.
    """
    if changes and all(map(_is_of_file, changes)):
        return Intent(_counted(changes), "", tuple(changes))
    words: list[str] = []
    values: list[str] = []
    packages: list[str] = []
    rest = []
    for change in changes:
        word, value = _told(type_name, change)
        if change.what.startswith(_PACKAGE) and change.after == "absent":
            packages.append(change.what.removeprefix(_PACKAGE))
        elif word:
            words.append(word)
            values.append(value)
        elif change.diff or change.before or not words:
            rest.append(change)
    verbs = _joined(words) or CHANGE
    if packages:
        removed = f"remove package{'s' * (len(packages) > 1)} {_joined(packages)}"
        verbs = f"{verbs}, also {removed}" if words else removed
    told = verbs + (_FIRED if fired else "")
    return Intent(told, " ".join(filter(None, values)), tuple(rest))


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _told(type_name: str, change: ChangeLine) -> tuple[str, str]:
    """The verb of a change and the value after it; "" for a property that only differs."""
    if change.what == "enable":
        return _SWITCHED.get(change.after, ""), ""
    if change.what == "extracted":
        return "extract", ""
    if change.what == "command" and (not change.before or (type_name, change.before) == _HIDDEN):
        return "run", change.after
    if change.what != "ensure":
        return (f"remove {change.what}", "") if change.after == "absent" else ("", "")
    if change.after in _STATES:
        return _STATES[change.after], ""
    if change.before in ("", "absent"):
        if change.after == "present":
            return _MADE.get(type_name, "create"), ""
        return "install", change.after  # a version
    return "", ""


def with_object(words: str) -> str:
    """The words of an intent for the end of a sentence: ``create it``, ``create 2 files``."""
    last = words.rpartition(" ")[2]
    return f"{words} it" if last in _BARE else words


def operation_words(operation: Mapping[str, str]) -> str:
    """An operation of a preview as text: ``restart nginx.service``, ``write file /x``."""
    kind, name, state = (operation[key] for key in ("kind", "name", "state"))
    if kind == "package":
        return (
            f"remove package {name}"
            if state == "absent"
            else " ".join(["install", name, *([state] if state != "present" else [])])
        )
    if kind in ("user", "group"):
        return f"{'remove' if state == 'absent' else 'create or change'} {kind} {name}"
    return f"{_OPERATIONS.get((kind, state), f'{state} {kind}')} {name}"


def _is_of_file(change: ChangeLine) -> bool:
    """Whether it is one of several files, which ``what`` then names."""
    what, before, after, _ = change
    kinds = (before, after) in (("absent", "directory"), ("present", "absent"))
    modes = re.fullmatch(_MODE, before) and re.fullmatch(_MODE, after)
    return what not in _OF_ITSELF and bool(kinds or modes or after.startswith(_HASH))


def _counted(changes: Sequence[ChangeLine]) -> str:
    numbers = Counter(map(_of_file, changes))
    words = [
        f"{verb} {numbers[verb, noun]} {noun if numbers[verb, noun] == 1 else nouns}"
        for noun, nouns in (("directory", "directories"), ("file", "files"))
        for verb in ("create", "change", "remove")
        if numbers[verb, noun]
    ]
    return ", ".join(words) or CHANGE


def _of_file(change: ChangeLine) -> tuple[str, str]:
    if change.after in ("absent", "directory"):
        return ("remove", "file") if change.after == "absent" else ("create", "directory")
    return ("change" if change.before else "create"), "file"
