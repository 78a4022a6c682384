"""Packages of consecutive turns are changed in one transaction, each with its own event."""

import os
import shutil
import tempfile
import unittest
from typing import Any, List

from remote_runtime.cancellation import Cancelled
from remote_runtime.effects import PackageEffect
from remote_runtime.packages import batch
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import Installed, Operation, VersionChange
from remote_runtime.system.process.commands import Result
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from .. import fakes
from ..fake_commands import FakeCommands, make_context

SIMULATED = """Inst libb (1 Debian:12 [all])
Inst a (1 Debian:12 [all])
Inst b (1 Debian:12 [all])
Conf libb (1 Debian:12 [all])
"""
SHOWN = """Package: a
Version: 1
Architecture: all

Package: b
Version: 1
Architecture: all
Depends: libx (>= 1) | libb

Package: libb
Version: 1
Architecture: all
"""
NONE = "dpkg 1 all installed install\n"
ALL = NONE + "".join("%s 1 all installed install\n" % name for name in ("a", "b", "c"))
POLICY = "".join(
    "%s:\n  Installed: (none)\n  Candidate: 1\n  Version table:\n     1 500\n" % name
    for name in "abc"
)


class Turns(unittest.TestCase):
    def setUp(self):
        self.commands = FakeCommands()
        self.commands.on("dpkg-query", NONE)
        self.commands.on("apt-cache policy", POLICY)
        self.commands.on("apt-cache show", SHOWN)
        self.commands.on("apt-get", "")
        self.commands.on("apt-get -s", SIMULATED)
        self.commands.on("apt-config dump", "")
        self.installed = ""

    def run_items(self, *names, **options):
        from remote_runtime.packages.apt.package_lists import Lists
        from remote_runtime.packages.apt.readiness import Readiness
        from remote_runtime.registry import Registry

        items = [
            fakes.item("package", name, at, provider="apt", **options.get(name, {}))
            for at, name in enumerate(names)
        ]
        self.context = make_context(self.commands, items, noop=options.get("preview", False))
        self.context.observes = options.get("observes", False)
        self.begun: List[Any] = []
        self.context.before_change = lambda some: self.begun.append(
            ([item.name for item in some], len(self.transactions()))
        )
        registry = Registry(self.context)
        provider = registry.create(items[0]).provider.manager
        provider.lists, provider.admin = Lists("/nonexistent"), self.admin()
        provider.readiness = Readiness("/nonexistent", user=lambda: 0)
        provider._private = list
        self.events: List[Any] = []
        engine = fakes.engine(self.context, registry, self.events)
        return engine.run(items, options.get("fail_on_error", False))

    def admin(self):
        """A directory of dpkg with its text about installed packages, where there is one."""
        directory = tempfile.mkdtemp(prefix="ccm-test-")
        self.addCleanup(shutil.rmtree, directory)
        if self.installed:
            with open(os.path.join(directory, "status"), "w") as file:
                file.write(self.installed)
        return directory

    def transactions(self):
        return [line for line in self.commands.asked if line.startswith("apt-get install")]

    def simulated(self):
        """The packages of each simulated transaction."""
        lines = [line for line in self.commands.asked if line.startswith("apt-get -s")]
        return ["".join(w for w in line.split() if w in ("a", "b", "c")) for line in lines]

    def after(self, *answers):
        """What dpkg-query says once the transactions have begun, one after the other."""
        waiting = list(answers)

        def during():
            if self.commands.asked[-1].startswith("apt-get install") and waiting:
                self.commands.on("dpkg-query", waiting.pop(0))

        self.commands.during = during

    def test_all_begin_before_the_transaction(self):
        """Whoever records what may be changing hears of each package before apt does."""
        self.after(ALL)
        self.run_items("a", "b")
        self.assertEqual(self.begun[:2], [(["a"], 0), (["b"], 0)])

    def test_one_transaction(self):
        """Two packages are one apt-get; the event of each has what came for it."""
        self.after(ALL)
        outcomes = self.run_items("a", "b")
        self.assertEqual([line.split()[-2:] for line in self.transactions()], [["a", "b"]])
        told = [[(c.what, c.before, c.after) for c in o.changes] for o in outcomes]
        self.assertEqual(
            told,
            [
                [("ensure", "absent", "1")],
                [("ensure", "absent", "1"), ("package libb", "absent", "1")],
            ],
        )
        self.assertEqual([o.changed for o in outcomes], [True, True])

    def test_a_hold_is_set_at_its_turn(self):
        """Nothing behind it is changed before: without the hold, apt could change that package."""
        self.commands.on("dpkg-query", NONE + "c 1 all installed install\n")
        self.commands.on("apt-mark", "")
        self.after(NONE + "c 1 all installed install\na 1 all installed install\n", ALL)
        self.run_items("a", "c", "b", c={"properties": {"hold": True}})
        changing = [
            " ".join(line.split()[:2] + line.split()[-1:])
            for line in self.commands.asked
            if line.startswith(("apt-mark hold", "apt-get install"))
        ]
        self.assertEqual(changing, ["apt-get install a", "apt-mark hold c", "apt-get install b"])

    def test_the_lists_are_read_once(self):
        """A transaction changes nothing that the package lists say: they are asked once for all."""
        self.commands.on("apt-get -s", SIMULATED + "Inst c (1 Debian:12 [all])\n")
        self.after(ALL)
        self.run_items("a", "b", "c")
        asked = [line for line in self.commands.asked if line.startswith("apt-cache policy")]
        self.assertEqual(len(asked), 1, self.commands.asked)

    def test_removals(self):
        """Packages that are to go are removed by one apt-get."""
        self.commands.on("dpkg-query", ALL)
        self.commands.on("apt-get -s", "Remv a [1]\nRemv b [1]\n")
        gone = {"properties": {"ensure": "absent"}}
        self.installed = "Package: a\nVersion: 1\n\nPackage: b\nVersion: 1\n"

        def during():
            if self.commands.asked[-1].startswith("apt-get -q -y -o Dpkg::Use-Pty=0 remove"):
                self.commands.on("dpkg-query", NONE)

        self.commands.during = during
        outcomes = self.run_items("a", "b", a=gone, b=gone)
        removed = [
            line
            for line in self.commands.asked
            if line.startswith("apt-get -q -y -o Dpkg::Use-Pty=0 remove")
        ]
        expect_text(removed, self)
        self.assertEqual([o.changed for o in outcomes], [True, True])

    def test_a_failure_is_that_of_its_package(self):
        """What a failed transaction did not reach is tried alone; only the broken one fails."""
        reached = NONE + "a 1 all installed install\n"
        broken = Result(100, "", "dpkg: error processing package b (--configure):\n it broke\n")
        self.commands.on("apt-get install", broken, broken)
        self.after(reached, reached)
        first, second = self.run_items("a", "b")
        self.assertEqual((first.failed, first.changed, second.failed), (False, True, True))
        self.assertEqual([line.split()[-1] for line in self.transactions()], ["b", "b"])
        self.assertIn("it broke", second.errors[0])

    def test_a_package_that_the_next_try_completes(self):
        """If the failed transaction has unpacked it, the retry of the first package completes it,
        and its event shows the change."""
        unpacked = Result(100, "", "dpkg: error processing archive c.deb (--unpack):\n no\n")
        self.commands.on("apt-get install", unpacked, "")
        self.after(NONE, ALL)
        first, second = self.run_items("a", "b")
        self.assertEqual([line.split()[-1] for line in self.transactions()], ["b", "a"])
        self.assertEqual((first.changed, second.changed), (True, True))
        told = [(change.what, change.before, change.after) for change in second.changes]
        self.assertEqual(told[0], ("ensure", "absent", "1"))

    def test_a_download_that_failed_is_tried_again(self):
        """Where nothing but a download failed, each package has its tries alone."""
        failed = Result(100, "", "E: Failed to fetch http://packages.example.com/a.deb  503\n")
        self.commands.on("apt-get install", failed, failed, failed, "")
        self.after(NONE, NONE, NONE, ALL)
        tries = {"properties": {"tries": 3, "try_sleep": "1ms"}}
        outcomes = self.run_items("a", a=tries)
        self.assertEqual([(o.status, o.tries) for o in outcomes], [("failed", 3)])
        self.assertIn(" (3 tries)", outcomes[0].errors[0])
        self.assertEqual(len(self.transactions()), 3)

    def test_a_script_that_failed_is_not_tried_again(self):
        """A transaction that began to change things is final."""
        text = "E: Failed to fetch x\ndpkg: error processing package a (--configure):\n broken\n"
        self.commands.on("apt-get install", Result(100, "", text))
        self.after(NONE)
        outcomes = self.run_items("a", a={"properties": {"tries": 3, "try_sleep": "1h"}})
        self.assertEqual([(o.status, o.tries) for o in outcomes], [("failed", 1)])
        self.assertEqual(len(self.transactions()), 1)

    def test_what_is_a_transaction_of_its_own(self):
        """Packages apart by a check, another wish, a run that ends at a failure, or a removal that
        nobody asked for."""
        checked = {"health_checks": ({"command": "true"},)}
        rows: List[Any] = [
            ({"a": checked}, None),
            ({"b": {"properties": {"install_recommends": False}}}, None),
            ({"b": {"noop": True}}, None),
            ({"fail_on_error": True}, None),
            ({}, SIMULATED + "Remv c [1]\n"),
            ({}, Result(100, "", "E: no")),
        ]
        for options, simulated in rows:
            self.setUp()
            if simulated is not None:
                self.commands.on("apt-get -s", simulated)
            self.after(NONE + "a 1 all installed install\n", ALL)
            self.run_items("a", "b", **options)
            self.assertEqual(self.transactions()[0].split()[-1], "a", options)

    def test_a_package_that_another_needs(self):
        """It comes with the one that needs it, whose event says so, and is found at its turn."""
        simulated = "Inst b (1 Debian:12 [all])\nInst a (1 Debian:12 [all])\n"
        self.commands.on("apt-get -s", simulated)
        self.commands.on("apt-cache show", SHOWN.replace("Package: a", "Package: a\nDepends: b"))
        self.commands.on("apt-get install", "Unpacking b (1) ...\nUnpacking a (1) ...\n")
        self.after(ALL)
        first, second = self.run_items("a", "b")
        self.assertEqual([line.split()[-1] for line in self.transactions()], ["a"])
        self.assertEqual([change.what for change in first.changes], ["ensure", "package b"])
        self.assertFalse(second.changed)

    def test_a_cancelled_run(self):
        """A package that was changed with an earlier one has its event; nothing more is started."""
        self.after(ALL)
        after: Any = self.commands.during

        def during():
            after()
            if self.transactions():
                self.context.cancellation.set("ctrl-c")

        self.commands.during = during
        with self.assertRaises(Cancelled):
            self.run_items("a", "b", "c", c={"require": ("package#a",)})
        changed = [event["name"] for event in self.events if event["changed"]]
        self.assertEqual((changed, len(self.transactions())), (["a", "b"], 1))

    def test_a_preview_simulates_one_transaction(self):
        """Each event predicts its part, which is that of the push."""
        self.after(ALL)
        pushed = [outcome.changes for outcome in self.run_items("a", "b")]
        self.setUp()
        outcomes = self.run_items("a", "b", preview=True)
        self.assertEqual(self.simulated(), ["ab"])
        self.assertEqual([outcome.changes for outcome in outcomes], pushed)
        self.assertEqual([outcome.prediction for outcome in outcomes], ["certain", "certain"])
        self.assertEqual(self.transactions(), [])

    def test_a_preview_of_separate_transactions(self):
        """It simulates each one that a push would run, also that of a plan file."""
        rows: List[Any] = [
            {"b": {"properties": {"install_recommends": False}}},
            {"b": {"noop": True}},
            {"fail_on_error": True},
            {"observes": True},
        ]
        for options in rows:
            self.setUp()
            each = ["Inst %s (1 Debian:12 [all])\n" % name for name in "ab"]
            self.commands.on("apt-get -s", *each)
            self.run_items("a", "b", preview=True, **options)
            self.assertEqual(self.simulated(), ["a", "b"], options)

    def test_a_preview_of_a_transaction_that_fails(self):
        """It simulates each package alone, and only the broken one would fail."""
        broken, alone = Result(100, "", "E: no"), "Inst a (1 Debian:12 [all])\n"
        self.commands.on("apt-get -s", broken, alone, broken)
        first, second = self.run_items("a", "b", preview=True)
        self.assertEqual(self.simulated(), ["ab", "a", "b"])
        self.assertEqual((first.failed, first.changed, second.failed), (False, True, True))


