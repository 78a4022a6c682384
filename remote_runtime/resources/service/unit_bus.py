"""Asks systemd of units over its own socket, as systemctl does for root (target).

To start systemctl takes several times as long as to ask.
"""

import os
from typing import Any, Dict, List, Sequence

from remote_runtime.lean import dbus

_TOGETHER = 50  # units
_UNITS = "/org/freedesktop/systemd1/unit/"
_INTERFACE = "org.freedesktop.systemd1."
_OF_KIND = ("Type", "RemainAfterExit", "Result")  # what not every unit has


def show(socket: str, names: Sequence[str], wanted: Sequence[str]) -> Dict[str, Dict[str, str]]:
    """What ``systemctl show`` says of units, by name; those that it should be asked of are missing.

    ``socket`` is systemd's private one, which is open to root.
    """
    found: Dict[str, Dict[str, str]] = {}
    if os.geteuid() != 0 or not os.path.exists(socket):
        return found
    for at in range(0, len(names), _TOGETHER):
        part = names[at : at + _TOGETHER]
        questions = [asked for name in part for asked in _questions(name)]
        try:
            answers = dbus.ask(socket, questions, wanted)
        except (OSError, ValueError):
            return found
        each = len(questions) // len(part)
        for number, name in enumerate(part):
            first, *others = answers[number * each : (number + 1) * each]
            if first is not None:
                told: Dict[str, Any] = dict(first)
                for other in others:
                    told.update(other or {})
                found[name] = {key: _printed(key, told[key]) for key in wanted if key in told}
    return found


def _questions(name: str) -> List[dbus.Question]:
    path = _UNITS + label(name)
    own = _INTERFACE + name.rpartition(".")[2].capitalize()
    return [(path, (_INTERFACE + "Unit",)), *((path, (own, key)) for key in _OF_KIND)]


def label(name: str) -> str:
    """A name as a part of an object's path."""
    found = ""
    for byte in name.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        plain = byte < 128 and (char.isalpha() or (char.isdigit() and bool(found)))
        found += char if plain else "_%02x" % byte
    return found or "_"


def _printed(key: str, value: Any) -> str:
    """A property as systemctl prints it."""
    if key == "LoadError":  # a name of D-Bus's, a text
        return '%s "%s"' % tuple(value) if value[0] else ""
    if isinstance(value, list):
        return " ".join(value)
    if isinstance(value, int):
        return "yes" if value else "no"
    return str(value)
