"""Asks systemd of units over its own socket, as systemctl does for root (target).

To start systemctl takes several times as long as to ask.
"""

import os
from typing import Any, Dict, List, Optional, Sequence

from remote_runtime.lean import dbus
from remote_runtime.resources.service.unit import RUNNING

_TOGETHER = 50  # units
_UNITS = "/org/freedesktop/systemd1/unit/"
_INTERFACE = "org.freedesktop.systemd1."
_PROCESS = "MainPID"
_OF_STOPPED = ("Type", "RemainAfterExit", "Result")  # what not every unit has


def show(socket: str, names: Sequence[str], wanted: Sequence[str]) -> Dict[str, Dict[str, str]]:
    """What ``systemctl show`` says of units, by name; those that it should be asked of are missing.

    ``socket`` is systemd's private one, which is open to root. How a unit starts and ends is asked
    only of those that do not run: of others it decides nothing.
    """
    found: Dict[str, Dict[str, str]] = {}
    if os.geteuid() != 0 or not os.path.exists(socket):
        return found
    try:
        service = dbus.Service(socket)
    except (OSError, ValueError):
        return found
    try:
        for at in range(0, len(names), _TOGETHER):
            told = _told(service, names[at : at + _TOGETHER], wanted)
            for name, shown in told.items():
                found[name] = {key: _printed(key, shown[key]) for key in wanted if key in shown}
    except (OSError, ValueError):
        pass  # systemctl is asked of the others
    finally:
        service.close()
    return found


def main_process(socket: str, name: str) -> Optional[int]:
    """The number of a service's process, 0 where there is none; None if systemd does not say."""
    if os.geteuid() != 0 or not os.path.exists(socket):
        return None
    try:
        service = dbus.Service(socket)
        try:
            question = (_UNITS + label(name), (_INTERFACE + "Service", _PROCESS))
            (answer,) = service.ask([question], (_PROCESS,))
        finally:
            service.close()
    except (OSError, ValueError):
        return None
    number = (answer or {}).get(_PROCESS)
    return number if isinstance(number, int) else None


def _told(
    service: dbus.Service, names: Sequence[str], wanted: Sequence[str]
) -> Dict[str, Dict[str, Any]]:
    """The properties of units, without those that are refused."""
    answers = service.ask(
        [(_UNITS + label(name), (_INTERFACE + "Unit",)) for name in names], wanted
    )
    told = {name: dict(first) for name, first in zip(names, answers) if first is not None}
    stopped = [name for name in told if told[name].get("ActiveState") not in RUNNING]
    asked = [(name, question) for name in stopped for question in _of_stopped(name)]
    if asked:
        for (name, _), more in zip(asked, service.ask([question for _, question in asked], wanted)):
            told[name].update(more or {})
    return told


def _of_stopped(name: str) -> List[dbus.Question]:
    own = _INTERFACE + name.rpartition(".")[2].capitalize()
    return [(_UNITS + label(name), (own, key)) for key in _OF_STOPPED]


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
