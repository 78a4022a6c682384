"""What the service type decides, on a recorded host."""

import unittest

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.resources.service.resource import Resource
from remote_runtime.units import unit
from tests.texts import expect_text

from .plan import Plan, RecordedHost, shown


def one(name, **properties):
    return Plan(RecordedHost(), (name, properties))


def missing(case, plan):
    with case.assertRaises(Missing) as caught:
        plan.resources[0].observe()
    return caught.exception


class Decisions(unittest.TestCase):
    def assert_messages(self, rows, refresh):
        plan = Plan(RecordedHost(), *[(name, properties) for name, properties, _ in rows])
        self.assertEqual(plan.messages(refresh), [message for _, _, message in rows])

    def test_running_and_enabled_are_independent(self):
        """Each combination of ensure and enable is worded as the documents have it."""
        self.assert_messages(
            [
                ("ccm-daemon", {}, ""),
                ("ccm-daemon", {"ensure": "stopped"}, "Would have stopped"),
                ("ccm-app@1", {}, "Would have started"),
                ("ccm-app@1", {"ensure": "stopped"}, ""),
                ("ccm-app@1", {"enable": True}, "Would have started, would have enabled"),
                ("ccm-app@1", {"ensure": "stopped", "enable": True}, "Would have enabled"),
                ("ccm-app@1", {"ensure": "stopped", "enable": False}, ""),
                ("ccm-fails.service", {}, "Would have started"),
                ("dbus.socket", {}, ""),
            ],
            refresh=False,
        )

    def test_subscribe(self):
        """A refresh restarts what runs, starts what does not, and leaves alone what should stop."""
        self.assert_messages(
            [
                ("ccm-daemon", {}, "Would have restarted via subscribe"),
                ("ccm-app@1", {}, "Would have started"),
                ("ccm-app@1", {"ensure": "stopped"}, ""),
                ("ccm-daemon", {"ensure": "stopped"}, "Would have stopped"),
            ],
            refresh=True,
        )

    def test_reload(self):
        """With ``reload``, what runs is reloaded, or restarted where it cannot be."""
        for reloads, word in (("yes", "reloaded"), ("no", "restarted")):
            commands = RecordedHost()
            commands.now("ccm-daemon.service", CanReload=reloads)
            plan = Plan(commands, ("ccm-daemon", {"reload": True}), ("ccm-app@1", {"reload": True}))
            self.assertEqual(
                plan.messages(refresh=True),
                ["Would have %s via subscribe" % word, "Would have started"],
            )
            self.assertEqual(plan.messages(), ["", "Would have started"])
            resource = plan.resources[0]
            (action,) = resource.actions(resource.observe(), True)
            self.assertEqual(
                [change.record() for change in action.changes],
                [{"what": "ensure", "from": "running", "to": word}],
            )

    def test_only_what_is_to_run_counts_as_refreshed(self):
        """A service that is to be stopped ignores its subscriptions, whatever else it changes."""
        plan = Plan(RecordedHost(), ("ccm-daemon", {}), ("ccm-daemon", {"ensure": "stopped"}))
        self.assertEqual([r.accepts_refresh(True) for r in plan.resources], [True, False])
        self.assertEqual([r.accepts_refresh(False) for r in plan.resources], [False, False])

    def test_a_service_on_its_way_up_is_stopped_and_not_running(self):
        """activating counts as stopped, and still has to be stopped where that is wanted."""
        self.assertEqual(one("loop").resources[0].observe().ensure, "stopped")
        expect_text(one("loop").messages(), self)
        expect_text(one("loop", ensure="stopped").messages(), self)

    def test_changes(self):
        """The records say what was and what will be."""
        resource = one("ccm-app@1", enable=True).resources[0]
        actions = resource.actions(resource.observe(), False)
        self.assertEqual(
            [change.record() for action in actions for change in action.changes],
            [
                {"what": "ensure", "from": "stopped", "to": "running"},
                {"what": "enable", "from": False, "to": True},
            ],
        )

    def test_what_is_found(self):
        """The state alone says whether it runs, starts at boot and is masked, or is not there."""
        rows = [
            ("ccm-daemon", {"ensure": "running", "enable": True, "status": "active (running)"}),
            ("ccm-app@1", {"ensure": "stopped", "enable": False, "status": "inactive (dead)"}),
            ("nosuch", {"ensure": "absent"}),
        ]
        for name, expected in rows:
            self.assertEqual(one(name).resources[0].found(), expected)
        found = one("ccm-pkg01").resources[0].found()
        self.assertEqual((found["masked"], found["enable"]), (True, False))

    def test_a_service_that_never_stays_running(self):
        """Not settled, a oneshot unit is explained."""
        resource = one("oneshot").resources[0]
        self.assertIn("oneshot without RemainAfterExit", resource.unachieved(resource.observe()))
        resource = one("ccm-fails").resources[0]
        expect_text(resource.unachieved(resource.observe()), self)


