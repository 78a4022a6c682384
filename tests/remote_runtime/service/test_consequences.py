"""What happens to other units and to directories once one is started, stopped or enabled."""

import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.effects import MountEffect, PathEffect, UnitEffect, UnknownEffect, once
from remote_runtime.units.preview.unit_effects import UnitEffects, unfinished

from ..fakes import FakeAccounts, context
from .fake_units import FakeUnits

RUN = "[Service]\nExecStart=/bin/sleep 9\n"


class ConsequencesTest(unittest.TestCase):
    def setUp(self):
        self.context = context(noop=True, accounts=FakeAccounts({"ccm-app": 4711}))

    def of(self, verb, name, texts, running=()):
        self.units = FakeUnits({k + ".service": v for k, v in texts.items()})
        self.units.running = [other + ".service" for other in running]
        return UnitEffects(self.context, self.units).of(verb, name + ".service")

    def active(self, verb, name, texts, running=()):
        effects = self.of(verb, name, texts, running)
        return {e.name[: -len(".service")]: e.active for e in effects if isinstance(e, UnitEffect)}

    def test_a_start_takes_others_along(self):
        """What is required or wanted comes up if it can, what conflicts goes, both ways."""
        texts = {
            "x": "[Unit]\nRequires=a.service\nWants=b.service c.service lost.service\n" + RUN,
            "a": "[Unit]\nBindsTo=d.service\n" + RUN,
            "b": "[Service]\nExecStart=/nowhere\n",
            "c": RUN,
            "d": RUN,
            "rival": "[Unit]\nConflicts=x.service\n" + RUN,
            "asleep": "[Unit]\nConflicts=x.service\n" + RUN,
        }
        self.assertEqual(
            self.active("start", "x", texts, ["c", "rival"]),
            {"x": True, "a": True, "d": True, "rival": False},
        )

    def test_a_stop_takes_others_along(self):
        """What requires, is bound to or part of a unit stops with it, if it runs."""
        texts = {
            "x": RUN,
            "a": "[Unit]\nRequires=x.service\n" + RUN,
            "b": "[Unit]\nBindsTo=a.service\n" + RUN,
            "c": "[Unit]\nPartOf=x.service\n" + RUN,
            "d": "[Unit]\nWants=x.service\n" + RUN,
            "e": "[Unit]\nRequires=x.service\n" + RUN,
            "f": "[Unit]\nRequisite=x.service\n" + RUN,
        }
        self.assertEqual(
            self.active("stop", "x", texts, "xabcdf"),
            {"x": False, "a": False, "b": False, "c": False, "f": False},
        )

    def test_a_restart_takes_others_along(self):
        """What runs and depends on a unit is restarted, too, by its text as it is then."""
        texts = {
            "x": RUN,
            "a": "[Unit]\nRequires=x.service\n" + RUN,
            "b": "[Unit]\nBindsTo=a.service\n" + RUN,
            "asleep": "[Unit]\nPartOf=x.service\n" + RUN,
        }
        self.assertEqual(
            self.active("restart", "x", texts, "xab"), {"x": True, "a": True, "b": True}
        )
        effects = self.of("restart", "x", texts, "xab")
        ended = {e.name for e in effects if isinstance(e, UnitEffect) and e.ended}
        self.assertEqual(ended, {"x.service", "a.service", "b.service"})
        texts["b"] = "[Unit]\nBindsTo=a.service\n[Service]\nExecStart=/nowhere\n"
        with self.assertRaisesRegex(Unknowable, "b.service is restarted with x.service and runs"):
            self.active("restart", "x", texts, "xab")

    def test_what_starts_together_and_conflicts(self):
        """Which of them systemd leaves out is its own decision."""
        texts = {
            "x": "[Unit]\nWants=y.service z.service\n" + RUN,
            "y": RUN,
            "z": "[Unit]\nConflicts=y.service\n" + RUN,
        }
        with self.assertRaisesRegex(Unknowable, "y.service starts with z.service and conflicts"):
            self.active("start", "x", texts)

    def test_what_a_running_unit_upholds(self):
        """It starts again whenever it stops, so nobody can tell of what stops or starts it."""
        texts = {
            "x": "[Unit]\nUpholds=y.service\n" + RUN,
            "y": RUN,
            "rival": "[Unit]\nConflicts=y.service\n" + RUN,
            "both": "[Unit]\nUpholds=y.service\nConflicts=y.service\n" + RUN,
        }
        for verb, name, running, why in (
            ("stop", "y", "xy", "x.service upholds y.service and may start it immediately"),
            ("start", "rival", "xy", "x.service upholds y.service"),
            ("start", "both", "", "both.service upholds y.service, which conflicts with both"),
            ("start", "x", ["rival"], "x.service upholds y.service, which conflicts with rival"),
        ):
            with self.assertRaisesRegex(Unknowable, why):
                self.active(verb, name, texts, running)
        self.assertEqual(self.active("start", "x", texts), {"x": True, "y": True})
        self.assertEqual(self.active("stop", "y", texts, "y"), {"y": False})

    def test_slices_come_along(self):
        """Those that a unit runs in, with those around them; the processes in one stop with it."""
        self.units = FakeUnits(
            {"x.service": "[Service]\nSlice=a-b.slice\n", "a-b.slice": "", "a.slice": ""}
        )
        found = UnitEffects(self.context, self.units).of("start", "x.service")
        active = {e.name: e.active for e in found if isinstance(e, UnitEffect)}
        self.assertEqual(active, {"x.service": True, "a-b.slice": True, "a.slice": True})
        fog = UnitEffects(self.context, self.units).of("stop", "a.slice")[-1]
        assert isinstance(fog, UnknownEffect)
        self.assertTrue(fog.covers("unit", "x.service", True))
        self.assertFalse(fog.covers("unit", "a.slice", True))

    def test_what_starts_others_at_once(self):
        """A path unit, and a timer that counts from the past, may; others do not."""
        for name, text, other in (
            ("w.path", "[Path]\nPathExists=/x\n", "w.service"),
            ("w.path", "[Path]\nUnit=other.service\n", "other.service"),
            ("w.timer", "[Timer]\nOnBootSec=1\n", "w.service"),
            ("w.timer", "[Timer]\nOnCalendar=daily\n", ""),
            ("w.service", RUN, ""),
        ):
            units = FakeUnits({name: text})
            fogs = [e for e in UnitEffects(self.context, units).of("start", name)
                    if isinstance(e, UnknownEffect)]  # fmt: skip
            self.assertEqual(
                [fog.covers("unit", other, True) for fog in fogs], [True] if other else []
            )

    def test_what_a_failure_may_leave(self):
        """Some of the links, or of what came along; a unit whose start fails does not run."""
        install = "[Install]\nWantedBy=a.target\nAlias=z.service\n"
        texts = {"x": "[Unit]\nWants=y.service\n" + install + RUN, "y": RUN}
        link = "/etc/systemd/system/a.target.wants/x.service"
        for verb, covered, others in (
            ("enable", [("path", link), ("unit", "x.service"), ("unit", "z.service")],
             [("unit", "y.service"), ("user", "x.service")]),
            ("start", [("unit", "y.service")], [("unit", "x.service"), ("path", link)]),
            ("restart", [("unit", "x.service")], []),
        ):  # fmt: skip
            (fog,) = unfinished(verb, "x.service", self.of(verb, "x", texts))
            for kind, value in covered + others:
                there = verb != "enable" or value == "x.service"
                self.assertEqual(fog.covers(kind, value, there), (kind, value) in covered, value)
                self.assertTrue(there or not fog.covers(kind, value, True))
        self.assertEqual(
            unfinished("start", "x.service", [UnitEffect("x.service", active=True)]), []
        )

    def test_mounts_come_first(self):
        """Those that a unit needs for its paths come along; what it makes stands on them."""
        mount = "[Mount]\nWhat=tmpfs\nType=tmpfs\n"
        units = FakeUnits(
            {
                "x.service": RUN + "StateDirectory=ccm-x\nWorkingDirectory=/srv/ccm-x/y\n",
                "srv-ccm\\x2dx.mount": mount,
                "srv-ccm\\x2dx-y.mount": mount,
                "var-lib-ccm\\x2dx.mount": mount,
                "var-log-ccm\\x2dx.mount": mount,
            }
        )
        effects = UnitEffects(self.context, units).of("start", "x.service")
        mounts = [e.path for e in effects if isinstance(e, MountEffect)]
        self.assertEqual(mounts, ["/srv/ccm-x", "/srv/ccm-x/y", "/var/lib/ccm-x"])
        made = effects[-1]
        assert isinstance(made, PathEffect)
        self.assertEqual(made.path, "/var/lib/ccm-x")

    def test_a_mount_that_stops(self):
        """What it hid nobody can tell."""
        units = FakeUnits({"srv-x.mount": "[Mount]\nWhat=tmpfs\nType=tmpfs\n"})
        units.running = ["srv-x.mount"]
        _, gone, fog = UnitEffects(self.context, units).of("stop", "srv-x.mount")
        self.assertEqual(gone, MountEffect("/srv/x", present=False))
        assert isinstance(fog, UnknownEffect)
        self.assertTrue(fog.covers("path", "/srv/x/y", False))

    def test_disabling_what_is_linked_from_elsewhere(self):
        """The link to the unit's file goes as well."""
        units = FakeUnits({"x.service": RUN})
        units.from_elsewhere = ["x.service"]
        effects = UnitEffects(self.context, units).of("disable", "x.service")
        self.assertIn(PathEffect("/lib/x.service", "absent"), effects)

    def test_directories(self):
        """The directories of the unit come with its start, that in /run goes with its stop."""
        service = (
            RUN + "User=ccm-app\nGroup=7\nRuntimeDirectory=ccm-x/y\nRuntimeDirectoryMode=0750\n"
        )
        texts = {"x": service + "StateDirectory=ccm-x\n"}
        self.assertEqual(
            self.of("start", "x", texts)[1:],
            once(
                [
                    PathEffect("/run/ccm-x", "directory", 0o755, 0, 0),
                    PathEffect("/run/ccm-x/y", "directory", 0o750, 4711, 7),
                    PathEffect("/var/lib/ccm-x", "directory", 0o755, 4711, 7),
                ]
            ),
        )
        gone = once([PathEffect("/run/ccm-x/y", "absent")])
        self.assertEqual(self.of("stop", "x", texts)[1:], gone)
        self.assertEqual(self.of("restart", "x", texts)[:1], gone)
        kept = {"x": texts["x"] + "RuntimeDirectoryPreserve=yes\n"}
        self.assertEqual(self.of("stop", "x", kept)[1:], [])

    def test_modes_that_are_none(self):
        """They are left out, as systemd leaves them out."""
        text = RUN + "StateDirectory=ccm-x\nStateDirectoryMode=0888\n"
        made = PathEffect("/var/lib/ccm-x", "directory", 0o755, 0, 0)
        self.assertEqual(self.of("start", "x", {"x": text})[1:], once([made]))
        units = FakeUnits({"a.mount": "[Mount]\nWhere=/a\nType=tmpfs\nOptions=mode=u+x\n"})
        effect = UnitEffects(self.context, units).of("start", "a.mount")[-1]
        assert isinstance(effect, MountEffect)
        self.assertEqual(effect.mode, 0o1777)

    def test_masks(self):
        """A link is made, and taken away where it is."""
        path = "/etc/systemd/system/x.service"
        self.assertEqual(
            self.of("mask", "x", {"x": RUN}),
            [UnitEffect("x.service", masked=True), PathEffect(path, "symlink", target="/dev/null")],
        )
        self.units = FakeUnits({"x.service": ""})
        self.units.linked = [path]
        self.assertEqual(
            UnitEffects(self.context, self.units).of("unmask", "x.service"),
            [UnitEffect("x.service", masked=False), PathEffect(path, "absent")],
        )

    def test_enabling(self):
        """The links are made, those of what goes along too, and removed again."""
        install = "[Install]\nWantedBy=a.target\nAlso=y.service\n"
        texts = {"x": RUN + install, "y": RUN + "[Install]\nAlias=z.service\n"}
        etc = "/etc/systemd/system/"
        self.assertEqual(
            self.of("enable", "x", texts),
            [
                UnitEffect("x.service", enabled=True),
                PathEffect(etc + "a.target.wants/x.service", "symlink", target="/lib/x.service"),
                UnitEffect("y.service", enabled=True),
                PathEffect(etc + "z.service", "symlink", target="/lib/y.service"),
            ],
        )
        self.of("disable", "x", texts)
        self.units.linked = [etc + "a.target.wants/x.service"]
        effects = UnitEffects(self.context, self.units).of("disable", "x.service")
        self.assertEqual(
            effects[:2],
            [UnitEffect("x.service", enabled=False), PathEffect(self.units.linked[0], "absent")],
        )


if __name__ == "__main__":
    unittest.main()
