"""Which packages need which, and what each of several operations changes."""

import unittest

from remote_runtime.packages.apt import dependencies as apt_dependencies
from remote_runtime.packages.package_info import Operation, VersionChange

SHOWN = """Package: a
Version: 1
Depends: b (>= 1) | c, mail-server
Recommends: d:any

Package: b
Version: 1

Package: d
Version: 1

Package: e
Version: 1
Provides: mail-server (= 2), other
"""


INSTALLED = "Package: a\nVersion: 1\n\nPackage: b\nVersion: 1\n\nPackage: c\nVersion: 1\n"


class Needs(unittest.TestCase):
    def test_fields(self):
        """Versions and architectures are left out; a name that is provided stands for who does."""
        self.assertEqual(
            apt_dependencies.needs(SHOWN), {"a": ["b", "e", "d"], "b": [], "d": [], "e": []}
        )

    def test_what_is_not_one_transaction(self):
        """One that removes what nobody names, or does not change all that is named."""
        a, b = Operation("a"), Operation("b")
        come = [VersionChange("a", "", "1"), VersionChange("b", "", "1")]
        gone = VersionChange("c", "1", "")

        def shares(operations, changes, installed=INSTALLED):
            return apt_dependencies.shares(
                operations, changes, lambda versions: SHOWN, lambda: installed
            )

        self.assertEqual(shares([a, b], come), [come, []])
        self.assertIsNone(shares([a, b], [*come, gone]))
        self.assertIsNone(shares([a, Operation("x")], come))
        removals = [Operation("a", removal=True), Operation("c", removal=True)]
        left = VersionChange("a", "1", "")
        self.assertEqual(shares(removals, [left, gone]), [[left], [gone]])
        self.assertIsNone(shares(removals[:1], [left, gone]))
        self.assertIsNone(shares(removals, [left, gone], ""))
        # What needs one that goes has gone with it by its own turn.
        needing = INSTALLED.replace("Package: a", "Package: a\nDepends: c (>= 1)")
        self.assertEqual(shares(removals, [left, gone], needing), [[left], [gone]])
        self.assertEqual(shares(removals[::-1], [left, gone], needing), [[left, gone], []])
