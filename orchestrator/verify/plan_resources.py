"""Finds a resource of a plan for the user's own tests (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remote_runtime.errors import UsageError
from remote_runtime.plan_item import Item, each_of
from remote_runtime.text.suggestions import nearest

if TYPE_CHECKING:
    from orchestrator.planning.host_plan import HostPlan


def find_resource(plan: HostPlan, identity: str, host: str) -> Item:
    """The resource named ``type#name`` or ``type#alias``; UsageError with the most similar name.

    Content is included as the text that the file should have, not as its hash.
    """
    known: dict[str, Item] = {}
    for item in each_of(plan.items):
        known.setdefault(item.id, item)
        if item.alias:
            known.setdefault(f"{item.type}#{item.alias}", item)
    if identity not in known:
        guess = nearest(identity, known)
        raise UsageError(
            f"the plan of {host} has no resource {identity!r}",
            hint=f"did you mean {guess}?" if guess else "write type#name, as in require",
        )
    item = known[identity]
    content = item.properties.get("content")
    if isinstance(content, dict):
        text = plan.blob(content["$blob"]).text
        item = item._replace(properties={**item.properties, "content": text})
    return item
