"""service: running, and started at boot (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from testinfra.host import Host

# Enabling and disabling do nothing to these, so they satisfy either.
_EITHER = ("static", "indirect", "generated", "transient")


def expectations(subject: Subject) -> list[Expectation]:
    """Runs or not; starts at boot or not where the resource says so."""
    name, enable = subject.name, subject.get("enable")
    running = subject.get("ensure", "running") == "running"
    found = [
        Expectation(
            "state",
            "running" if running else "stopped",
            lambda host: host.service(name).is_running,
            lambda runs: bool(runs) == running,
            lambda host, _: _state(host, name),
        )
    ]
    if enable is not None:
        found.append(
            Expectation(
                "at boot",
                "enabled" if enable else "disabled",
                lambda host: _boot(host, name, bool(enable)),
                lambda state: state is True,
            )
        )
    return found


def _boot(host: Host, name: str, wanted: bool) -> bool | str:
    """True where the unit is as wanted, else what it is."""
    try:
        if host.service(name).is_enabled == wanted:
            return True
    except (RuntimeError, AssertionError):
        pass  # a state that testinfra has no yes or no for
    state = _property(host, name, "UnitFileState")
    if state in _EITHER:
        return True
    return state or "neither"


def _state(host: Host, name: str) -> str:
    if _property(host, name, "LoadState") == "not-found":
        return "no such unit"
    return _property(host, name, "ActiveState") or "the other"


def _property(host: Host, name: str, key: str) -> str:
    """A property as systemd shows it, "" under another init system."""
    try:
        return str(host.service(name).systemd_properties.get(key, ""))
    except NotImplementedError:
        return ""
