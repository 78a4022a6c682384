"""What a command covers that says it affects a package."""

import os
import tempfile
import unittest
from typing import Any, Callable
from unittest import mock

from remote_runtime.effects import PackageEffect
from remote_runtime.packages.package_coverage import coverage
from tests.remote_runtime.fakes import context

STATUS = """Package: dpkg
Status: install ok installed
Architecture: amd64
Version: 1

Package: web
Status: %s
Architecture: amd64
Version: 1.0-1
Conffiles:
 %s/etc/web.conf 0123
"""


class OwnedTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = os.path.realpath(directory.name)
        for name in ("info", "updates", "triggers", "own", "shared"):
            os.mkdir(os.path.join(self.root, name))
        self.write("triggers/Unincorp", "")
        listed = ["own", "own/a", "shared", "shared/b", "etc/web.conf"]
        paths = [os.path.join(self.root, path) for path in listed]
        units = ["/lib/systemd/system/web.service", "/lib/systemd/system/each@.service"]
        self.write("info/web.list", "".join(path + "\n" for path in [*paths, *units]))
        self.write("info/other.list", os.path.join(self.root, "shared") + "\n")

    def write(self, name: str, text: str) -> None:
        with open(os.path.join(self.root, name), "w") as file:
            file.write(text)

    def covers(self, state: str, run: Any = None, name: str = "web") -> Callable[..., bool]:
        self.write("status", STATUS % (state, self.root))
        return coverage(run or context(), name, self.root)

    def test_installed(self) -> None:
        """Its paths, what is below its own directories and its units; nothing of others."""
        covers = self.covers("install ok installed")
        for path, covered in (
            ("own/a", True),
            ("own/new", True),
            ("shared/b", True),
            ("shared/c", False),
            ("etc/web.conf", True),
        ):
            for present in (True, False):
                place = os.path.join(self.root, path)
                self.assertEqual(covers("path", place, present), covered, path)
        self.assertFalse(covers("path", "/etc/new", False))
        units = {unit: covers("unit", unit, True) for unit in ("web.service", "each@x.service")}
        self.assertEqual(units, {"web.service": True, "each@x.service": True})
        self.assertFalse(covers("unit", "other.service", True))
        self.assertFalse(covers("package", "other", False))

    def test_not_installed(self) -> None:
        """What is not there may come with it; what is left of it may change as well."""
        for covers in (self.covers("deinstall ok config-files"), self.covers("", name="new")):
            self.assertTrue(covers("path", "/etc/new", False))
            self.assertFalse(covers("path", "/etc/there", True))
            self.assertFalse(covers("path", "/srv/new", False))
            self.assertTrue(covers("unit", "any.service", False))
            self.assertFalse(covers("unit", "any.service", True))
            self.assertTrue(covers("user", "web", False))
            self.assertFalse(covers("package", "other", False))
        left = os.path.join(self.root, "etc/web.conf")
        self.assertTrue(self.covers("deinstall ok config-files")("path", left, True))

    def test_planned(self) -> None:
        """Of one that an earlier resource changes nobody knows here what it holds then."""
        run = mock.Mock(overlay=mock.Mock(packages={"web": PackageEffect("web", "1.0-1")}))
        covers = self.covers("", run)
        self.assertTrue(covers("path", "/etc/web.conf", True))
        self.assertTrue(covers("path", "/etc/web.conf", False))
        self.assertFalse(covers("path", "/srv/x", True))

    def test_rpm(self) -> None:
        """Of a host of RPM's it is rpm that is asked."""
        commands = mock.Mock()
        commands.find.return_value = "/usr/bin/rpm"
        commands.run.return_value.stdout = "/usr/lib/systemd/system/web.service\n/opt/web\n"
        covers = coverage(context(commands=commands), "web", "/nowhere")
        self.assertTrue(covers("unit", "web.service", True))
        self.assertTrue(covers("path", "/opt/web", True))
        self.assertFalse(covers("path", "/etc/new", False))
        commands.run.return_value.stdout = "package web is not installed\n"
        self.assertTrue(coverage(context(commands=commands), "web", "/nowhere")("unit", "x", False))


if __name__ == "__main__":
    unittest.main()
