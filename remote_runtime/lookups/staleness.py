"""Detects lookups whose answer would differ when a resource runs (target; previews only)."""

from typing import TYPE_CHECKING, Any, Dict

from remote_runtime.changes import Unknowable
from remote_runtime.lookups.answers import Answer, answer
from remote_runtime.registry import Registry
from remote_runtime.uncertainty import ASSUMED, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.plan_item import Item


def staleness(item: "Item", context: "Context") -> Uncertainty:
    """Return the uncertainty of an item's answers: the first answer that will differ, or may
    differ.
    """
    overlay = context.overlay
    if overlay is None:
        return Uncertainty()
    for entry in item.asked:
        question = {key: value for key, value in entry.items() if key != "name"}
        for place, (asked, known) in enumerate(context.answers):
            if asked != question:
                continue
            at = place, id(overlay), overlay.sequence
            if at not in context.asked_again:
                context.asked_again[at] = _reason(item, question, known, context)
            reason = context.asked_again[at]
            if reason:
                return Uncertainty(ASSUMED, "Asked.%s %s" % (entry.get("name"), reason))
    return Uncertainty()


def _reason(item: "Item", question: Dict[str, Any], known: Answer, context: "Context") -> str:
    """Return the reason why its answer may differ; "" if it does not."""
    before = "was answered before the first change"
    with context.for_resource(item, True):
        try:
            # Information about the run's own resources does not affect a lookup.
            answer_now = answer(question, context, Registry(context))
        except Unknowable as unknown:
            return "%s, and %s" % (before, unknown.message)
        uncertainty = context.uncertainty
        by = _changed_by(question, context)
    if answer_now != known and by:
        return "%s, but %s would change the answer" % (before, by)
    if answer_now != known:
        return "%s, but earlier resources would change the answer" % before
    return "%s, and %s" % (before, uncertainty.reason) if uncertainty.level else ""


def _changed_by(question: Dict[str, Any], context: "Context") -> str:
    """Return the resource that will change the path of a question; "" if none is known."""
    overlay = context.overlay
    if overlay is None or question["kind"] not in ("file", "stat"):
        return ""
    node = overlay.layer.find(question["of"], question["kind"] == "file").node
    return node.by if node is not None else ""
