"""A restart that a run owes a service for its new text comes with a later run."""

import os
import shutil
import tempfile
from typing import Any, Dict, List

from remote_runtime.execution.lifecycle import Lifecycle
from remote_runtime.execution.plan_executor import Engine
from remote_runtime.options import RunOptions
from remote_runtime.plans.plan import Plan as TargetPlan
from remote_runtime.registry import Registry
from remote_runtime.reporting.events import EventMaker
from remote_runtime.state.run_state import RunState
from remote_runtime.system.process.commands import Result

from .plan import Plan, RecordedHost
from .test_unit_texts import EtcTest

SETTINGS: Dict[str, Any] = {"settings": {"Service": {"Nice": 5}}}
RESTART = "systemctl restart --system ccm-daemon.service"
RELOAD = "systemctl reload --system ccm-daemon.service"


class Killed(BaseException):
    """The run is over, whatever it was about to do."""


class DueRestartTest(EtcTest):
    def setUp(self) -> None:
        super().setUp()
        self.state = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, self.state, True)
        self.host = RecordedHost()
        self.runs = 0

    def push(self, noop: bool = False, **properties: Any) -> Dict[str, Any]:
        """The event of one more run with these properties of the service."""
        self.runs += 1
        del self.host.asked[:]
        self.told: List[str] = []
        made = Plan(self.host, ("ccm-daemon", properties))
        context = made.context
        options = RunOptions(noop=noop)
        context.options = options
        item = made.resources[0].item
        plan = TargetPlan("R%d" % self.runs, "", options, False, (), (item,), {}, manifest="s.yaml")
        recall = RunState(
            plan, self.state, mask=str, tell=lambda level, text: self.told.append(text)
        )
        lifecycle = Lifecycle(context, Registry(context), render=lambda one: one.properties)
        events: List[Dict[str, Any]] = []
        maker = EventMaker(context.mask)
        engine = Engine(
            context=context,
            lifecycle=lifecycle,
            ended=lambda *step: events.append(maker.make(*step)),
            refreshes=recall.refreshes,
            applied=recall.account,
        )
        engine.run(plan.items)
        recall.close(True)
        return events[0]

    def records(self) -> List[str]:
        """The pending refreshes on record."""
        directory = os.path.join(self.state, "refreshes")
        return os.listdir(directory) if os.path.exists(directory) else []

    def killed(self, **properties: Any) -> None:
        """A push that ends behind the text and before the restart."""

        def kill() -> None:
            if os.path.exists(self.path("ccm-daemon.service.d/ccm.conf")):
                raise Killed

        self.host.during = kill
        with self.assertRaises(Killed):
            self.push(**properties)
        self.host.during = None

    def test_a_run_that_was_killed(self) -> None:
        """The preview says the restart, the next push makes it once, and the third does nothing."""
        self.killed(**SETTINGS)
        event = self.push(noop=True, **SETTINGS)
        self.assertEqual(event["noop_message"], "Would have restarted")
        self.assertEqual(self.host.count(RESTART), 0)
        event = self.push(**SETTINGS)
        self.assertEqual((event["status"], event["due_since"]), ("changed", "R1"))
        self.assertEqual((self.host.count(RESTART), self.records()), (1, []))
        event = self.push(**SETTINGS)
        self.assertEqual((event["status"], self.host.count(RESTART)), ("stable", 0))

    def test_a_reload_is_not_enough(self) -> None:
        """A restart is due, also where a subscription would reload."""
        self.killed(reload=True, **SETTINGS)
        self.push(reload=True, **SETTINGS)
        self.assertEqual((self.host.count(RESTART), self.host.count(RELOAD)), (1, 0))

    def test_a_restart_that_fails(self) -> None:
        """Every push tries it again, and fails, until systemd takes the settings."""
        self.host.on("systemctl restart", Result(1, "", "bad unit file setting"))
        for due in ("R1", "R1"):
            event = self.push(**SETTINGS)
            self.assertEqual((event["status"], event["due_since"]), ("failed", due))
            self.assertIn("is still pending", self.told[-1])
        self.host.on("systemctl restart", "")
        self.assertEqual(self.push(**SETTINGS)["status"], "changed")
        self.assertEqual((self.push(**SETTINGS)["status"], self.records()), ("stable", []))

    def test_a_service_that_is_to_be_stopped_now(self) -> None:
        """It needs no restart any more."""
        self.killed(**SETTINGS)
        self.host.now("ccm-daemon.service", ActiveState="inactive", SubState="dead")
        self.push(ensure="stopped", **SETTINGS)
        self.assertEqual((self.host.count(RESTART), self.records()), (0, []))

    def test_whole_runs(self) -> None:
        """A run that restarts leaves nothing on record, and neither does one without a change."""
        self.assertEqual(self.push(**SETTINGS)["status"], "changed")
        self.assertEqual((self.host.count(RESTART), self.records(), self.told), (1, [], []))
        self.assertEqual(self.push(**SETTINGS)["status"], "stable")
        self.assertEqual(self.records(), [])
