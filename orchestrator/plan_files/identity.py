"""Which host a plan was made for (controller)."""

from __future__ import annotations

import hashlib
from typing import Any

from orchestrator.fleet.host.host_facts import Gathered
from remote_runtime.errors import PlanError

# What is compared, in the order of what it tells, and what is said where it differs.
DIFFERS = {
    "host_id": "it is another machine than the one that the plan was made for",
    "host_key": "it has another host key than when the plan was made",
    "address": "its address is another one in the inventory now",
    "port": "its port is another one in the inventory now",
    "connection": "it is reached in another way now",
    "user": "the resources would be managed as another user",
}


def identity_of(host: Any, gathered: Gathered) -> dict[str, Any]:
    """What a plan holds a host (an inventory's ``Host``) to; PlanError where that is not known."""
    info = gathered.facts.get("host", {}).get("info", {})
    number = info.get("hostId") if isinstance(info, dict) else None
    if not number or not isinstance(number, str):
        raise PlanError(
            "the host does not say which machine it is, so no plan can be held to it",
            kind="plan.refused.unidentified",
            hint="it needs /etc/machine-id; `systemd-machine-id-setup` makes it",
        )
    return {
        "address": host.address,
        "port": host.port,
        "connection": host.connection,
        "user": gathered.hello["user"],
        "host_id": hashlib.sha256(f"ccm plan {number}".encode()).hexdigest(),
        "host_key": gathered.host_key,
    }
