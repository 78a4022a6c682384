"""Decides when the announcements of a resource may be published (controller)."""

from collections.abc import Mapping
from typing import Any


def is_stable(event: Mapping[str, Any]) -> bool:
    """Whether a resource may be announced after this event.

    It must have been managed without failure, and all of its checks must be OK. If only checks were
    run, there must be at least one, because nothing else is known.
    """
    if event["noop"] or event["failed"] or event["skipped"]:
        return False
    checks = event.get("health_check") or []
    if event.get("health_check_only") and not checks:
        return False
    return all(check["status"] == "OK" for check in checks)
