"""How the systemd provider asks and acts, with recorded output."""

import os
import tempfile
import unittest

from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.system.process.commands import Result
from remote_runtime.units import unit
from remote_runtime.units.systemd import Systemd
from tests.texts import expect_text

from ..fake_commands import FakeCommands, make_context, notices_of
from .plan import SHOW, UNITS, Plan, RecordedHost, recorded


class Reading(unittest.TestCase):
    def test_one_call_for_all_services(self):
        """However many services are in the plan, systemctl is called once."""
        plan = Plan(RecordedHost(), ("ccm-daemon", {}), ("ssh", {}), ("ccm-app@1", {}))
        plan.messages()
        (line,) = plan.commands.asked
        self.assertTrue(line.endswith(" -- ccm-app@1.service ccm-daemon.service ssh.service"), line)

    def test_an_action_makes_the_answers_stale(self):
        """After any action of the run all units are asked for again."""
        plan = Plan(RecordedHost(), ("ccm-daemon", {}), ("ccm-static", {}))
        plan.messages()
        plan.context.acted += 1
        plan.messages()
        self.assertEqual(plan.commands.count(SHOW), 2)

    def test_a_name_that_systemd_refuses_does_not_cost_the_others(self):
        """show ends at a bad name; that one is an error and the rest is asked for again."""
        commands = FakeCommands()
        bad = Result(1, recorded("show-template.out"), recorded("show-template.err"))
        commands.on(SHOW, bad, UNITS["ssh.service"])
        plan = Plan(commands, ("ccm-daemon", {}), ("m@x@", {}), ("zzz", {}))
        self.assertEqual(plan.resources[0].observe().ensure, "running")
        with self.assertRaises(ResourceError) as caught:
            plan.resources[1].observe()
        expect_text(caught.exception, self)
        plan.resources[2].observe()
        self.assertEqual(commands.count(SHOW), 2)
        self.assertTrue(commands.asked[1].endswith(" -- zzz.service"))

    def test_no_bus_is_one_error(self):
        """When systemd cannot be reached nothing is asked name by name."""
        commands = FakeCommands()
        commands.on(SHOW, Result(1, "", "Failed to connect to bus: No such file or directory\n"))
        plan = Plan(commands, ("a", {}), ("b", {}), ("c", {}))
        with self.assertRaises(ResourceError) as caught:
            plan.resources[0].observe()
        expect_text(caught.exception, self)
        self.assertEqual(len(commands.asked), 1)

    def test_links_that_came_or_went_since(self):
        """Where links say something else than systemd remembers, it is asked to look again."""
        with tempfile.TemporaryDirectory() as directory:
            wants = os.path.join(directory, "multi-user.target.wants")
            os.mkdir(wants)
            for linked, remembered, said, calls in (
                (True, "enabled", "disabled", 0),
                (False, "enabled", "disabled", 1),
                (False, "enabled", "enabled", 1),
                (True, "disabled", "enabled", 1),
                (False, "static", "enabled", 0),
                (False, "enabled", "nonsense", 1),
            ):
                path = os.path.join(wants, "ccm-daemon.service")
                if linked:
                    open(path, "w").close()
                commands = RecordedHost()
                commands.now("ccm-daemon.service", UnitFileState=remembered)
                commands.on("systemctl is-enabled", Result(1, said + "\n", ""))
                plan = Plan(commands, ("ccm-daemon", {"enable": True}), configured=directory)
                found = plan.systemd.status("ccm-daemon")
                wanted = said if calls and said != "nonsense" else remembered
                self.assertEqual(found.enabled, wanted != "disabled", (linked, remembered, said))
                self.assertEqual(commands.count("systemctl is-enabled"), calls)
                if linked:
                    os.remove(path)

    def test_names(self):
        """.service is added to what has no suffix of systemd's; an instance has a template."""
        rows = [
            ("nginx", "nginx.service", ""),
            ("nginx.service", "nginx.service", ""),
            ("apt-daily.timer", "apt-daily.timer", ""),
            ("php8.2-fpm", "php8.2-fpm.service", ""),
            ("app@1", "app@1.service", "app@.service"),
            ("app@a.b.socket", "app@a.b.socket", "app@.socket"),
        ]
        for name, full, template in rows:
            self.assertEqual((unit.full_name(name), unit.template(full)), (full, template))

    def test_hosts_without_systemd(self):
        """No systemctl, or a host that systemd has not booted, is said so."""
        item = Item(0, "service", "nginx", {})
        with self.assertRaises(ResourceError) as caught:
            Registry(make_context(FakeCommands(missing=["systemctl"]), [item])).create(item)
        expect_text(caught.exception, self)
        context = make_context(FakeCommands(), [item])
        context.one(Systemd).booted = "/nonexistent"
        registry = Registry(context)
        with self.assertRaises(ResourceError) as caught:
            registry.create(item)
        expect_text(caught.exception, self)


