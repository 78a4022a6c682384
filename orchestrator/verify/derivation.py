"""Derives the checks of a host from its plan (controller)."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.verify.checks import Expectations
from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import healthy, to_run
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item

if TYPE_CHECKING:
    from orchestrator.planning.compiled_resource import CompiledResource
    from orchestrator.planning.host_plan import HostPlan

CONTROL = "excluded by control"
LOOKUP_CONDITION = "control is evaluated on the host"
SELECTED = "excluded by --%s"
NOOP = "in noop"
MONITORED = "monitored only"
UNOBSERVABLE = "without a check"


class Check(NamedTuple):
    """The expectations for one resource; ``broken`` is the reason if there are none.

    ``commands`` is the request to the runtime, if the user's own commands must run.
    """

    item: Item
    expectations: Sequence[Expectation]
    broken: str = ""
    commands: Item | None = None

    @property
    def id(self) -> str:
        """``type#name``."""
        return self.item.id


class DerivedChecks(NamedTuple):
    """The checks of a host, and the number of resources without one, by reason."""

    checks: list[Check]
    left_out: Counter[str]


def derive(
    plan: HostPlan, read: Callable[[str], bytes], of_type: Callable[[str], Expectations | None]
) -> DerivedChecks:
    """Return the checks of every resource that the push would have managed.

    ``read`` returns the bytes of a file on the target, for templates that read one. ``of_type``
    returns the function that creates the expectations of a type, if any.
    """
    checks: list[Check] = []
    left_out: Counter[str] = Counter()
    run = plan.items
    for item, reason in _walked(plan.resources):
        if reason == MONITORED and item.health_checks:
            checks.append(_commanded(item, []))
            continue
        if reason:
            left_out[reason] += 1
            continue
        check = _check(item, plan, read=read, expectations=of_type(item.type), run=run)
        if check is None:
            left_out[UNOBSERVABLE] += 1
        else:
            checks.append(check)
    return DerivedChecks(checks, left_out)


def _check(
    item: Item,
    plan: HostPlan,
    *,
    read: Callable[[str], bytes],
    expectations: Expectations | None,
    run: Sequence[Item],
) -> Check | None:
    if item.deferred_error:
        return Check(item, (), item.deferred_error)
    properties = item.properties
    try:
        if item.deferred_render:
            properties = {**properties, **plan.render(item.index, read)}
        made = expectations(Subject(item.name, properties, run)) if expectations else []
    except ResourceError as error:
        return Check(item, (), str(error))
    if item.health_checks or any(one.commands for one in made):
        return _commanded(item._replace(properties=properties), made)
    return Check(item, made) if made else None


def _commanded(item: Item, made: Sequence[Expectation]) -> Check:
    """A check for which the user's own commands are run."""
    with_state = any(one.commands for one in made)
    return Check(item, [*made, *healthy(item)], commands=to_run(item, with_state))


def _walked(resources: Sequence[CompiledResource]) -> Iterator[tuple[Item, str]]:
    """Every resource, with the reason to skip it; an apply represents its children only.

    Items are numbered across the complete plan, an apply before its children.
    """
    numbers = itertools.count()

    def walk(some: Sequence[CompiledResource], above: str) -> Iterator[tuple[Item, str]]:
        """Yield each resource with the reason why it is not checked; "" for a checked one."""
        for entry in some:
            item = entry.item._replace(index=next(numbers))
            reason = above or _reason(item)
            if reason or item.deferred_error or not item.applies:
                yield item, reason
            yield from walk(entry.children, reason)

    return walk(resources, "")


def _reason(item: Item) -> str:
    if not item.managed:
        return CONTROL
    if item.left_out:
        return SELECTED % item.left_out
    if item.control:
        return LOOKUP_CONDITION
    if item.noop:
        return NOOP
    return MONITORED if item.monitor_only else ""
