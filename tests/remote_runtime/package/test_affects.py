"""What a command says it may change."""

import os
import tempfile
import unittest
from unittest import mock

from remote_runtime.packages.declared_changes import affected
from tests.remote_runtime.fakes import context


class AffectsTest(unittest.TestCase):
    def test_entries(self) -> None:
        """A path stands for all below it, a reference for what it names, no list for everything."""
        some = ["/srv/app", "file#/etc/x", "service#web", "package#nginx"]
        for affects, kind, value, covered in (
            (None, "user", "anybody", True),
            ([], "path", "/srv/app", False),
            ([], "host", "", False),
            (some, "host", "", True),
            (some, "path", "/srv/app", True),
            (some, "path", "/srv/app/a/b", True),
            (some, "path", "/srv/apple", False),
            (some, "path", "/etc/x", True),
            (some, "unit", "web.service", True),
            (some, "unit", "other.service", False),
            (some, "package", "nginx", True),
            (some, "user", "nginx", False),
            (["/etc/passwd"], "user", "anybody", True),
            (["/etc/passwd"], "user", "root", False),
            (["/etc/passwd"], "group", "anybody", False),
            (["user#nginx"], "content", "/etc/shadow", True),
            (["user#nginx"], "content", "/etc/hosts", False),
            (some, "content", "/etc/passwd", False),
            (["/etc/"], "group", "anybody", True),
            (["/etc/systemd/system"], "unit", "web.service", True),
            (["/etc/systemd/system/web.service"], "unit", "web.service", True),
            (["/etc/systemd/system/web.service.d/x.conf"], "unit", "web.service", True),
            (["/etc/systemd/system/web.service"], "unit", "other.service", False),
        ):
            with self.subTest(affects=affects, kind=kind, value=value):
                self.assertEqual(affected(affects, context())(kind, value, True), covered)

    def test_other_names(self) -> None:
        """A path stands for where its links lead, and a file for its other names."""
        with tempfile.TemporaryDirectory() as directory:
            for name in ("a", "b"):
                open(os.path.join(directory, name), "w").close()
            os.link(os.path.join(directory, "a"), os.path.join(directory, "c"))
            entry = os.path.join(directory, "a")
            run = mock.Mock(places=lambda path: [path.replace("/l/", "/real/")])
            covers = affected([entry, "file#/l/x"], run)
            found = {name: covers("path", os.path.join(directory, name), True) for name in "abc"}
            self.assertEqual(found, {"a": True, "b": False, "c": True})
            for path in ("/l/x", "/real/x", "/real/x/y"):
                self.assertTrue(covers("path", path, False))


if __name__ == "__main__":
    unittest.main()