class Acting(unittest.TestCase):
    def test_the_documents_commands(self):
        """Each action is one systemctl with --system."""
        rows = [
            ("ccm-daemon", {"ensure": "stopped"}, False, ["stop"]),
            ("ccm-daemon", {"enable": False}, False, ["disable"]),
            ("ccm-daemon", {}, True, ["restart"]),
            ("ccm-daemon", {}, False, []),
        ]
        for name, properties, refresh, verbs in rows:
            calls = Plan(RecordedHost(), (name, properties)).carry_out(refresh=refresh)
            self.assertEqual(
                calls, ["systemctl %s --system %s.service" % (verb, name) for verb in verbs]
            )

    def test_reload(self):
        """A unit that cannot be reloaded is restarted, and that is said."""
        said = ("info", "ccm-daemon.service cannot be reloaded, so ccm restarts it")
        for reloads, verb, notices in (("yes", "reload", []), ("no", "restart", [said])):
            commands = RecordedHost()
            commands.now("ccm-daemon.service", CanReload=reloads)
            plan = Plan(commands, ("ccm-daemon", {"reload": True}))
            calls = plan.carry_out(refresh=True)
            self.assertEqual(calls, ["systemctl %s --system ccm-daemon.service" % verb])
            self.assertEqual(notices_of(plan.context), notices)

    def test_a_reload_that_fails(self):
        """The error has systemctl's words, and the unit's status with the end of its log."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", CanReload="yes")
        commands.on("systemctl reload", Result(1, "", "Job for ccm-daemon.service failed.\n"))
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("ccm-daemon", {"reload": True})).carry_out(refresh=True)
        expect_text(caught.exception.message, self)
        self.assertTrue(caught.exception.output)

    def test_what_a_reload_ends(self):
        """A unit that does not run a moment after its reload is a failure."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", CanReload="yes")

        def reloaded():
            if commands.asked[-1].startswith("systemctl reload"):
                commands.now("ccm-daemon.service", ActiveState="failed")

        commands.during = reloaded
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("ccm-daemon", {"reload": True})).carry_out(refresh=True)
        expect_text(caught.exception.message, self)

    def test_a_unit_that_is_enabled_until_the_next_boot(self):
        """It is enabled for good, or disabled as it was enabled: for this boot."""
        for enable, calls in (
            (True, ["enable --system"]),
            (False, ["disable --system", "disable --system --runtime"]),
        ):
            commands = RecordedHost()
            commands.now("ccm-daemon.service", UnitFileState="enabled-runtime")
            self.assertEqual(
                Plan(commands, ("ccm-daemon", {"enable": enable})).carry_out(),
                ["systemctl %s ccm-daemon.service" % call for call in calls],
            )

    def test_start_and_enable(self):
        """A stopped and disabled unit is started, then enabled."""
        commands = RecordedHost()

        def started():
            if commands.asked[-1].startswith("systemctl start"):
                commands.now("ccm-app@1.service", ActiveState="active")

        commands.during = started
        self.assertEqual(
            Plan(commands, ("ccm-app@1", {"enable": True})).carry_out(),
            [
                "systemctl start --system ccm-app@1.service",
                "systemctl enable --system ccm-app@1.service",
            ],
        )

    def test_the_look_after_a_start_is_not_made_twice(self):
        """What was seen right after a start also serves the lifecycle's own look."""
        commands = RecordedHost()

        def started():
            if commands.asked[-1].startswith("systemctl start"):
                commands.now("ccm-static.service", ActiveState="active")

        commands.during = started
        plan = Plan(commands, ("ccm-static", {}))
        plan.carry_out()
        self.assertEqual(plan.resources[0].observe().ensure, "running")
        self.assertEqual(commands.count(SHOW), 2)

    def test_a_start_that_systemd_reports_as_failed(self):
        """The error has systemctl's words, and the unit's status with the end of its log."""
        commands = RecordedHost()
        commands.on("systemctl start", Result(1, "", recorded("start-failed.err")))
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("ssh", {})).carry_out()
        expect_text(caught.exception.message, self)
        self.assertIn("as intended", caught.exception.output)

    def test_a_program_that_ends_at_once(self):
        """A unit that systemctl started and that is not running a moment later is a failure."""
        with self.assertRaises(ResourceError) as caught:
            Plan(RecordedHost(), ("ccm-fails", {})).carry_out()
        self.assertTrue(caught.exception.message.startswith("desired state not achieved: "))
        expect_text(caught.exception.message, self)
        self.assertIn("status=3", caught.exception.output)
        self.assertLessEqual(len(caught.exception.output.splitlines()), 25)

    def test_a_condition_that_prevents_the_start(self):
        """A unit that systemd skips is a failure that names the condition."""
        log = (
            "\u25cb ccm-fails.service\n  Condition: start condition failed at Mon; 1s ago\n"
            "             \u2514\u2500 %s\n"
        )
        for line in (
            "ConditionPathExists=/etc/x was not met",
            "none of the trigger conditions were met",
            "x was skipped because of an unmet condition check (ConditionPathExists=/etc/y).",
            "x was skipped because no trigger condition checks were met.",
        ):
            commands = RecordedHost()
            commands.on("systemctl status", Result(3, log % line, ""))
            with self.assertRaises(ResourceError) as caught:
                Plan(commands, ("ccm-fails", {})).carry_out()
            expect_text(caught.exception.message, self)

    def test_a_socket_that_starts_what_was_stopped(self):
        """A socket that listens is a warning; one that does not, and a timer, are none."""
        for state, warned in (("active", True), ("inactive", False)):
            commands = RecordedHost()
            commands.now("ccm-daemon.service", TriggeredBy="ccm-daemon.socket ccm-daemon.timer")
            commands.units["ccm-daemon.socket"] = (
                "Id=ccm-daemon.socket\nLoadState=loaded\nUnitFileState=enabled\nActiveState=%s\n"
                % state
            )
            plan = Plan(commands, ("ccm-daemon", {"ensure": "stopped"}))
            plan.carry_out()
            text = (
                "ccm-daemon.socket listens and starts ccm-daemon.service again on the next "
                "connection; stop it first"
            )
            self.assertEqual(notices_of(plan.context), [("warning", text)] if warned else [])

    def test_not_root(self):
        """Without the right to change units the hint is become."""
        commands = RecordedHost()
        denied = "Failed to start ccm-app@1.service: Interactive authentication required.\n"
        commands.on("systemctl start", Result(1, "", denied))
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("ccm-app@1", {})).carry_out()
        self.assertIn("become: true", caught.exception.hint)
        self.assertEqual(commands.count("systemctl status"), 0)

    def test_a_mask_over_the_file_of_a_unit(self):
        """systemd's own words, and how to do without a mask."""
        commands = RecordedHost()
        there = "Failed to mask unit: File /etc/systemd/system/a.service already exists.\n"
        commands.on("systemctl mask", Result(1, "", there))
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("ccm-app@1", {"ensure": "stopped", "masked": True})).carry_out()
        self.assertIn("already exists", caught.exception.message)
        self.assertIn("omit masked", caught.exception.hint)


