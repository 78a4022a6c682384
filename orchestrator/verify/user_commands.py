"""Results of the user's own commands, guards and health checks, which the runtime runs
(controller).

An independent check would only test the user's commands, so they run as in a push: as the same
user, with the same interpreter, and with protected secrets.
"""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Any

from orchestrator.verify.expectation import Expectation, Observation, look
from remote_runtime.plan_item import Item
from remote_runtime.reporting.masking import Mask

Event = dict[str, Any]

_GOOD = ("OK", "WARNING")


def nothing_to_do(
    what: str, expected: str, instead: str = "that it would run", *, ensure: str = "present"
) -> Expectation:
    """Expect that the type itself has nothing left to do; otherwise ``instead`` is reported."""
    return Expectation(
        what=what,
        expected=expected,
        find=lambda event: event["final_ensure"],
        holds=ensure.__eq__,
        tell=lambda event, found: instead if found else f"no result ({'; '.join(event['error'])})",
        commands=True,
    )


def healthy(item: Item) -> Iterator[Expectation]:
    """Expect that each health check of a resource is OK or warns; its name is that of a push."""
    for number, check in enumerate(item.health_checks):
        words = str(check.get("command") or "goss").split()
        hidden = item.sensitive or not words
        default = f"check {number + 1}" if hidden else posixpath.basename(words[0])
        yield _healthy(number, str(check.get("name") or default))


def _healthy(number: int, name: str) -> Expectation:
    def result(event: Event) -> dict[str, Any]:
        """The result of this health check."""
        results = event.get("health_check") or ()
        if number >= len(results):
            raise RuntimeError("it was not run")
        found: dict[str, Any] = results[number]
        return found

    def tell(event: Event, status: str) -> str:
        """The status with the output of the check."""
        output = result(event).get("output")
        return f"{status}: {output}" if output else status

    return Expectation(
        what=f"health check {name!r}",
        expected="OK",
        find=lambda event: result(event).get("status"),
        holds=_GOOD.__contains__,
        tell=tell,
        commands=True,
    )


def to_run(item: Item, with_state: bool) -> Item:
    """The resource reduced to its health checks and, with ``with_state``, its other commands."""
    return item._replace(
        require=(),
        subscribe=(),
        properties=item.properties if with_state else {},
        monitor_only=not with_state,
        deferred_render=False,
    )


def with_timeout(item: Item, timeout: float) -> Item:
    """Limit its commands to ``timeout`` seconds, unless they have their own limits."""
    bound = {"timeout": f"{timeout:g}s"}
    properties = {**bound, **item.properties} if item.properties else item.properties
    checks = tuple({**bound, **check} for check in item.health_checks)
    return item._replace(properties=properties, health_checks=checks)


def answers(expectations: Sequence[Expectation], event: Event, mask: Mask) -> list[Observation]:
    """The parts of a resource's event for the expectations with commands, in order."""
    return [look(one, event, mask) for one in expectations if one.commands]
