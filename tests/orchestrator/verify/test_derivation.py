"""Which resources of a plan are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from orchestrator.manifest.resource_types import BUILT_IN
from orchestrator.verify.checks import expectations_of
from orchestrator.verify.derivation import (
    CONTROL,
    MONITORED,
    NOOP,
    SELECTED,
    UNOBSERVABLE,
    DerivedChecks,
    derive,
)
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item
from tests.orchestrator.verify.fakes import item, said

if TYPE_CHECKING:
    from orchestrator.planning.host_plan import HostPlan

FILE = {"owner": "root", "group": "root", "mode": "0644"}


class Planned(NamedTuple):
    item: Item
    children: Sequence[Planned] = ()


class Plan:
    def __init__(self, *resources: Planned, rendered: Any = None) -> None:
        self.resources = resources
        self.asked: list[int] = []
        self._rendered = rendered

    @property
    def items(self) -> list[Item]:
        return [one.item for top in self.resources for one in (top, *top.children)]

    def render(self, index: int, read: Callable[[str], bytes]) -> dict[str, Any]:
        self.asked.append(index)
        if isinstance(self._rendered, Exception):
            raise self._rendered
        return {"content": read("/etc/x").decode()}


def file(name: str, **fields: Any) -> Planned:
    return Planned(item("file", name, properties=FILE, **fields))


def derived(plan: Plan) -> DerivedChecks:
    return derive(
        cast("HostPlan", plan),
        lambda path: f"content of {path}".encode(),
        lambda name: expectations_of(name, BUILT_IN),
    )


def test_what_the_push_leaves_alone_is_left_out_and_counted() -> None:
    """Control, noop, monitoring, and resources that leave nothing to look at."""
    plan = Plan(
        file("/a"),
        file("/b", managed=False),
        file("/c", noop=True),
        file("/d", monitor_only=True),
        file("/e", left_out="tags"),
        Planned(item("exec", "true")),
        Planned(item("nosuchtype", "x")),
    )
    found = derived(plan)
    assert [check.id for check in found.checks] == ["file#/a"]
    assert found.left_out == {
        CONTROL: 1, NOOP: 1, MONITORED: 1, SELECTED % "tags": 1, UNOBSERVABLE: 2,
    }  # fmt: skip


def test_children_are_looked_at_and_take_after_their_apply() -> None:
    """An apply is no check of its own; what holds for it holds for all below it."""
    plan = Plan(
        Planned(
            item("apply", "a.yaml", applies="a.yaml"),
            [
                file("/a"),
                Planned(item("apply", "b.yaml", applies="b.yaml", noop=True), [file("/b")]),
            ],
        ),
        Planned(item("apply", "c.yaml", applies="c.yaml", managed=False), [file("/c")]),
    )
    found = derived(plan)
    assert [check.id for check in found.checks] == ["file#/a"]
    assert found.left_out == {NOOP: 2, CONTROL: 2}


def test_a_template_of_the_target_is_rendered_by_its_place_in_the_plan() -> None:
    """Places count over children, and what the file holds now is what is expected."""
    deferred = file("/late", deferred_render=True)
    plan = Plan(Planned(item("apply", "a.yaml", applies="a.yaml"), [file("/a")]), deferred)
    late = derived(plan).checks[1]
    assert plan.asked == [2]
    assert any(one.what == "content" for one in late.expectations)
    assert said(late.expectations)[0] == "type: expected a file, found nothing"


def test_what_cannot_be_rendered_fails_its_check() -> None:
    """A broken template says so, as it would in a push."""
    plan = Plan(
        file("/a", deferred_error="content: no such path (site.yaml:3:4)"),
        file("/b", deferred_render=True),
        Planned(item("apply", "gone.yaml", applies="gone.yaml", deferred_error="is missing")),
        rendered=ResourceError("file() is not UTF-8 text"),
    )
    found = derived(plan)
    assert [check.broken for check in found.checks] == [
        "content: no such path (site.yaml:3:4)",
        "file() is not UTF-8 text",
        "is missing",
    ]
