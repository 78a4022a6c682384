"""service: running, and started at boot (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from testinfra.host import Host

_RUNNING = ("active", "reloading", "refreshing")
_STOPPED = ("inactive", "failed", "maintenance")  # neither on its way up nor on its way down
_BY_LINKS = ("enabled", "disabled")
# Enabling and disabling do nothing to these, so they satisfy either.
_EITHER = ("static", "indirect", "generated", "transient")
_ENABLED = ("enabled", "alias", *_EITHER)
_DISABLED = ("disabled", "linked", "linked-runtime", "masked", "masked-runtime", *_EITHER)


def expectations(subject: Subject) -> list[Expectation]:
    """Runs or not; starts at boot or not where the resource says so."""
    name, enable = subject.name, subject.get("enable")
    running = subject.get("ensure", "running") == "running"
    found = [
        Expectation(
            "state",
            "running" if running else "stopped",
            lambda host: _state(host, name),
            (_RUNNING if running else _STOPPED).__contains__,
        )
    ]
    if enable is not None:
        found.append(
            Expectation(
                "at boot",
                "enabled" if enable else "disabled",
                lambda host: _at_boot(host, name),
                (_ENABLED if enable else _DISABLED).__contains__,
            )
        )
    return found


def _state(host: Host, name: str) -> str:
    state = _property(host, name, "ActiveState")
    unknown = _property(host, name, "LoadState") == "not-found"
    return "no such unit" if unknown and state in _STOPPED else state or "no state"


def _at_boot(host: Host, name: str) -> str:
    """The state of the unit's file; of one that is loaded systemd shows what it was when it was."""
    shown = _property(host, name, "UnitFileState") or "neither"
    if shown not in _BY_LINKS:
        return shown
    return str(host.run("systemctl is-enabled -- %s", name).stdout).strip() or shown


def _property(host: Host, name: str, key: str) -> str:
    """A property as systemd shows it; RuntimeError under another init system."""
    try:
        if name.startswith("-"):  # it would be taken for an option
            return str(host.check_output("systemctl show --value --property=%s -- %s", key, name))
        return str(host.service(name).systemd_properties.get(key, ""))
    except NotImplementedError:
        raise RuntimeError("this host was not booted with systemd") from None
