"""dpkg's files of settings, and what apt adds: as dpkg 1.21 of Debian 12 was seen to take them."""

import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import Doubt, PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.resources.package import dpkg_settings

from .. import fakes

PARTS, FILE = dpkg_settings.PARTS, dpkg_settings.FILE


class Settings(unittest.TestCase):
    def read(self, files, options=()):
        """The settings of a host with these files alone, path to text."""
        context = fakes.context(noop=True)
        gone = [PathEffect(path, "absent") for path in (PARTS, FILE)]
        made = [PathEffect(path, "file", content=Text(text)) for path, text in files.items()]
        context.expect([*gone, PathEffect(PARTS, "directory"), *made], Doubt(), "file#x")
        return dpkg_settings.read(context.files, "/nonexistent/home", options)

    def leaves_out(self, files, path, options=()):
        found = False
        for one in self.read(files, options).filters:
            if one.pattern.match(path.encode()):
                found = not one.include
        return found

    def test_the_order_of_the_files(self):
        """Parts by name, capitals first, then the file, then the user's, then what apt says."""
        leave, take = "path-exclude=/x\n", "path-include=/x\n"
        home = "/nonexistent/home/.dpkg.cfg"
        for files, options, left in (
            ({PARTS + "/b": leave, PARTS + "/a": take, PARTS + "/C": take}, (), True),
            ({PARTS + "/b": leave, PARTS + "/c": take}, (), False),
            ({PARTS + "/b": leave, FILE: take}, (), False),
            ({FILE: leave, home: take}, (), False),
            ({home: leave}, ["--path-include=/x"], False),
            ({}, ["--path-exclude", "/x"], True),
            ({PARTS + "/a": leave, PARTS + "/b.bak": take, PARTS + "/.b": take}, (), True),
        ):
            self.assertEqual(self.leaves_out(files, "/x", options), left, (files, options))

    def test_how_a_line_is_read(self):
        """A blank or an equals sign stands before the value, quotes around it are no part of it."""
        for line, left in (
            ("path-exclude /x/*", True),
            ("path-exclude = /x/*", True),
            ("path-exclude='/x/*'", True),
            ('path-exclude "/x/*"  ', True),
            ("path-exclude  =/x/*", False),
            ("# path-exclude=/x/*", False),
            ("log /x/*", False),
        ):
            self.assertEqual(self.leaves_out({FILE: line + "\n"}, "/x/y"), left, line)

    def test_what_is_forced(self):
        """Each word counts from where it stands; of all only what has a say here is kept."""
        for text, options, forced in (
            ("force-confnew\n", ["--force-confold"], {"confnew", "confold"}),
            ("force confnew,confmiss\n", (), {"confnew", "confmiss"}),
            ("force=confnew\nno-force-confnew\n", (), set()),
            ("force-confnew\n", ["--refuse-confnew", "--force-confask,confdef"],
             {"confask", "confdef"}),
            ("force-all\n", ["--no-force-overwrite,overwrite-diverted"],
             {"confnew", "confold", "confdef", "confmiss", "confask"}),
            ("force-all\nrefuse all\n", (), set()),
        ):  # fmt: skip
            self.assertEqual(self.read({FILE: text}, options).forced, forced, text)

    def test_what_dpkg_refuses(self):
        """It does not start at all then; where, and what is wrong, is told."""
        for line, why in (
            ('path-exclude="/x', "unbalanced quotes"),
            ("path-exclude", "needs a value"),
            (" path-exclude=/x", "unknown option ''"),
            ("force-confold=x", "unknown option 'force-confold'"),
            ("force-confold,confdef", "unknown option 'force-confold,confdef'"),
        ):
            with self.assertRaisesRegex(ResourceError, FILE + ":2: ") as caught:
                self.read({FILE: "#\n%s\n" % line})
            self.assertIn(why.partition(",")[0], caught.exception.message)
            self.assertNotIsInstance(caught.exception, Unknowable)

    def test_what_apt_says(self):
        """All below the name counts, in whatever case; what is apt-get's own comes after it."""
        dump = (
            'DPkg::Options "--not-in-the-list";\nDPkg::Options "";\nDPkg::Options:: "--a";\n'
            'Binary::apt-get::DPkg::Options:: "--own";\nBinary::apt::DPkg::Options:: "--apt";\n'
            'Dpkg::options::name "--b "c"";\nDPkg::Path "/bin";\n'
        )
        self.assertEqual(dpkg_settings.of_apt(dump), ["--a", '--b "c"', "--own"])


if __name__ == "__main__":
    unittest.main()
