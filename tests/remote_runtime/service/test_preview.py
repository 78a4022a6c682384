"""What a preview says of services once earlier resources would have changed something."""

import unittest
from typing import List

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.content import Content
from remote_runtime.effects import Effect, PathEffect, UnitEffect, UnknownEffect
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from .plan import Plan, RecordedHost

ETC = "/etc/systemd/system"
RUN = "[Service]\nExecStart=/bin/sh\n"
WANTED = RUN + "[Install]\nWantedBy=multi-user.target\n"


class Text(Content):
    """A text that a file is to hold."""

    def __init__(self, text):
        self._data = text.encode()
        self.size = len(self._data)

    def chunks(self):
        yield self._data


class PreviewTest(unittest.TestCase):
    def plan(self, *services, **files):
        self.host = RecordedHost()
        for name in ("x.service", "y.service", "t@1.service"):
            self.host.units[name] = self.host.units["nosuch.service"].replace("nosuch", name[:-8])
        plan = Plan(self.host, *services)
        directories = [PathEffect(path, "directory") for path in ("/etc/systemd", ETC)]
        plan.context.expect(directories, Uncertainty(), "file#folders")
        self.write(plan, **files)
        return plan

    def write(self, plan, **files):
        for name, text in files.items():
            path = "%s/%s.service" % (ETC, name.replace("_at_", "@"))
            effect = PathEffect(path, "file", 0o644, 0, 0, Text(text))
            plan.context.expect([effect], Uncertainty(), "file#unit")

    def previewed(self, plan):
        """Preview each service in turn, so that what one does counts for the next."""
        said = []
        with plan.noop():
            for resource in plan.resources:
                actions = resource.actions(resource.observe(), False)
                for action in actions:
                    action.preflight()
                    plan.context.expect(action.effects, Uncertainty(), resource.item.id)
                said.append(resource.describe(actions))
        return said

    def test_a_planned_unit_file(self):
        """Its text says whether it can be enabled, and that its instance is there."""
        wish = {"enable": True}
        plan = self.plan(("x", wish), ("y", wish), ("t@1", wish), x=WANTED, y=RUN, t_at_=RUN)
        expect_text(self.previewed(plan), self)

    def test_what_a_planned_unit_file_cannot(self):
        """What systemd would refuse or could not keep running fails in the preview."""
        rows = [
            ("", "x is masked"),
            ("[Service]\n", "x cannot be used"),
            ("[Service]\nExecStart=/nowhere\n", "runs /nowhere, which does not exist"),
            (RUN + "Type=oneshot\n", "does not stay active"),
            ("[Unit]\nRefuseManualStart=yes\n" + RUN, "its unit file has RefuseManualStart"),
        ]
        for text, expected in rows:
            with self.assertRaises(ResourceError) as caught:
                self.previewed(self.plan(("x", {}), x=text))
            self.assertIn(expected, caught.exception.message)

    def test_a_reload(self):
        """Whether a planned text can be reloaded is known, and whether its program is there."""
        for line, expected in (
            ("ExecReload=/bin/true\n", "Would have reloaded via subscribe"),
            ("Type=notify-reload\n", "Would have reloaded via subscribe"),
            ("", "Would have restarted via subscribe"),
            ("ExecReload=/nowhere\n", "would not be reloaded: it runs /nowhere, which does not"),
        ):
            plan = self.plan(("x", {"reload": True}), x=RUN + line)
            self.host.units["x.service"] = self.host.units["ccm-daemon.service"].replace(
                "ccm-daemon", "x"
            )
            (resource,) = plan.resources
            with plan.noop():
                actions = resource.actions(resource.observe(), True)
                try:
                    actions[0].preflight()
                    said = resource.describe(actions)
                except ResourceError as error:
                    said = error.message
            self.assertIn(expected, said, line)
            reloaded = [e.reloaded for e in actions[0].effects if isinstance(e, UnitEffect)]
            self.assertEqual(reloaded, ["restarted" not in expected])

    def test_a_unit_file_that_goes(self):
        """A service whose file is removed before cannot be enabled; what runs can be stopped."""
        commands = RecordedHost()
        plan = Plan(commands, ("ccm-app@1", {"enable": True}))
        gone = [PathEffect("/etc/systemd", "absent")]
        gone += [PathEffect("/%s/systemd/system" % f, "absent") for f in ("usr/lib", "lib", "run")]
        plan.context.expect(gone, Uncertainty(), "file#gone")
        with self.assertRaises(Missing) as caught:
            self.previewed(plan)
        expect_text(caught.exception.message, self)

    def test_a_running_unit_whose_file_goes(self):
        """Stopped, it is not there any more, which fails the push as well."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", LoadState="not-found")
        plan = Plan(commands, ("ccm-daemon", {"ensure": "stopped"}))
        with self.assertRaises(UnsettledError) as caught:
            self.previewed(plan)
        self.assertIn("unit ccm-daemon.service disappears", caught.exception.message)

    def test_a_unit_that_a_package_takes_along(self):
        """It is not there any more, stopped or not."""
        file = PathEffect("/lib/systemd/system/ccm-daemon.service", "absent")
        gone: List[Effect] = [
            file,
            PathEffect("/usr" + file.path, "absent"),
            UnitEffect("ccm-daemon.service", False),
        ]
        for ensure in ("stopped", "running"):
            plan = Plan(RecordedHost(), ("ccm-daemon", {"ensure": ensure}))
            plan.context.expect(gone, Uncertainty(), "package#ccm-daemon")
            with self.assertRaises(Missing) as caught:
                self.previewed(plan)
            expect_text(caught.exception.message, self)

    def test_earlier_services_count(self):
        """One that another stops, or starts, is so when its turn comes."""
        rival = "[Unit]\nConflicts=ccm-daemon.service\n" + RUN
        plan = self.plan(("x", {}), ("ccm-daemon", {"ensure": "stopped"}), x=rival)
        self.assertEqual(self.previewed(plan), ["Would have started", ""])
        puller = "[Unit]\nWants=y.service\n" + RUN
        plan = self.plan(("x", {}), ("y", {}), x=puller, y=RUN)
        self.assertEqual(self.previewed(plan), ["Would have started", ""])
        bound = "[Unit]\nBindsTo=ccm-daemon.service\n" + RUN
        plan = self.plan(("ccm-daemon", {"ensure": "stopped"}), ("x", {}), x=bound)
        plan.context.expect([UnitEffect("x.service", active=True)], Uncertainty(), "service#x")
        expect_text(self.previewed(plan), self)

    def test_a_path_unit_that_watches_what_is_planned(self):
        """It may start what stands still; nobody can tell of what."""
        for setting, watched in (
            ("PathChanged=/srv/f", True),
            ("PathExistsGlob=/srv/*", True),
            ("DirectoryNotEmpty=/srv", True),
            ("PathExists=/srv/fg", False),
        ):
            plan = self.plan(("nosuch", {"ensure": "stopped"}), nosuch=RUN)
            nothing = self.host.units["nosuch.service"].replace("nosuch.service", "w.path")
            self.host.units["w.path"] = nothing.replace("=inactive", "=active")
            self.host.units["nosuch.service"] += "\nTriggeredBy=w.path w.timer\n"
            for path, text in ((ETC + "/w.path", "[Path]\n%s\n" % setting), ("/srv/f", "")):
                effect = PathEffect(path, "file", 0o644, 0, 0, Text(text))
                plan.context.expect([effect], Uncertainty(), "file#w")
            if watched:
                with self.assertRaisesRegex(Unknowable, "w.path watches /srv/f and may start it"):
                    self.previewed(plan)
            else:
                self.assertEqual(self.previewed(plan), [""])

    def test_units_that_a_mount_takes_along(self):
        """What has its directory on a mount stops with that."""
        below = "[Service]\nWorkingDirectory=/srv/x\nExecStart=/bin/sh\n"
        plan = self.plan(("srv.mount", {"ensure": "stopped"}), ("x", {}), x=below)
        nothing = self.host.units["nosuch.service"]
        self.host.units["srv.mount"] = nothing.replace("nosuch.service", "srv.mount")
        with plan.noop():
            units = plan.systemd._planned_units()
            self.assertEqual(units.by("Requires", "srv.mount"), ["x.service"])
            self.assertEqual(units.by("BindsTo", "srv.mount"), [])

    def test_units_that_one_stops_or_lets_go(self):
        """By what either of them says; what stops unneeded may stop or not."""
        rows = [
            ("[Unit]\nPropagatesStopTo=y.service\n" + RUN, RUN, "Would have started"),
            (RUN, "[Unit]\nStopPropagatedFrom=x.service\n" + RUN, "Would have started"),
            (RUN, RUN, ""),
        ]
        running = [UnitEffect(name, active=True) for name in ("x.service", "y.service")]
        for one, other, expected in rows:
            plan = self.plan(("x", {"ensure": "stopped"}), ("y", {}), x=one, y=other)
            plan.context.expect(running, Uncertainty(), "service#both")
            self.assertEqual(self.previewed(plan), ["Would have stopped", expected], one + other)
        lazy = "[Unit]\nStopWhenUnneeded=yes\n" + RUN
        plan = self.plan(("x", {"ensure": "stopped"}), x="[Unit]\nWants=y.service\n" + RUN, y=lazy)
        plan.context.expect(running, Uncertainty(), "service#both")
        with plan.noop():
            effects = plan.systemd.consequences("stop", "x")
        fogs = [each for each in effects if isinstance(each, UnknownEffect)]
        self.assertEqual([fog.covers("unit", "y.service", True) for fog in fogs], [True])

    def test_units_that_another_upholds(self):
        """Whether such a unit stays stopped is a race."""
        keeper = "[Unit]\nUpholds=y.service\n" + RUN
        plan = self.plan(("x", {}), ("y", {"ensure": "stopped"}), x=keeper, y=RUN)
        running = [UnitEffect(name, active=True) for name in ("x.service", "y.service")]
        plan.context.expect(running, Uncertainty(), "service#both")
        with self.assertRaisesRegex(Unknowable, "x.service upholds y.service"):
            self.previewed(plan)

    def test_units_that_only_a_file_is_planned_of(self):
        """They stop with what they require, too."""
        plan = self.plan(
            ("x", {"ensure": "stopped"}), x=RUN, y="[Unit]\nRequires=x.service\n" + RUN
        )
        running = [UnitEffect(name, active=True) for name in ("x.service", "y.service")]
        plan.context.expect(running, Uncertainty(), "service#both")
        with plan.noop():
            effects = plan.systemd.consequences("stop", "x")
        stopped = [e.name for e in effects if isinstance(e, UnitEffect) and e.active is False]
        self.assertEqual(stopped, ["x.service", "y.service"])

    def test_units_that_a_planned_text_upholds(self):
        """What a running unit will uphold may start by the reload alone."""
        for text, running in (("[Unit]\nUpholds=y.service\n" + RUN, True), (RUN, False)):
            plan = self.plan(("y", {}), x=text, y=RUN)
            plan.context.expect([UnitEffect("x.service", active=True)], Uncertainty(), "service#x")
            if running:
                with self.assertRaisesRegex(Unknowable, "x.service upholds y.service"):
                    self.previewed(plan)
            else:
                expect_text(self.previewed(plan), self)

    def test_names_that_systemctl_quotes(self):
        """What is bound to a unit goes with it, whether or not there is a backslash in its name."""
        name = "b\\x2d1.service"
        plan = self.plan(("ccm-daemon", {"ensure": "stopped"}), ("x", {"ensure": "stopped"}))
        own = self.host.units["ccm-daemon.service"]
        self.host.now("ccm-daemon.service", BoundBy='"%s"' % name.replace("\\", "\\\\"))
        self.host.units[name] = own.replace("Id=ccm-daemon.service", "Id=" + name)
        self.host.units[name] += "\nBoundBy=x.service"
        self.host.units["x.service"] = own.replace("Id=ccm-daemon.service", "Id=x.service")
        self.assertEqual(self.previewed(plan), ["Would have stopped", ""])

    def test_twice(self):
        """What one resource starts and enables another finds so, and its links are there."""
        wish = {"enable": True}
        plan = self.plan(("x", wish), ("x.service", wish), x=WANTED)
        self.assertEqual(self.previewed(plan), ["Would have started, would have enabled", ""])
        with plan.noop():
            link = ETC + "/multi-user.target.wants/x.service"
            self.assertEqual(plan.context.files.link(link), ETC + "/x.service")

    def test_what_packages_and_commands_do(self):
        """A unit of which only the effect is known is as that says."""
        plan = self.plan(("x", {"enable": True}))
        effect = UnitEffect("x.service", active=True, enabled=True)
        plan.context.expect([effect], Uncertainty(), "package#x")
        self.assertEqual(self.previewed(plan), [""])

    def test_a_change_that_systemd_has_not_read(self):
        """Without anything planned, files that changed count as after the reload."""
        commands = RecordedHost()
        commands.now("ccm-daemon.service", NeedDaemonReload="yes")
        plan = Plan(commands, ("ccm-daemon", {"enable": True}))
        with self.assertRaises(Missing) as caught:
            self.previewed(plan)  # nothing of the recorded host is on this one
        expect_text(caught.exception.message, self)

    def test_a_running_unit_that_becomes_bound(self):
        """systemd stops it when it reads the file, unless what it is bound to runs by then."""
        bound = "[Unit]\nBindsTo=y.service\n" + RUN
        for other, expected in ((("y", {}), ["Would have started", ""]), (None, None)):
            plan = self.plan(*([other] if other else []), ("x", {}), x=bound, y=RUN)
            running = self.host.units["x.service"].replace("=inactive", "=active")
            self.host.units["x.service"] = running
            if expected:
                self.assertEqual(self.previewed(plan), expected)
            else:
                with self.assertRaises(Unknowable) as caught:
                    self.previewed(plan)
                expect_text(caught.exception, self)

    def test_another_name_of_a_unit(self):
        """It cannot be enabled by that name, which systemd refuses."""
        commands = RecordedHost()
        commands.now("ccm-app@1.service", Id="own.service", ActiveState="active")
        with self.assertRaises(ResourceError) as caught:
            self.previewed(Plan(commands, ("ccm-app@1", {"enable": True})))
        expect_text(caught.exception.message, self)

    def test_a_name_that_comes_to_lead_elsewhere(self):
        """What runs behind an alias is the unit that the link will lead to, or none."""
        link = ETC + "/ccm-app@1.service"
        for target, expected in (("y.service", ["Would have started"]), ("x.service", [""])):
            plan = self.plan(("ccm-app@1", {}), x=RUN, y=RUN)
            self.host.now("ccm-app@1.service", Id="x.service", ActiveState="active")
            self.host.units["x.service"] = self.host.units["ccm-app@1.service"]
            effects = [PathEffect(link, "symlink", target="%s/%s" % (ETC, target))]
            plan.context.expect(effects, Uncertainty(), "service#x")
            self.assertEqual(self.previewed(plan), expected)
        plan = self.plan(("ccm-app@1", {}), x=RUN)
        self.host.now("ccm-app@1.service", Id="x.service", ActiveState="active")
        plan.context.expect([PathEffect(link, "absent")], Uncertainty(), "service#x")
        with self.assertRaises(Missing) as caught:
            self.previewed(plan)
        expect_text(caught.exception.message, self)


if __name__ == "__main__":
    unittest.main()