class Predictions(unittest.TestCase):
    """Predictions for later resources, which come from the transaction of the first."""

    def setUp(self):
        self.commands = FakeCommands()
        items = [fakes.item("package", name, at) for at, name in enumerate("ab")]
        self.context = make_context(self.commands, items, noop=True)
        self.manager = SimulatingManager(self.context)
        self.items = items

    def predict(self, at: int) -> Any:
        others = [
            batch.PlannedChange(item, Operation(item.name), Installed()) for item in self.items
        ]
        with self.context.for_resource(self.items[at], noop=True):
            return batch.predict(
                self.manager, Operation(self.items[at].name), lambda: others[at + 1 :]
            )

    def test_the_planned_state_must_be_that_of_the_transaction(self):
        """If the first package is not planned as simulated, the next one is simulated alone."""
        states: List[Any] = [
            ([PackageEffect("a", "1")], []),
            ([PackageEffect("a", "2")], ["b"]),
            ([], ["b"]),
            ([PackageEffect("a", "1"), PackageEffect("x", "1")], ["b"]),
        ]
        for effects, alone in states:
            self.setUp()
            self.assertEqual(self.predict(0), [VersionChange("a", "", "1")])
            self.context.expect(effects, Uncertainty(), "package#a")
            self.assertEqual(self.predict(1), [VersionChange("b", "", "1")])
            self.assertEqual(self.manager.simulated, alone, effects)

    def test_a_hold_in_between(self):
        """A transaction before it says nothing about one after it."""
        self.predict(0)
        self.context.expect([PackageEffect("a", "1")], Uncertainty(), "package#a")
        self.manager.plan_hold("c", True)
        self.predict(1)
        self.assertEqual(self.manager.simulated, ["b"])


class SimulatingManager(PackageManager):
    """Predicts version 1 of each package; ``simulated`` has those that it simulated alone."""

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.simulated: List[str] = []

    def predict(self, operation):
        self.simulated.append(operation.name)
        return [VersionChange(operation.name, "", "1")]

    def predict_together(self, operations):
        return [[VersionChange(operation.name, "", "1")] for operation in operations]


class Shares(unittest.TestCase):
    def test_who_brings_what(self):
        """A dependency belongs to the first that needs it, also by way of another."""
        changes = [VersionChange(name, "", "1") for name in ("a", "b", "x", "y", "z")]
        found = batch.shares(
            [Operation("a"), Operation("b")], changes, {"a": ["x"], "x": ["y", "a"], "b": ["x"]}
        )
        names = [[change.name for change in share] for share in found]
        self.assertEqual(names, [["a", "x", "y"], ["b", "z"]])


if __name__ == "__main__":
    unittest.main()
