"""Files that two packages have."""

import unittest

from remote_runtime.effects import PackageEffect, PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg import file_conflicts
from remote_runtime.packages.dpkg.host_rules import Diversion, HostRules
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.packages.dpkg.settings import Settings
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.uncertainty import Uncertainty

from ..fake_commands import FakeCommands, make_context

_HELD = "other: /etc/hostname\ndiversion by x from: /etc/hosts\n"


class Overwriting(unittest.TestCase):
    def setUp(self):
        self.commands = FakeCommands()
        self.commands.on("dpkg-query --search -- /etc/hostname", _HELD)
        self.context = make_context(self.commands, noop=True)
        self.upcoming = {"a": contents("/etc/hostname")}
        self.rules = HostRules({}, {}, Settings((), frozenset()))

    def refuse(self, *changes, replaces="", planned=()):
        shown = "Package: a\nVersion: 1\n%s\n" % replaces
        file_conflicts.refuse(
            self.context,
            self.upcoming,
            changes=[VersionChange("a", "", "1"), *changes],
            planned=dict(planned),
            shown=lambda: shown,
            rules=self.rules,
        )

    def assert_allowed(self, *changes, replaces=""):
        """Nothing is refused, though dpkg is asked and says whose the file is."""
        before = len(self.commands.asked)
        self.refuse(*changes, replaces=replaces)
        self.assertEqual(len(self.commands.asked), before + 1)

    def test_a_file_of_another_package(self):
        """dpkg would fail it, and says whose it is."""
        with self.assertRaisesRegex(
            ResourceError, "/etc/hostname already belongs to package other"
        ):
            self.refuse(replaces="Replaces: third")

    def test_what_dpkg_allows(self):
        """A package that replaces the other, or one that goes or changes along."""
        self.assert_allowed(replaces="Replaces: third (<< 2), other (<< 3)\n")
        self.assert_allowed(VersionChange("other", "1", ""))

    def test_a_file_that_is_diverted(self):
        """It is both packages' where one of them diverts it, and nobody else's."""
        for package, refused in (("a", False), ("other", False), ("third", True), ("", True)):
            diversions = {"/etc/hostname": Diversion("/etc/hostname.other", package)}
            self.rules = HostRules(diversions, {}, Settings((), frozenset()))
            if refused:
                with self.assertRaises(ResourceError):
                    self.refuse()
            else:
                self.refuse()

    def test_what_a_script_diverts_first(self):
        """The preinst of the package that comes may have the other's file out of its way."""
        preinst = {"preinst": "dpkg-divert --package a --rename --add /etc/hostname\n"}
        self.upcoming = {"a": contents("/etc/hostname")._replace(scripts=preinst)}
        self.assert_allowed()

    def test_what_is_forced(self):
        """Nothing is asked where the host has dpkg overwrite files."""
        self.rules = HostRules({}, {}, Settings((), frozenset(["overwrite"])))
        self.refuse()
        self.assertEqual(self.commands.asked, [])

    def test_a_package_of_the_plan(self):
        """One that comes earlier in the run counts as the host's, while it has that version."""
        self.upcoming = {"a": contents("/usr/share/ccm-planned")}
        self.commands.on("dpkg-query --search -- /usr/share/ccm-planned", "")
        before = {("b", "2"): contents("/usr/share/ccm-planned")}
        self.context.expect(
            [PathEffect("/usr/share/ccm-planned", "file"), PackageEffect("b", "2")],
            Uncertainty(),
            "x#b",
        )
        with self.assertRaisesRegex(ResourceError, "already belongs to package b"):
            self.refuse(planned=before)
        self.context.expect([PackageEffect("b", "")], Uncertainty(), "x#c")
        self.refuse(planned=before)


def contents(path):
    return Contents(
        [Member(path, "file", 0o644, 0, 0), Member("/etc", "directory", 0, 0, 0)], [], {}
    )


if __name__ == "__main__":
    unittest.main()
