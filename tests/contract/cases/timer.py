"""Timers, on a host with a small systemd: it reads the files, and has a file for each state.

``loaded`` has the files as they were when it was told to read them again, or forgot them.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from orchestrator.verify.checks import timer as checks
from remote_runtime.resources.timer import resource
from remote_runtime.units import managed_unit_files, unit_files
from remote_runtime.units.systemd import Systemd
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True

SYSTEMCTL = r"""
verb=$1; wanted=
for last; do case "$last" in --property=*) wanted=,${last#--property=},;; esac; done
lines() { sed -n "s/^$1=//p" "etc/$unit" 2>/dev/null; }
boot() { [ -e "units/$unit-enabled" ] && echo enabled || echo disabled; }
stale() { [ -e "etc/$unit" ] && ! cmp -s "etc/$unit" "loaded/$unit"; }
reload() { rm -rf loaded; mkdir loaded; cp etc/* loaded 2>/dev/null; :; }
asks() { case "$wanted" in *,$1,*) ;; *) false ;; esac; }
tell() { ! asks "$1" || echo "$1=$2"; }
show() {
    [ -e "etc/$unit" ] || [ -e "units/$unit" ] || rm -f "loaded/$unit"
    tell Id "$unit"; tell LoadState loaded; tell UnitFileState "$(boot)"
    tell NeedDaemonReload "$(stale && echo yes || echo no)"
    tell ActiveState "$([ -e "units/$unit" ] && echo active || echo inactive)"
    ! asks User || tell User "$(lines User)"
    ! asks Environment || tell Environment "$(lines Environment)"
    ! asks ExecStart ||
        tell ExecStart "{ argv[]=$(lines ExecStart | tr -d '\"') ; ignore_errors=no }"
    ! asks TimersCalendar ||
        lines OnCalendar | sed 's/.*/TimersCalendar={ OnCalendar=& ; next_elapse=0 }/'
    ! asks TimersMonotonic || sed -n \
        's/^\(On[A-Z][A-Za-z]*\)Sec=\(.*\)/TimersMonotonic={ \1USec=\2 ; next_elapse=0 }/p' \
        "etc/$unit" 2>/dev/null
    echo
}
case "$verb" in
    show) while [ "$1" != -- ]; do shift; done; shift; for unit; do show; done ;;
    is-enabled) unit=$last; boot ;;
    is-active) [ -e "units/$last" ] && echo active || echo inactive ;;
    start) touch "units/$last" ;;
    daemon-reload) reload ;;
    enable) reload; touch "units/$last-enabled" ;;
    stop) rm "units/$last" ;;
    disable) reload; rm "units/$last-enabled" ;;
esac
"""


def _scenario(world: World, properties: Any, breaks: Any) -> Scenario:
    """A timer on this host."""
    world.program("systemctl", SYSTEMCTL)
    world.program("systemd-analyze", 'echo "Normalized form: $3"')
    for path in ("units", "etc", "loaded"):
        Path(world.path(path)).mkdir(exist_ok=True)
    for file in Path(world.path("etc")).iterdir():
        shutil.copy(file, world.path("loaded"))
    for module in (managed_unit_files, checks):
        world.later.enter_context(mock.patch.object(module, "DIRECTORY", world.path("etc")))
    places = unit_files.Places(searched=(world.path("etc"),), configured=world.path("etc"))
    world.later.enter_context(mock.patch.object(unit_files, "SYSTEM", places))
    world.later.enter_context(mock.patch.object(resource, "STAMPS", world.path("units")))

    def ready(provider: Any) -> None:
        systemd = provider.context.one(Systemd)
        systemd.booted, systemd.directories = world.path("units"), (world.path("etc"),)

    return Scenario("job", properties, breaks, ready=ready)


def _changed(world: World, name: str, old: str, new: str) -> Callable[[], object]:
    def change() -> None:
        path = Path(world.path("etc", name))
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return change


def _state(world: World, name: str) -> Path:
    return Path(world.path("units", name))


def present(world: World) -> Scenario:
    """A timer that is missing."""
    properties = {
        "command": f"echo {SECRET}",
        "schedule": ["daily", "Mon 04:00"],
        "on_boot": "15min",
        "user": "nobody",
        "environment": ["A=b c"],
        "persistent": True,
        "randomized_delay": 60,
    }
    breaks = {
        "state": lambda: _state(world, "job.timer").unlink(),
        "at boot": lambda: _state(world, "job.timer-enabled").unlink(),
        "job": _changed(world, "job.service", "echo", "printf"),
        "user": _changed(world, "job.service", "User=nobody", "User=daemon"),
        "schedule": _changed(world, "job.timer", "Mon", "Tue"),
        "times": _changed(world, "job.timer", "15min", "15s"),
        "environment": _changed(world, "job.service", "A=b c", "A=b d"),
    }
    return _scenario(world, properties, breaks)


def another(world: World) -> Scenario:
    """A timer with another schedule, that neither runs nor starts at boot."""
    world.write("etc/job.timer", f"# {SECRET}\n[Timer]\nOnCalendar=daily\n")
    world.write("etc/job.service", "[Service]\nExecStart=/bin/true\n")
    properties = {"command": f"echo {SECRET}", "on_active": 0, "on_unit_inactive": "1h 30min"}
    breaks = {
        "state": lambda: _state(world, "job.timer").unlink(),
        "at boot": lambda: _state(world, "job.timer-enabled").unlink(),
        "job": _changed(world, "job.service", "echo", "printf"),
        "user": _changed(world, "job.service", "Type=oneshot", "User=nobody"),
        "schedule": _changed(world, "job.timer", "[Timer]", "[Timer]\nOnCalendar=weekly"),
        "times": _changed(world, "job.timer", "1h 30min", "1h"),
    }
    return _scenario(world, properties, breaks)


def absent(world: World) -> Scenario:
    """A timer that has to go, with its service."""
    world.write("etc/job.timer", f"# {SECRET}\n[Timer]\nOnCalendar=daily\n")
    world.write("etc/job.service", "[Service]\nExecStart=/bin/true\n")
    for name in ("job.timer", "job.timer-enabled", "stamp-job.timer"):
        world.write(f"units/{name}", "")
    breaks = {
        "timer": lambda: world.write("etc/job.timer", "[Timer]\n"),
        "state": lambda: world.write("units/job.timer", ""),
    }
    return _scenario(world, {"ensure": "absent"}, breaks)


SCENARIOS = (present, another, absent)
