"""What a preview recorded of a resource is told in short, and compared in full."""

import unittest

from remote_runtime.content import Bytes
from remote_runtime.downloads.predicted_content import DownloadedContent
from remote_runtime.effects import (
    AccountEffect,
    MountEffect,
    PackageEffect,
    PathEffect,
    UnitEffect,
    UnknownEffect,
    everything,
)
from remote_runtime.reporting.operations import MAX_OPERATIONS, compared, operations
from remote_runtime.uncertainty import ASSUMED, Uncertainty

A_FILE = PathEffect("/a", "file", mode=0o644, uid=0, gid=5, content=Bytes(b"x"))


def told(*effects):
    return [(one["kind"], one["name"], one["state"]) for one in operations(effects)]


class TestOperations(unittest.TestCase):
    def test_each_once_in_the_order_of_the_run(self):
        """What nobody can tell is no operation."""
        uncertainty = UnknownEffect(Uncertainty(ASSUMED, "why"), everything)
        effects = (
            AccountEffect("user", "bob", 1000),
            PathEffect("/home/bob", "directory", mode=0o700),
            A_FILE._replace(path="/home/bob/.profile"),
            uncertainty,
            PathEffect("/home/bob", "directory", uid=1000),
            PathEffect("/b", "file", mode=0o600),
            PathEffect("/l", "symlink", target="/b"),
            PathEffect("/old", "absent"),
            AccountEffect("group", "old", present=False),
            MountEffect("/mnt"),
        )
        self.assertEqual(
            told(*effects),
            [
                ("user", "bob", "present"),
                ("path", "/home/bob", "directory"),
                ("path", "/home/bob/.profile", "file"),
                ("path", "/b", "attributes"),
                ("path", "/l", "symlink"),
                ("path", "/old", "absent"),
                ("group", "old", "absent"),
                ("mount", "/mnt", "present"),
            ],
        )

    def test_paths_of_packages_and_units_follow(self):
        """The version and the state stand for them; a unit that does not run is not stopped."""
        self.assertEqual(
            told(PackageEffect("a", "1"), PackageEffect("b", ""), A_FILE),
            [("package", "a", "1"), ("package", "b", "absent")],
        )
        units = (
            UnitEffect("r", active=True, ended=True, enabled=True),
            UnitEffect("s", active=False, ended=True),
            UnitEffect("n", active=False, masked=True),
            UnitEffect("n", active=True),
            PathEffect("/run/n", "directory"),
        )
        self.assertEqual(
            told(*units),
            [
                ("unit", "r", "restarted"),
                ("unit", "r", "enabled"),
                ("unit", "s", "stopped"),
                ("unit", "n", "masked"),
                ("unit", "n", "started"),
            ],
        )

    def test_there_is_a_bound(self):
        """An event has some; all are compared."""
        effects = [PathEffect("/%d" % n, "absent") for n in range(3 * MAX_OPERATIONS)]
        self.assertEqual(len(operations(effects)), MAX_OPERATIONS)
        self.assertEqual(len(compared(effects)), 3 * MAX_OPERATIONS)

    def test_a_content_that_only_the_push_knows(self):
        """A download without a checksum is compared without its content."""
        unknown = A_FILE._replace(content=DownloadedContent(""))
        self.assertEqual(compared([unknown]), compared([A_FILE._replace(content=None)]))
        self.assertEqual(told(unknown), [("path", "/a", "file")])

    def test_each_property_is_compared_by_itself(self):
        """A part that is done already may be missing; what no run sets again is not compared."""
        whole, part = compared([A_FILE]), compared([A_FILE._replace(content=None, gid=None)])
        self.assertEqual(set(part) - set(whole), set())
        self.assertEqual(len(whole), 3)
        self.assertNotEqual(compared([A_FILE._replace(content=Bytes(b"y"))]), whole)
        loose = compared([A_FILE._replace(firm=False)])
        self.assertEqual(loose, compared([A_FILE._replace(firm=False, mode=0o600, uid=7)]))
        one, other = AccountEffect("user", "bob", 1), AccountEffect("user", "bob", 2)
        self.assertEqual(compared([one]), compared([other]))  # the next free one is nobody's word
        following = PathEffect("/home/bob/note", "file", uid=2, once=True)
        self.assertEqual(compared([one, following]), compared([one]))
