"""Packages from files: which version counts, what is fetched, and what is refused."""

import hashlib
import os
import unittest
from typing import Any

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg import package_metadata as deb_files
from remote_runtime.packages.package_info import PackageFile
from remote_runtime.packages.rpm import package_metadata as rpm_files
from remote_runtime.resources.package import rules
from remote_runtime.system.process.commands import Result

from ..fakes import DirectoryTest
from .plan import INSTALLED, Plan, recorded, recorded_commands

CONTROL = "Architecture: all\nPackage: %s\nVersion: %s\nDescription: text\n more\n"
DATA = b"the file"
SHA = hashlib.sha256(DATA).hexdigest()


class Sources(DirectoryTest):
    def plan(self, version="1.1-1", installed="", name="ccm-hello", **properties):
        """ccm-hello from a file of this version."""
        commands = recorded_commands()
        commands.on("dpkg-deb -f", CONTROL % (name, version))
        if installed:
            line = INSTALLED % ("ccm-hello", installed)
            commands.on("dpkg-query", recorded("dpkg-query.txt") + line)
        path = self.path("hello.deb")
        with open(path, "wb") as file:
            file.write(DATA)
        properties.setdefault("source", path)
        made = Plan(commands, ("ccm-hello", properties), ("ccm-daemon", {"ensure": "latest"}))
        made.context.memory_directory = self.path("state")
        made.context.__dict__["blobs"] = Blobs()
        return made

    def message(self, plan):
        with plan.noop():
            resource = plan.resources[0]
            return resource.describe(plan.rehearsed())

    def test_which_version(self):
        """The version in the file is the one that counts, or a newer one with latest."""
        for installed, ensure, message in (
            ("", "present", "Would have installed version 1.1-1"),
            ("", "latest", "Would have installed latest"),
            ("1.0-1", "present", "Would have upgraded to 1.1-1"),
            ("1.0-1", "latest", "Would have upgraded to latest"),
            ("1.1-1", "present", ""),
            ("2.0-1", "present", "Would have downgraded to 1.1-1"),
            ("2.0-1", "latest", ""),
            ("2.0-1", "1.1-1", "Would have downgraded to 1.1-1"),
        ):
            plan = self.plan(installed=installed, ensure=ensure)
            self.assertEqual(self.message(plan), message, (installed, ensure))

    def test_what_is_installed(self):
        """apt installs the file, in a transaction of its own, and no list is read."""
        plan = self.plan()
        plan.carry_out()
        (line,) = [line for line in plan.commands.asked if line.startswith("apt-get install")]
        self.assertTrue(line.endswith("--allow-downgrades " + self.path("hello.deb")), line)
        self.assertEqual(plan.commands.count("apt-cache policy"), 0)
        self.assertIsNone(plan.ahead())

    def test_refused(self):
        """Another package, another version, no package, and no file are told."""
        for words, given in (
            ("contains the package ccm-other, not ccm-hello", {"name": "ccm-other"}),
            ("contains ccm-hello 1.1-1, not 3.0", {"ensure": "3.0"}),
            (r"is installed \(2.0-1\)", {"installed": "2.0-1", "allow_downgrade": False}),
            ("does not exist on this host", {"source": "/nonexistent/a.deb"}),
            ("not a regular file", {"source": self.directory_of_packages()}),
            ("checksum mismatch", {"checksum": "0" * 64}),
        ):
            with self.assertRaisesRegex(ResourceError, words):
                self.plan(**given).resources[0].observe()
        with self.assertRaises(Missing):
            self.plan(source="/nonexistent/a.deb").resources[0].observe()

    def directory_of_packages(self):
        os.makedirs(self.path("all.deb"), exist_ok=True)
        return self.path("all.deb")

    def test_a_checksum(self):
        """The very bytes that were checked are installed, from a copy that goes."""
        plan = self.plan(checksum="sha256:" + SHA)
        plan.carry_out()
        (line,) = [line for line in plan.commands.asked if line.startswith("apt-get install")]
        self.assertTrue(line.endswith("/ccm-hello.deb"), line)
        self.assertFalse(os.path.exists(line.split()[-1]))

    def test_a_file_next_to_the_manifest(self):
        """It travels once, as long as this host has the version."""
        blob = {"$blob": SHA, "size": len(DATA)}
        plan = self.plan(source=blob)
        plan.carry_out()
        self.assertEqual(plan.context.blobs.asked, [SHA])
        for installed, asked in (("1.1-1", []), ("1.0-1", [SHA])):
            plan = self.plan(source=blob, installed=installed)
            self.message(plan)
            self.assertEqual(plan.context.blobs.asked, asked)

    def test_without_a_look(self):
        """A preview that may not look into packages says that it does not know."""
        plan = self.plan(source={"$blob": SHA, "size": len(DATA)})
        plan.context.options = plan.context.options._replace(package_probe=False)
        with self.assertRaisesRegex(Unknowable, "only a push reads"):
            self.message(plan)

    def test_what_files_say(self):
        """The control file begins with the name; an RPM without an epoch has that of 0."""
        found = self.plan().provider.read_file("/a.deb")
        self.assertEqual(found[:4], ("/a.deb", "ccm-hello", "1.1-1", "all"))
        self.assertTrue(found.control.startswith("Package: ccm-hello\n"))
        commands: Any = recorded_commands()
        commands.on("dpkg-deb -f", Result(2, "", "dpkg-deb: error: not an archive\n"))
        with self.assertRaisesRegex(ResourceError, "not a Debian package: .* not an archive"):
            deb_files.read(commands, "/a", {})
        printed = Result(0, "hello\t(none)\t1.0\t1.el9\tnoarch\n", "warning: x")
        self.assertEqual(
            rpm_files.parse("/a.rpm", printed),
            PackageFile("/a.rpm", "hello", "0:1.0-1.el9", "noarch"),
        )
        with self.assertRaisesRegex(ResourceError, "not an RPM"):
            rpm_files.parse("/a", Result(1, "", "error: open of /a failed\n"))


class Blobs(object):
    """Has one file."""

    def __init__(self):
        self.asked = []

    def chunks(self, sha, size):
        self.asked.append(sha)
        yield DATA


class Rules(unittest.TestCase):
    def test_what_a_source_may_be(self):
        """A file of a package, or a URL with a checksum."""
        for source, checksum, wrong in (
            ("a.deb", None, []),
            ("/srv/a.rpm", SHA, []),
            ("https://example.com/a?x=1", "sha256:" + SHA, []),
            ("https://example.com/a.deb", None, ["checksum"]),
            ("https://exa mple.com/a.deb", SHA, ["source"]),
            ("a.zip", None, ["source"]),
            ("/srv/a", None, ["source"]),
            ("a.deb", SHA, ["checksum"]),
            ("/srv/a.deb", "1234", ["checksum"]),
            (None, SHA, ["checksum"]),
        ):
            given = {"source": source, "checksum": checksum}
            given = {key: value for key, value in given.items() if value is not None}
            found = [key for key, _ in rules.problems("a", given)]
            self.assertEqual(found, wrong, (source, checksum))


if __name__ == "__main__":
    unittest.main()