class Reload(unittest.TestCase):
    def reloads(self, plan):
        for resource in plan.resources:
            resource.observe()
        return plan.commands.count("systemctl daemon-reload")

    def test_never_without_a_reason(self):
        """Neither a plain look nor a changed file elsewhere reloads systemd."""
        plan = Plan(RecordedHost(), ("ccm-daemon", {}))
        plan.context.changed_paths.add("/etc/nginx/nginx.conf")
        self.assertEqual(self.reloads(plan), 0)

    def test_a_changed_unit_file_reloads_once(self):
        """A file below a unit directory that this run wrote reloads once for all services."""
        plan = Plan(RecordedHost(), ("ccm-daemon", {}), ("ccm-static", {}))
        plan.context.changed_paths.add("/etc/systemd/system/ccm-daemon.service.d/more.conf")
        self.assertEqual(self.reloads(plan), 1)
        self.assertEqual(self.reloads(plan), 1)
        plan.context.changed_paths.add("/usr/lib/systemd/system/other.service")
        self.assertEqual(self.reloads(plan), 2)

    def test_when_systemd_says_so(self):
        """NeedDaemonReload reloads, and the state is read again."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", NeedDaemonReload="yes", UnitFileState="disabled")

        def reloaded():
            if commands.asked[-1].startswith("systemctl daemon-reload"):
                commands.now("ccm-daemon.service")

        commands.during = reloaded
        plan = Plan(commands, ("ccm-daemon", {"enable": True}))
        self.assertEqual(plan.carry_out(), ["systemctl daemon-reload --system"])

    def test_noop_reloads_nothing(self):
        """A preview leaves systemd as it is."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", NeedDaemonReload="yes")
        plan = Plan(commands, ("ccm-daemon", {}))
        plan.context.changed_paths.add("/etc/systemd/system/written-before-a-noop-child.service")
        self.assertEqual(plan.messages(), [""])
        self.assertEqual(commands.count("systemctl daemon-reload"), 0)


if __name__ == "__main__":
    unittest.main()
