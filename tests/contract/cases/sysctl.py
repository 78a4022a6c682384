"""Kernel parameters, on a host whose kernel and settings are directories."""

from collections.abc import Callable
from pathlib import Path
from unittest import mock

from remote_runtime.system.kernel import parameters
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True

NAME = "net.ipv4.tcp_rmem"
SYSCTL = 'cat "proc/sys/$2"\n'
ANALYZE = "cat etc/sysctl.d/*.conf 2>/dev/null; true\n"


def kernel(world: World, value: str) -> tuple[Path, Path]:
    """The file of the parameter, and that of the settings."""
    for name, directory in (("PROC", "proc/sys"), ("ETC", "etc")):
        patch = mock.patch.object(parameters, name, world.path(directory))
        world.later.enter_context(patch)
    world.later.enter_context(mock.patch.object(parameters, "BESIDE", ()))
    world.program("sysctl", SYSCTL)
    world.program("systemd-analyze", ANALYZE)
    now = Path(world.write("proc/sys/net/ipv4/tcp_rmem", value + "\n"))
    world.write("etc/sysctl.d/10-others.conf", f"{NAME} = 1 2 3\n")
    return now, Path(world.path("etc/sysctl.d/99-ccm.conf"))


def present(world: World) -> Scenario:
    """A parameter with other numbers, which no file of ccm has."""
    now, settings = kernel(world, "4096\t131072\t6291456")
    breaks: dict[str, Callable[[], object]] = {
        "value": lambda: now.write_text("4096 87380 6291456\n"),
        "boot": settings.unlink,
        "boot:value": lambda: settings.write_text(f"{NAME}=1\n"),
    }
    return Scenario(NAME, {"value": "4096 131072 4194304", "file": str(settings)}, breaks)


def text(world: World) -> Scenario:
    """A parameter that is a text, in a file with other lines."""
    now, settings = kernel(world, "none")
    settings.write_text(f"# kept\n{NAME} = old\nnet.ipv4.ip_forward = 1\n")
    breaks: dict[str, Callable[[], object]] = {
        "value": lambda: now.write_text("none\n"),
        "boot": settings.unlink,
    }
    return Scenario(NAME, {"value": SECRET, "file": str(settings)}, breaks)


def ports(world: World) -> Scenario:
    """A list of numbers, which the kernel shows as ranges."""
    now, settings = kernel(world, "22")
    program = 'sed s/80,82,81,443/80-82,443/ "proc/sys/$2"\n'
    world.program("sysctl", program)
    breaks: dict[str, Callable[[], object]] = {
        "value": lambda: now.write_text("80-81,443\n"),
        "boot": lambda: settings.write_text(f"{NAME} = 80,443 # {SECRET}\n"),
    }
    return Scenario(NAME, {"value": "80,82,81,443", "file": str(settings)}, breaks)


def at_boot_only(world: World) -> Scenario:
    """A parameter that the kernel does not have yet, for the next start."""
    _, settings = kernel(world, "1")
    properties = {"value": SECRET, "live": False, "ignore_unknown": True, "file": str(settings)}
    return Scenario(NAME, properties, {"boot": settings.unlink})


def absent(world: World) -> Scenario:
    """A line that has to go."""
    _, settings = kernel(world, "1")
    settings.write_text(f"net/ipv4/tcp_rmem = {SECRET}\n")
    again = f"a.b = 1\n{NAME} = 4\n"
    properties = {"ensure": "absent", "file": str(settings)}
    return Scenario(NAME, properties, {"boot": lambda: settings.write_text(again)})


SCENARIOS = (present, text, ports, at_boot_only, absent)
