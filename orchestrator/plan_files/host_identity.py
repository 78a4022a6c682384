"""The identity of the host that a plan was created for (controller)."""

import hashlib
from typing import Any

from orchestrator.fleet.host.host_facts import HostFacts
from remote_runtime.errors import PlanError

# The compared facts, the most telling first, with the message for a difference.
DIFFERS = {
    "host_id": "it is not the machine that the plan was created for",
    "host_key": "its host key has changed since the plan was created",
    "address": "its address in the inventory has changed",
    "port": "its port in the inventory has changed",
    "connection": "its connection method has changed",
    "user": "the resources would be managed as a different user",
}


def identity_of(host: Any, gathered: HostFacts) -> dict[str, Any]:
    """The identity to which a plan binds a host (an inventory's ``Host``); PlanError if it is
    unknown.
    """
    info = gathered.facts.get("host", {}).get("info", {})
    number = info.get("hostId") if isinstance(info, dict) else None
    if not number or not isinstance(number, str):
        raise PlanError(
            "the host has no machine ID, so no plan can be bound to it",
            kind="plan.refused.unidentified",
            hint="create /etc/machine-id with `systemd-machine-id-setup`",
        )
    return {
        "address": host.address,
        "port": host.port,
        "connection": host.connection,
        "user": gathered.hello["user"],
        "host_id": hashlib.sha256(f"ccm plan {number}".encode()).hexdigest(),
        "host_key": gathered.host_key,
    }