class Masks(unittest.TestCase):
    def test_steps(self):
        """A mask is taken away first and put in place last; links below a mask are not known."""
        rows = [
            ("ccm-pkg01", {"masked": False}, "Would have unmasked, would have started"),
            (
                "ccm-pkg01",
                {"masked": False, "enable": False},
                "Would have unmasked, would have started, would have disabled",
            ),
            ("ccm-pkg01", {"ensure": "stopped", "masked": True, "enable": False}, ""),
            ("ccm-daemon", {"masked": False}, ""),
            (
                "ccm-daemon",
                {"ensure": "stopped", "masked": True, "enable": False},
                "Would have stopped, would have disabled, would have masked",
            ),
            ("nosuch", {"ensure": "stopped", "masked": True}, "Would have masked"),
        ]
        plan = Plan(RecordedHost(), *[(name, properties) for name, properties, _ in rows])
        self.assertEqual(plan.messages(), [message for _, _, message in rows])

    def test_changes(self):
        """The records say what was and what will be."""
        resource = one("ccm-daemon", ensure="stopped", masked=True).resources[0]
        actions = resource.actions(resource.observe(), False)
        self.assertEqual(
            [change.record() for change in actions[-1].changes],
            [{"what": "masked", "from": False, "to": True}],
        )

    def test_until_the_next_boot(self):
        """A mask in /run is not the one that is wanted, and goes where none is."""
        for properties, calls in (
            ({"ensure": "stopped", "masked": True}, ["mask --system"]),
            (
                {"ensure": "stopped", "masked": False},
                ["unmask --system", "unmask --system --runtime"],
            ),
        ):
            commands = RecordedHost()
            commands.now("ccm-pkg01.service", UnitFileState="masked-runtime", LoadState="masked")
            self.assertEqual(
                Plan(commands, ("ccm-pkg01", properties)).carry_out(),
                ["systemctl %s ccm-pkg01.service" % call for call in calls],
            )

    def test_contradictions(self):
        """A masked service neither runs nor starts at boot."""
        for properties, wrong in (
            ({"masked": True}, 1),
            ({"masked": True, "enable": True}, 2),
            ({"masked": True, "ensure": "stopped"}, 0),
            ({"masked": False, "enable": True}, 0),
        ):
            found = Resource.check("app", properties)
            self.assertEqual([key for key, _ in found], ["masked"] * wrong)


