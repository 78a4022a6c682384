"""Reboots, of a host that a file asks."""

from pathlib import Path
from typing import Any

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

STATELESS = True
ON_A_HOST = True


def asked_for(world: World) -> Scenario:
    """A file asks for it until the host is rebooted."""
    required = Path(world.write("required", ""))

    def ready(provider: Any) -> None:
        provider.reboot = lambda seconds, span: required.unlink()

    return Scenario(
        "kernel",
        {"onlyif": f"sh -c 'test -e {required} # {SECRET}'", "timeout": "1m"},
        {"condition": required.touch},
        ready=ready,
    )


SCENARIOS = (asked_for,)
