"""Kernel modules, on a host whose kernel and settings are directories."""

import os
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from remote_runtime.system.kernel import modules, parameters
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True

NAME = "br-netfilter"
LINE = "br_netfilter 32768 0 - Live 0x0\n"
MODPROBE = f"""\
[ "$1" != -r ] || exec sed -i /br_netfilter/d proc/modules
echo '{LINE.strip()}' >> proc/modules
"""


def kernel(world: World, loaded: str = "") -> tuple[Path, Path, Path]:
    """The files of loaded modules, of those for the next start, and of options."""
    world.later.enter_context(mock.patch.object(parameters, "ETC", world.path("etc")))
    for name, directory in (("PROC", "proc"), ("LIBRARY", "lib/modules")):
        world.later.enter_context(mock.patch.object(modules, name, world.path(directory)))
    world.later.enter_context(mock.patch("os.geteuid", return_value=0))
    program = "remote_runtime.host.preview.kernel.Kernel._require_program"
    world.later.enter_context(mock.patch(program))  # this machine may have no modprobe
    now = Path(world.write("proc/modules", f"other 1 2 x,y, Live 0x0\n{loaded}"))
    release = os.uname().release
    world.write(f"lib/modules/{release}/modules.dep", "kernel/net/br_netfilter.ko.xz:\n")
    world.program("modprobe", MODPROBE)
    world.program("lsmod", 'echo "Module Size Used by"; cat proc/modules\n')
    world.program("modinfo", "exit 1\n")
    world.program("cat", 'case $1 in /etc/*) exec /bin/cat ".$1" ;; esac; exec /bin/cat "$@"\n')
    world.write("etc/modprobe.d/others.conf", "blacklist x\n")
    settings = Path(world.path("etc/modprobe.d", f"ccm-{NAME}.conf"))
    return now, Path(world.path("etc/modules-load.d", f"ccm-{NAME}.conf")), settings


def present(world: World) -> Scenario:
    """A module that is not loaded, with options."""
    now, load, settings = kernel(world)
    breaks: dict[str, Callable[[], object]] = {
        "loaded": lambda: now.write_text("other 1 2 x,y, Live 0x0\n"),
        "boot": load.unlink,
        "options": settings.unlink,
        "options:value": lambda: settings.write_text(f"options {NAME} a=1\n"),
    }
    return Scenario(NAME, {"options": f"label={SECRET}"}, breaks)


def at_boot_only(world: World) -> Scenario:
    """A module for the next start."""
    _, load, settings = kernel(world)
    settings.write_text(f"blacklist {NAME}\n")
    again = f"blacklist {NAME}\n"
    breaks: dict[str, Callable[[], object]] = {
        "boot": load.unlink,
        "options": lambda: settings.write_text(again),
    }
    return Scenario(NAME, {"live": False}, breaks)


def absent(world: World) -> Scenario:
    """A module that has to go, and is not loaded for a device either."""
    now, load, settings = kernel(world, LINE)
    load.parent.mkdir()
    load.write_text(f"{NAME}\n")
    breaks: dict[str, Callable[[], object]] = {
        "loaded": lambda: now.write_text(LINE),
        "boot": lambda: load.write_text(f"# Managed by ccm.\n{NAME}\n"),
        "options": settings.unlink,
    }
    return Scenario(NAME, {"ensure": "absent", "blacklist": True}, breaks)


SCENARIOS = (present, at_boot_only, absent)