class Obstacles(unittest.TestCase):
    def test_not_found(self):
        """A unit that is not there is missing, whatever is wanted of it."""
        for properties, words in (
            ({}, ["Would have started"]),
            ({"enable": True}, ["Would have started", "Would have enabled"]),
            ({"ensure": "stopped", "enable": False}, ["Would have stopped", "Would have disabled"]),
        ):
            error = missing(self, one("nosuch", **properties))
            expect_text(error.message, self)
            self.assertNotIsInstance(error, Unknowable)
            self.assertEqual([action.message for action in error.would], words)

    def test_masked(self):
        """A masked unit that should run or start at boot fails with the fix; stopped is fine."""
        for properties in ({}, {"ensure": "stopped", "enable": True}):
            error = missing(self, one("ccm-pkg01", **properties))
            expect_text(error.message, self)
            self.assertIn("systemctl unmask ccm-pkg01", error.hint)
        self.assertEqual(one("ccm-pkg01", ensure="stopped", enable=False).messages(), [""])

    def test_masked_until_the_next_boot(self):
        """`systemctl unmask` alone leaves a mask in /run, so the fix has --runtime."""
        commands = RecordedHost()
        commands.now("ccm-pkg01.service", UnitFileState="masked-runtime", LoadState="masked")
        error = missing(self, Plan(commands, ("ccm-pkg01", {})))
        expect_text(error.message, self)
        self.assertIn("systemctl unmask --runtime ccm-pkg01", error.hint)

    def test_a_running_masked_unit_is_not_restarted(self):
        """A refresh of a masked unit fails with the fix instead of stopping it for good."""
        commands = RecordedHost()
        commands.now("ccm-pkg01.service", ActiveState="active")
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("ccm-pkg01", {})).messages(refresh=True)
        self.assertIn("systemctl unmask", caught.exception.hint)

    def test_a_broken_unit_file(self):
        """What systemd says of a unit file that it cannot use is the error."""
        error = missing(self, one("bad"))
        expect_text(error.message, self)
        self.assertEqual(one("bad", ensure="stopped").messages(), [""])

    def test_a_unit_without_a_file_cannot_be_enabled(self):
        """enable needs a unit file state."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", UnitFileState="")
        error = missing(self, Plan(commands, ("ccm-daemon", {"enable": True})))
        expect_text(error.message, self)

    def test_a_running_unit_whose_file_is_gone_can_be_stopped(self):
        """Not found is only what neither has a file nor runs."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", LoadState="not-found", UnitFileState="")
        plan = Plan(commands, ("ccm-daemon", {"ensure": "stopped"}))
        expect_text(plan.messages(), self)


class Tables(unittest.TestCase):
    def status(self, **properties):
        lines = shown("ccm-daemon.service", **properties).splitlines()
        return unit.status("x.service", dict(line.split("=", 1) for line in lines))

    def test_active_states(self):
        """The documents' table; reloading is running."""
        for state, running in (
            ("active", True),
            ("reloading", True),
            ("refreshing", True),
            ("inactive", False),
            ("failed", False),
            ("activating", False),
            ("deactivating", False),
        ):
            self.assertIs(self.status(ActiveState=state).running, running, state)

    def test_an_unknown_active_state_is_an_error(self):
        """A state that systemd does not document is not guessed at."""
        with self.assertRaises(ResourceError) as caught:
            self.status(ActiveState="dreaming")
        expect_text(caught.exception, self)

    def test_an_unknown_unit_file_state_is_an_error(self):
        """Nor is one of a unit file, whether `enable` is set or not."""
        with self.assertRaises(ResourceError) as caught:
            self.status(UnitFileState="dreaming")
        expect_text(caught.exception, self)

    def test_unit_file_states(self):
        """Which values of enable each state satisfies."""
        rows = [
            ("enabled", True, False),
            ("enabled-runtime", False, False),
            ("alias", True, False),
            ("static", True, True),
            ("indirect", True, True),
            ("generated", True, True),
            ("transient", True, True),
            ("linked", False, True),
            ("linked-runtime", False, True),
            ("masked", False, True),
            ("masked-runtime", False, True),
            ("disabled", False, True),
            ("", False, False),
            ("bad", False, False),
        ]
        for state, when_true, when_false in rows:
            status = self.status(UnitFileState=state)
            self.assertIs(status.enable_satisfied(True), when_true, state)
            self.assertIs(status.enable_satisfied(False), when_false, state)


class Check(unittest.TestCase):
    def test_names(self):
        """The documents' characters and systemd's are allowed, everything else is refused."""
        for name in (
            "httpd", "nginx.service", "my-app_v2", "app@1", "app@1.service", "a:b~c+d",
            "srv-my\\x2ddata.mount", "app@a\\x2db.service", "-.mount", "-.slice", "a" * 247,
            "alice/app@1.service",
        ):  # fmt: skip
            self.assertEqual(Resource.check(name, {}), [], name)
        for name in ("a; rm -rf /", "a b", "../x", "a/b/c", "/b", "a/", "-H", "@x", "", "x\n",
                     "app@", "é", "-a.mount", "a" * 248):  # fmt: skip
            self.assertEqual([key for key, _ in Resource.check(name, {})], ["name"], name)

    def test_a_template_is_no_service(self):
        """A template without an instance would end the query for all other units."""
        ((_, message),) = Resource.check("app@.service", {})
        expect_text(message, self)


if __name__ == "__main__":
    unittest.main()
