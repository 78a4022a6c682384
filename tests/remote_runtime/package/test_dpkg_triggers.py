"""Which packages dpkg triggers."""

import os

from remote_runtime.packages.dpkg import triggers as dpkg_triggers
from remote_runtime.packages.maintainer_scripts.shell import Call

from ..fakes import DirectoryTest, context


class Triggers(DirectoryTest):
    def test_who_waits(self):
        """dpkg's files name paths and names, each with the packages that wait for them."""
        os.mkdir(self.path("triggers"))
        self.write("triggers/File", b"/usr/share/man man-db/noawait\n/usr/share/man other\n")
        self.write("triggers/ldconfig", b"libc-bin/noawait\n")
        for name in ("Lock", "Unincorp"):
            self.write("triggers/" + name, b"x y\n")
        self.assertEqual(
            dpkg_triggers.interests(context().files, self.root),
            {"/usr/share/man": {"man-db", "other"}, "ldconfig": {"libc-bin"}},
        )

    def test_who_is_triggered(self):
        """A path at or below the one that is waited for, or a name."""
        waiting = {"/usr/share/man": {"man-db"}, "ldconfig": {"libc-bin"}, "/usr/sh": {"x"}}
        found = dpkg_triggers.triggered(waiting, ["/usr/share/man/man1/a.1"], {"ldconfig"})
        self.assertEqual(found, {"man-db": ["/usr/share/man"], "libc-bin": ["ldconfig"]})

    def test_a_script_activates_a_path(self):
        """A path that is activated by itself triggers who waits for it, not who waits above it."""
        waiting = {"/usr/share/p": {"index"}, "/usr/share": {"other"}}
        found = dpkg_triggers.triggered(waiting, [], {"/usr/share/p"})
        self.assertEqual(found, {"index": ["/usr/share/p"]})

    def test_what_a_package_says(self):
        """Its control file has both directives, and a script may activate one itself."""
        control = "# x\ninterest-noawait /a\ninterest b\nactivate-await c\n"
        self.assertEqual(dpkg_triggers.declared(control, "interest"), ["/a", "b"])
        self.assertEqual(dpkg_triggers.declared(control, "activate"), ["c"])
        calls = [Call(("dpkg-trigger", "--no-await", "d"), True), Call(("ls", "e"), True)]
        self.assertEqual(dpkg_triggers.activated(calls), {"d"})

    def test_what_an_interrupted_run_left(self):
        """Triggers that are assigned to packages are in dpkg's text, the others in a file."""
        text = "Package: a\nStatus: x\nTriggers-Pending: /p named\n\nPackage: b\nStatus: y\n"
        self.assertEqual(dpkg_triggers.pending(text), {"a": ["/p", "named"]})
        files = context().files
        self.assertEqual(dpkg_triggers.unincorporated(files, self.root), set())
        os.mkdir(self.path("triggers"))
        self.write("triggers/Unincorp", b"/p pv-plugin\nnamed -\n")
        self.assertEqual(dpkg_triggers.unincorporated(files, self.root), {"/p", "named"})
