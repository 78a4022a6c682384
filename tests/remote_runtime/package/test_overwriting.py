"""Files that two packages have."""

import unittest

from remote_runtime.effects import Doubt, PackageEffect, PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.resources.package import overwriting
from remote_runtime.resources.package.deb_contents import Contents, Member
from remote_runtime.resources.package.provider import VersionChange

from ..fake_commands import FakeCommands, make_context

_HELD = "other: /etc/hostname\ndiversion by x from: /etc/hosts\n"


class Overwriting(unittest.TestCase):
    def setUp(self):
        self.commands = FakeCommands()
        self.commands.on("dpkg-query --search -- /etc/hostname", _HELD)
        self.context = make_context(self.commands, noop=True)
        self.coming = {"a": contents("/etc/hostname")}

    def refuse(self, *changes, replaces="", planned=()):
        shown = "Package: a\nVersion: 1\n%s\n" % replaces
        overwriting.refuse(
            self.context,
            self.coming,
            changes=[VersionChange("a", "", "1"), *changes],
            planned=dict(planned),
            shown=lambda: shown,
        )

    def test_a_file_of_another_package(self):
        """dpkg would refuse it, and says whose it is."""
        with self.assertRaisesRegex(ResourceError, "/etc/hostname is in package other already"):
            self.refuse(replaces="Replaces: third")

    def test_what_dpkg_allows(self):
        """A package that replaces the other, or one that goes or changes along."""
        self.refuse(replaces="Replaces: third (<< 2), other (<< 3)\n")
        self.refuse(VersionChange("other", "1", ""))

    def test_a_package_of_the_plan(self):
        """One that comes earlier in the run counts as the host's, while it has that version."""
        self.coming = {"a": contents("/usr/share/ccm-planned")}
        self.commands.on("dpkg-query --search -- /usr/share/ccm-planned", "")
        before = {("b", "2"): contents("/usr/share/ccm-planned")}
        self.context.expect(
            [PathEffect("/usr/share/ccm-planned", "file"), PackageEffect("b", "2")], Doubt(), "x#b"
        )
        with self.assertRaisesRegex(ResourceError, "package b already"):
            self.refuse(planned=before)
        self.context.expect([PackageEffect("b", "")], Doubt(), "x#c")
        self.refuse(planned=before)


def contents(path):
    return Contents(
        [Member(path, "file", 0o644, 0, 0), Member("/etc", "directory", 0, 0, 0)], [], {}
    )


if __name__ == "__main__":
    unittest.main()
