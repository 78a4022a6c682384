"""What a change takes away or interrupts beside what it names."""

import unittest

from remote_runtime.effects import (
    AccountEffect,
    PackageEffect,
    PathEffect,
    UnitEffect,
    UnknownEffect,
    everything,
)
from remote_runtime.reporting.effects import MAX_EFFECTS, losses
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty


def told(*effects):
    return [(one["kind"], one["name"], one["state"]) for one in losses(effects)]


class TestLosses(unittest.TestCase):
    def test_packages_and_accounts_that_go(self):
        """Those that come or change are no loss, nor is a path that goes by itself."""
        self.assertEqual(
            told(
                PackageEffect("a", "1"),
                PackageEffect("b", ""),
                AccountEffect("user", "new"),
                PathEffect("/x", "absent"),
            ),
            [("package", "b", "absent")],
        )

    def test_paths_that_go_with_an_account(self):
        """The home of a user that goes is told: no change names it."""
        self.assertEqual(
            told(AccountEffect("user", "bob", present=False), PathEffect("/home/bob", "absent")),
            [("user", "bob", "absent"), ("path", "/home/bob", "absent")],
        )

    def test_units(self):
        """One that ends and runs again is restarted; what does not run now cannot be stopped."""
        self.assertEqual(
            told(
                UnitEffect("a", active=False, ended=True),
                UnitEffect("b", active=False, ended=True),
                UnitEffect("b", active=True),
                UnitEffect("c", active=True, ended=True),
                UnitEffect("d", active=False),
                UnitEffect("d", active=True),
                UnitEffect("e", active=True),
            ),
            [("unit", "a", "stopped"), ("unit", "b", "restarted"), ("unit", "c", "restarted")],
        )

    def test_what_nobody_can_tell(self):
        """It is told of a package, and of what says nothing of its effects; a command is told by
        its change."""
        unknown = UnknownEffect(Uncertainty(UNKNOWN, "not known"), lambda *_: False)
        likely = UnknownEffect(Uncertainty(ASSUMED, "said by one host"), everything)
        self.assertEqual(
            told(PackageEffect("a", "1"), unknown, likely), [("unknown", "not known", "unknown")]
        )
        self.assertEqual(told(unknown, UnitEffect("a", active=True)), [])
        self.assertEqual(told(likely), [("unknown", "said by one host", "unknown")])
        self.assertEqual(told(likely._replace(text="/bin/true")), [])

    def test_there_is_a_bound(self):
        """What is beyond it is counted as unknown, never left out."""
        found = told(*[PackageEffect("p%d" % n, "") for n in range(MAX_EFFECTS + 7)])
        self.assertEqual(len(found), MAX_EFFECTS + 1)
        self.assertEqual(found[-1], ("unknown", "7 more effects", "unknown"))
