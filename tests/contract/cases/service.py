"""Services, on a host with a small systemd: a file for each state that a unit is in."""

import os
import pwd
from pathlib import Path
from typing import Any
from unittest import mock

from orchestrator.verify.checks import service as checks
from remote_runtime.units import managed_unit_files, user_systemd
from remote_runtime.units.systemd import Systemd
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True

SYSTEMCTL = """\
for last; do :; done
unit="${last%.service}"
active() {
    for state in activating active; do
        [ ! -e "units/$unit/$state" ] || { echo $state; return; }
    done
    echo inactive
}
boot() {
    [ ! -e "units/$unit/masked" ] || { echo masked; return; }
    for state in enabled enabled-runtime; do
        [ ! -e "units/$unit/$state" ] || { echo $state; return; }
    done
    echo disabled
}
case "$1 $3" in
    show*) echo "LoadState=loaded"
        echo "ActiveState=$(active)"
        echo "UnitFileState=$(boot)"
        echo "NeedDaemonReload=no"
        echo "CanReload=yes"
        echo "Type=forking"
        echo "Result=success" ;;
    start* | restart*) rm -f "units/$unit/activating"; touch "units/$unit/active" ;;
    reload*) test -e "units/$unit/active" ;;
    stop*) rm -f "units/$unit/active" "units/$unit/activating" ;;
    enable*) touch "units/$unit/enabled" ;;
    mask*) touch "units/$unit/masked" ;;
    unmask*) rm -f "units/$unit/masked" ;;
    is-enabled*) boot ;;
    is-active*) active ;;
    "disable --runtime") rm "units/$unit/enabled-runtime" ;;
    disable*) rm -f "units/$unit/enabled" ;;
esac
"""


def host(world: World) -> Path:
    """The directory of the unit app."""
    world.program("systemctl", SYSTEMCTL)
    unit = Path(world.path("units", "app"))
    unit.mkdir(parents=True)
    return unit


def scenario(world: World, unit: Path, running: bool, enable: bool) -> Scenario:
    """The unit the other way round is to be like this."""

    def ready(provider: Any) -> None:
        provider.context.one(Systemd).booted = world.path("units")

    def flip(name: str, on: bool) -> None:
        (unit / name).touch() if on else (unit / name).unlink()

    def turn(name: str, other: str) -> None:
        (unit / other).unlink(missing_ok=True)
        (unit / name).touch()

    if not running:
        flip("active", True)
    if not enable:
        flip("enabled", True)
    return Scenario(
        "app",
        {"ensure": "running" if running else "stopped", "enable": enable, "reload": running},
        {
            "state": lambda: flip("active", not running),
            "state: started over and over": lambda: turn("activating", "active"),
            "at boot": lambda: flip("enabled", not enable),
            "at boot: enabled until then": lambda: turn("enabled-runtime", "enabled"),
        },
        ready=ready,
    )


def running(world: World) -> Scenario:
    """A service that neither runs nor starts at boot."""
    return scenario(world, host(world), True, True)


def stopped(world: World) -> Scenario:
    """A service that does both."""
    return scenario(world, host(world), False, False)


def masked(world: World) -> Scenario:
    """A service that runs and that nothing is to start."""
    unit = host(world)
    (unit / "active").touch()
    return mask_scenario(world, unit, True)


def unmasked(world: World) -> Scenario:
    """A service that is masked and has to run."""
    unit = host(world)
    (unit / "masked").touch()
    return mask_scenario(world, unit, False)


def mask_scenario(world: World, unit: Path, masked: bool) -> Scenario:
    """The unit is to be masked, or not to be."""

    def ready(provider: Any) -> None:
        provider.context.one(Systemd).booted = world.path("units")

    def flip(name: str, on: bool) -> None:
        (unit / name).touch() if on else (unit / name).unlink()

    return Scenario(
        "app",
        {"ensure": "stopped" if masked else "running", "masked": masked},
        {
            "state": lambda: flip("active", masked),
            "mask": lambda: flip("masked", not masked),
        },
        ready=ready,
    )


def texts(world: World) -> Scenario:
    """A service that runs with another unit file, and without settings."""
    return text_scenario(world, {"Service": {"Nice": 5, "Environment": ["A=1", SECRET]}})


def no_settings(world: World) -> Scenario:
    """A service with settings that have to go."""
    world.write("etc/app.service.d/ccm.conf", "[Service]\nNice=5\n")
    return text_scenario(world, {})


def text_scenario(world: World, settings: Any) -> Scenario:
    """The unit gets its text, and these settings."""
    unit = host(world)
    (unit / "active").touch()
    path, drop_in = world.write("etc/app.service", "[Service]\n"), "etc/app.service.d/ccm.conf"
    for module in (managed_unit_files, checks):
        world.later.enter_context(mock.patch.object(module, "DIRECTORY", world.path("etc")))

    def ready(provider: Any) -> None:
        provider.context.one(Systemd).booted = world.path("units")

    return Scenario(
        "app",
        {"unit": f"[Service]\nExecStart={SECRET}\n", "settings": settings},
        {
            "state": lambda: (unit / "active").unlink(),
            "unit file": lambda: Path(path).write_text("[Service]\n"),
            "settings" if settings else "path": lambda: world.write(drop_in, "[Service]\nNice=4\n"),
        },
        ready=ready,
    )


def of_a_user(world: World) -> Scenario:
    """A unit of the user who runs this, and who wants it to run."""
    uid = os.geteuid()
    world.write(f"users/{uid}/systemd/private", "")
    world.later.enter_context(mock.patch.object(user_systemd, "RUNTIME", world.path("users")))
    made = scenario(world, host(world), True, True)
    return made._replace(properties={**made.properties, "user": pwd.getpwuid(uid).pw_name})


SCENARIOS = (running, stopped, masked, unmasked, texts, no_settings, of_a_user)
