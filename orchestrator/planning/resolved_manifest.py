"""Writes a host's plan as an equivalent manifest without templates (controller)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.site import Site
from orchestrator.planning.compiled_resource import CompiledResource
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.plan_item import Item
from remote_runtime.reporting.masking import MASKED, Mask


def resolved_manifest(site: Site, plan: HostPlan) -> dict[str, Any]:
    """The manifest of one host, with final names and values, masked secrets, and resources in
    order.

    Values that are known only on the target are written as in the manifest. A resource that
    ``control`` leaves out has ``managed: false``; one outside of the selection is missing. A
    resource that applies a child manifest contains the child's ``resources``.
    """
    declared = iter(plan.declared)
    entries = _entries(plan.resources, declared, plan)
    ccm: dict[str, Any] = {"resources": Mask(plan.secrets).value(entries)}
    for key in ("fail_on_error", "pre_message", "post_message"):
        if getattr(site, key):
            ccm[key] = getattr(site, key)
    return {"ccm": ccm}


def _entries(
    resources: Sequence[CompiledResource], declared: Iterator[DeclaredResource], plan: HostPlan
) -> list[dict[str, Any]]:
    """The resources of one manifest; ``declared`` yields the declaration of each, in pre-order."""
    entries = []
    for resource in resources:
        item = resource.item
        properties = _properties(next(declared), item, plan)
        if resource.registrations and not item.sensitive:
            properties["register_when_stable"] = [dict(one) for one in resource.registrations]
        if resource.children:
            properties["resources"] = _entries(resource.children, declared, plan)
        if not item.left_out:
            entries.append({item.type: [{item.name: properties}]})
    return entries


def _properties(declared: DeclaredResource, item: Item, plan: HostPlan) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key, raw in declared.raw.items():
        if key == "foreach":
            continue  # this resource is one of those from that declaration
        value = item.properties.get(key, raw)
        if isinstance(value, dict) and "$blob" in value:
            value = plan.blob(value["$blob"]).text if key != "source" else raw
        if isinstance(value, dict) and "$tree" in value:
            value = value["$tree"]
        if key == "health_checks":
            value = _checks(item)
        properties[key] = MASKED if key in item.secrets or _hidden(item, key) else value
    for key in ("alias", "provider"):
        if getattr(item, key):
            properties[key] = getattr(item, key)
    if item.deferred_error:
        properties["deferred_error"] = item.deferred_error
    if not item.managed:
        properties["managed"] = False
    return properties


def _checks(item: Item) -> list[dict[str, Any]]:
    """The health checks, without credentials in goss rules."""
    from remote_runtime.health import credentials

    return [Mask(credentials(check)).value(check) for check in item.health_checks]


def _hidden(item: Item, key: str) -> bool:
    clear = ("ensure", "tags", "require", "subscribe", "sensitive", "control", "alias", "provider")
    return item.sensitive and key not in clear
