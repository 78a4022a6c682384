"""dpkg's files of settings, and what apt adds: as dpkg 1.21 of Debian 12 was seen to take them."""

import unittest
from typing import Any

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg import settings as dpkg_settings
from remote_runtime.system.process.commands import Result
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from .. import fakes

PARTS, FILE = dpkg_settings.PARTS, dpkg_settings.FILE


class Settings(unittest.TestCase):
    def read(self, files, options=(), trouble=lambda option: ""):
        """The settings of a host with these files alone, path to text."""
        context = fakes.context(noop=True)
        gone = [PathEffect(path, "absent") for path in (PARTS, FILE)]
        made = [PathEffect(path, "file", content=Text(text)) for path, text in files.items()]
        context.expect([*gone, PathEffect(PARTS, "directory"), *made], Uncertainty(), "file#x")
        return dpkg_settings.read(context.files, "/nonexistent/home", options, trouble)

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

    def test_options_that_dpkg_is_asked_of(self):
        """Each that is not known of every dpkg, once, as it stands on a command line."""
        asked = []

        def trouble(option):
            asked.append(option)
            return "unknown option 'x'" if option == "--x" else ""

        known = "no-debsig\nlog /var/log/x\nforce-unsafe-io\nforce=overwrite,thing\n"
        text = known + "log\nno-debsig=1\nstatus-fd 3\n"
        self.read({FILE: text}, ["--bogus=1", "--force-confold", "-D1"], trouble)
        self.assertEqual(
            asked, ["--force-thing", "--log", "--no-debsig=1", "--status-fd=3", "--bogus=1"]
        )
        with self.assertRaises(ResourceError) as caught:
            self.read({FILE: "\nx\n"}, (), trouble)
        self.assertIn("%s:2: unknown option 'x'" % FILE, str(caught.exception))

    def test_what_dpkg_says_of_an_option(self):
        """It is told in its words, unless its files have another that it does not take."""
        said = ""
        commands: Any = fakes.context(noop=True).commands
        commands.run = lambda argv: Result(2 if said else 0, "", said)
        self.assertEqual(dpkg_settings.option_problem(commands, "--log=/x"), "")
        for option, said, why in (
            ("--bogus", "unknown option --bogus\n", "unknown option --bogus"),
            ("--force-x", "unknown force/refuse option 'x'\n", "unknown force/refuse option 'x'"),
            ("--x", "configuration error: /etc/f:1: unknown option 'x'\n", "unknown option 'x'"),
            ("--log", "need an action option\n", "need an action option"),
        ):
            said = "dpkg: error: " + said
            self.assertEqual(dpkg_settings.option_problem(commands, option), why)
        for said in (
            "configuration error: /f:1: unknown option 'y'",
            "unknown force/refuse option 'y'",
        ):
            said = "dpkg: error: " + said
            with self.assertRaises(Unknowable):
                dpkg_settings.option_problem(commands, "--x")

    def test_what_nobody_can_tell(self):
        """Options that run programs, or have dpkg do nothing; and one that cannot be asked for."""

        def broken(option):
            raise Unknowable("its settings are broken")

        self.assertEqual(self.read({FILE: "no-debsig\n"}).unclear, "")
        self.assertIn("--pre-invoke=false", self.read({FILE: "pre-invoke=false\n"}).unclear)
        self.assertIn("--no-act", self.read({}, ["--no-act"]).unclear)
        expect_text(self.read({FILE: "x\n"}, (), broken).unclear, self)

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
            ("path-exclude", "requires a value"),
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
