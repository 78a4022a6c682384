"""Decides when the announcements of a resource may be published (controller)."""

from collections.abc import Mapping
from typing import Any


def is_stable(event: Mapping[str, Any]) -> bool:
    """Whether a resource may be announced after this event.

    It was managed, did not fail and all of its checks are OK. Where only the checks were run, they
    are all that is known, so there must be one.
    """
    if event["noop"] or event["failed"] or event["skipped"]:
        return False
    checks = event.get("health_check") or []
    if event.get("health_check_only") and not checks:
        return False
    return all(check["status"] == "OK" for check in checks)
