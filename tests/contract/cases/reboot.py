"""Reboots, of a host that a file asks."""

from pathlib import Path
from typing import Any
from unittest import mock

from remote_runtime.host.machine.reboots import Reboots
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

STATELESS = True
ON_A_HOST = True


def asked_for(world: World) -> Scenario:
    """A file asks for it until the host is rebooted."""
    required = Path(world.write("required", ""))

    def reboot(self: Any, timeout: str) -> None:
        required.unlink()

    world.later.enter_context(mock.patch.object(Reboots, "reboot", reboot))
    return Scenario(
        "kernel",
        {"onlyif": f"sh -c 'test -e {required} # {SECRET}'", "timeout": "1m"},
        {"condition": required.touch},
    )


SCENARIOS = (asked_for,)
