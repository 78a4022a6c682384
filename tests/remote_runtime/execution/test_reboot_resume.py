import json
import shutil
import tempfile
import unittest
from typing import Any, Dict, List

from remote_runtime.errors import HostError, ProtocolError
from remote_runtime.execution.lifecycle import Lifecycle
from remote_runtime.execution.plan_executor import Engine, ResourceResult
from remote_runtime.execution.reboot_resume import Boot, announce, parse
from remote_runtime.plans.plan_file_check import Binding
from remote_runtime.plans.replay_guard import mark_used, require_own
from remote_runtime.protocol.wire import MAX_FROM_TARGET
from remote_runtime.reporting.events import EventMaker, Outcome
from remote_runtime.system.state_store import StateStore
from tests.remote_runtime.fakes import Script, ScriptRegistry, context, item
from tests.remote_runtime.state.test_pending_refreshes import LedgerTest
from tests.texts import expect_text


class BootTest(unittest.TestCase):
    def test_what_is_broken_is_refused(self) -> None:
        """Anything but an index and the buckets of resources is a broken plan."""
        self.assertEqual(
            parse({"index": 1, "done": {"0": "changed"}}, ["a#b"]).done, {0: "changed"}
        )
        broken: List[Dict[str, Any]] = [
            {},
            {"index": "1", "done": {}},
            {"index": 1, "done": {"x": "stable"}},
            {"index": 1, "done": {"0": 1}},
        ]
        for entry in broken:
            with self.assertRaises(ProtocolError):
                parse(entry, [])

    def test_what_had_its_turn(self) -> None:
        """A reboot knows what it came after."""
        boot = Boot(3, {}, ("a#b", "a#c"))
        self.assertTrue(boot.knows(["a#b", "a#c"]))
        self.assertFalse(boot.knows(["a#b", "a#d"]))

    def test_the_controller_is_asked_first(self) -> None:
        """The host goes down only once the controller has said that it waits."""
        said: List[Any] = []

        class Channel(object):
            def send(self, message: Any, now: bool) -> None:
                said.append((message["t"], message["earlier"]["reboot"], now))

            def expect(self, *kinds: str) -> None:
                said.append(kinds)

        channel: Any = Channel()
        announce(channel, 4, 60.0, {"resources": {}, "done": {"0": "stable"}})
        reboot = {"index": 4, "done": {"0": "stable"}}
        self.assertEqual(said, [("rebooting", reboot, True), ("reboot",)])


class EngineTest(unittest.TestCase):
    def test_a_composite_that_was_at_work(self) -> None:
        """What had its turn has no second one, and still counts for what it is part of."""
        children = (item("t", "b", 1), item("t", "c", 2))
        items = [item("t", "a", 0, applies="x.yaml", children=children), item("t", "d", 3)]
        scripts = {name: Script() for name in "abcd"}
        told: List[Outcome] = []
        ctx = context(items)
        registry: Any = ScriptRegistry(**scripts)
        lifecycle = Lifecycle(ctx, registry, render=lambda one: one.properties)
        maker = EventMaker(ctx.mask)

        def ended(outcome: Outcome, noop: bool, seconds: float) -> None:
            maker.make(outcome, noop, seconds)
            told.append(outcome)

        engine = Engine(context=ctx, lifecycle=lifecycle, ended=ended, done={1: "failed"})
        engine.run(items)
        self.assertEqual([one.item.name for one in told], ["c", "a", "d"])
        self.assertEqual(scripts["b"].acted, 0)
        expect_text(told[1].errors[0], self)
        done = {"0": "failed", "1": "failed", "2": "changed", "3": "changed"}
        self.assertEqual(engine.record(items)["done"], done)

    def test_what_is_told_of_a_large_run(self) -> None:
        """Turns that nobody asks for any more are not told: twenty thousand fit a frame."""
        many = [item("t", "/srv/a/path/of/some/length/%d" % at, at) for at in range(20000)]
        names = ["t#" + one.name for one in many]
        last = item("t", "last", 20000, require=(names[7],), subscribe=(names[9],))
        ctx = context([*many, last])
        results = {name: ResourceResult(True, False, noop=False) for name in names}
        done = {one.index: "stable" for one in many}
        nothing: Any = ScriptRegistry()
        engine = Engine(
            context=ctx,
            lifecycle=Lifecycle(ctx, nothing, render=lambda one: one.properties),
            ended=lambda outcome, noop, seconds: None,
            results=results,
            done=done,
        )
        told = engine.record([*many, last])
        self.assertEqual(sorted(told["resources"]), sorted([names[7], names[9]]))
        self.assertLess(len(json.dumps(told)), MAX_FROM_TARGET)


class SessionTest(LedgerTest):
    def test_the_rest_of_a_run(self) -> None:
        """Behind the reboot what was changed before fires what subscribes, which is no refresh of
        an earlier run; then nothing is due."""
        reboot = {"type": "reboot", "name": "now", "properties": {"onlyif": "false"}}
        conf = "file#" + self.path("conf")
        step = {"met": True, "changed": True, "noop": False, "apart": ""}
        earlier = {
            "resources": {conf: step},
            "reboot": {"index": 1, "done": {"0": "changed"}},
        }
        late = self.shell("late", "false", require=[conf])
        events = self.push(
            self.conf(), self.shell("gate", "false"), self.follower(require=["exec#gate"])
        )
        self.assertEqual(len(self.records()), 1)
        self.runs -= 1  # the run that is rebooted
        events = self.push(self.conf(), reboot, self.follower(), late, earlier=earlier)
        self.assertEqual(list(events), ["now", "follower", "late"])
        self.assertEqual(events["now"]["status"], "changed")
        self.assertTrue(events["follower"]["refreshed"])
        self.assertNotIn("due_since", events["follower"])
        self.assertEqual(self.records(), [])


class UsedPlanTest(unittest.TestCase):
    def test_the_run_that_has_used_it(self) -> None:
        """Only the run that has used a plan may go on with it."""
        top = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, top)
        memory, binding = StateStore(top, "m1"), Binding(serial="0123456789abcdef" * 2)
        with self.assertRaises(HostError):
            require_own(memory, binding, "R1")
        mark_used(memory, binding, run_id="R1", user="alice", now=1.0)
        require_own(memory, binding, "R1")
        with self.assertRaises(HostError):
            require_own(memory, binding, "R2")
