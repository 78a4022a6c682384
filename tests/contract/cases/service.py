"""Services, on a host with a small systemd: a file each for what is active and what is enabled."""

from pathlib import Path
from typing import Any

from tests.contract.scenario import Scenario
from tests.contract.world import World

ON_A_HOST = True

SYSTEMCTL = """\
for last; do :; done
unit="${last%.service}"
state() { [ -e "units/$1/$2" ] && echo "$3" || echo "$4"; }
case "$1" in
    show) echo "LoadState=loaded"
        echo "ActiveState=$(state "$unit" active active inactive)"
        echo "SubState=$(state "$unit" active running dead)"
        echo "UnitFileState=$(state "$unit" enabled enabled disabled)"
        echo "NeedDaemonReload=no"
        echo "Type=forking"
        echo "Result=success" ;;
    is-active) [ -e "units/$unit/active" ] || exit 3 ;;
    is-enabled) state "$unit" enabled enabled disabled; [ -e "units/$unit/enabled" ] ;;
    start | restart) touch "units/$unit/active" ;;
    stop) rm "units/$unit/active" ;;
    enable) touch "units/$unit/enabled" ;;
    disable) rm "units/$unit/enabled" ;;
esac
"""


def host(world: World) -> Path:
    """The folder of the unit app."""
    world.program("systemctl", SYSTEMCTL)
    unit = Path(world.path("units", "app"))
    unit.mkdir(parents=True)
    return unit


def scenario(world: World, unit: Path, running: bool, enable: bool) -> Scenario:
    """The unit the other way round is to be like this."""

    def ready(provider: Any) -> None:
        provider.booted = world.path("units")

    def flip(name: str, on: bool) -> None:
        (unit / name).touch() if on else (unit / name).unlink()

    if not running:
        flip("active", True)
    if not enable:
        flip("enabled", True)
    return Scenario(
        "app",
        {"ensure": "running" if running else "stopped", "enable": enable},
        {
            "state": lambda: flip("active", not running),
            "at boot": lambda: flip("enabled", not enable),
        },
        ready=ready,
    )


def running(world: World) -> Scenario:
    """A service that neither runs nor starts at boot."""
    return scenario(world, host(world), True, True)


def stopped(world: World) -> Scenario:
    """A service that does both."""
    return scenario(world, host(world), False, False)


SCENARIOS = (running, stopped)
