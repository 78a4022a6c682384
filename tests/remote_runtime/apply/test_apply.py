import unittest
from typing import Any, Dict, List

from remote_runtime.plan_item import Item
from remote_runtime.plans import plan
from remote_runtime.resources.apply.resource import Resource
from tests.remote_runtime.fakes import item, run_items


def parsed(*resources: Dict[str, Any]) -> List[Item]:
    """The items of a plan, each with its children behind it."""

    def walk(items: Any) -> List[Item]:
        return [found for one in items for found in [one] + walk(one.children)]

    return walk(plan.parse({"t": "plan", "resources": list(resources)}).items)


def entry(name: str, *children: Dict[str, Any], **fields: Any) -> Dict[str, Any]:
    """What a plan says of one apply."""
    return dict(fields, type="apply", name=name, applies="parts/" + name, children=list(children))


class ApplyTest(unittest.TestCase):
    def test_names(self) -> None:
        """A child is named by a path that does not leave its parent's directory."""
        for name in ("a.yaml", "./a.yaml", "a/b/../c.yaml", "..a/b.yaml", "a b.yaml", "a//b.yaml"):
            self.assertEqual(Resource.check(name, {}), [], name)
        for name in ("../a.yaml", "a/../../b.yaml", "/a.yaml", "https://x/a.yaml", "..", "./../a"):
            self.assertEqual([key for key, _ in Resource.check(name, {})], ["name"], name)

    def test_what_children_inherit(self) -> None:
        """noop and health_check_only hold for all below, and each knows its manifest."""
        shell = {"type": "exec", "name": "x", "noop": False}
        inner = entry("b.yaml", shell, monitor_only=True)
        items = parsed(entry("a.yaml", inner, shell, noop=True), shell)
        self.assertEqual([i.index for i in items], [0, 1, 2, 3, 4])
        self.assertEqual([i.noop for i in items], [True, True, True, True, False])
        self.assertEqual([i.monitor_only for i in items], [False, True, True, False, False])
        self.assertEqual(
            [i.manifest for i in items], ["", "parts/a.yaml", "parts/b.yaml", "parts/a.yaml", ""]
        )

    def test_events(self) -> None:
        """The provider runs the children and is named in the event, whose state is present."""
        child = item("exec", "true", properties={"command": "true"}, manifest="a.yaml")
        events = run_items([item("apply", "a.yaml", applies="a.yaml", children=(child,))])
        self.assertEqual([event["name"] for event in events], ["true", "a.yaml"])
        told = events[1]
        self.assertEqual((told["provider"], told["status"]), ("ccmmanifest", "changed"))
        self.assertEqual((told["requested_ensure"], told["final_ensure"]), ("present", "present"))

    def test_unknown_provider(self) -> None:
        """A provider that there is not fails the resource before any child runs."""
        child = item("exec", "true", properties={"command": "true"})
        events = run_items(
            [item("apply", "a.yaml", applies="a.yaml", provider="other", children=(child,))]
        )
        self.assertEqual([event["name"] for event in events], ["a.yaml"])
        self.assertIn("no provider 'other' for apply", events[0]["error"][0])
