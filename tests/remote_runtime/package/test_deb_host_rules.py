"""Diversions and overrides of a host, as dpkg 1.21 of Debian 12 was seen to heed them."""

import os
import tempfile
import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg import host_rules as deb_host_rules
from remote_runtime.packages.dpkg import settings as dpkg_settings
from remote_runtime.packages.dpkg.host_rules import Diversion, HostRules, Override
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.packages.dpkg.settings import FILE, PARTS, Settings
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from .. import fakes

DIVERTED = "/usr/bin/a\n/usr/bin/a.real\n:\n/usr/bin/b\n/usr/bin/b.of-c\nc\n"


def member(path, kind="file", mode=0o644):
    return Member(path, kind, mode, 0, 0)


def filters(*options):
    """The settings of a host without files of them, which apt gives these options."""
    context = fakes.context(noop=True)
    context.expect([PathEffect(path, "absent") for path in (PARTS, FILE)], Uncertainty(), "file#x")
    return dpkg_settings.read(context.files, "/nonexistent", options)


class Reading(unittest.TestCase):
    def read(self, diversions="", overrides="", installs=True):
        context = fakes.context(noop=True, accounts=fakes.FakeAccounts({"daemon": 1}))
        gone = [PathEffect(path, "absent") for path in (PARTS, FILE)]
        made = [
            PathEffect(deb_host_rules.DIVERSIONS, "file", content=Text(diversions)),
            PathEffect(deb_host_rules.OVERRIDES, "file", content=Text(overrides)),
        ]
        context.expect([*gone, *made], Uncertainty(), "file#x")
        return deb_host_rules.read(
            context.files,
            context.accounts,
            home="/nonexistent",
            options=(),
            installs=installs,
            trouble=lambda option: "",
        )

    def test_diversions(self):
        """A path goes elsewhere for all packages, or for all but the one that diverts it."""
        rules = self.read(DIVERTED)
        for path, package, place in (
            ("/usr/bin/a", "c", "/usr/bin/a.real"),
            ("/usr/bin/b", "a", "/usr/bin/b.of-c"),
            ("/usr/bin/b", "c", "/usr/bin/b"),
            ("/usr/bin/b", "c:i386", "/usr/bin/b"),
            ("/usr/bin/d", "a", "/usr/bin/d"),
        ):
            self.assertEqual(rules.place(path, package), place)

    def test_overrides(self):
        """By name or by number; a link gets the owner alone."""
        rules = self.read(overrides="daemon #77 4750 /x\n#12 #13 600 //y\n#12 #13 600 /l\n")
        found = rules.applied(
            Contents([member("/x"), member("/y"), member("/l", "symlink", 0o777)], [], {}), "a"
        )
        self.assertEqual(
            [one[2:5] for one in found.members], [(0o4750, 1, 77), (0o600, 12, 13), (0o777, 12, 13)]
        )

    def test_what_dpkg_refuses(self):
        """It does nothing then; a removal does not ask for overrides."""
        for text, why in (
            ("ghost #0 644 /x\n", "the user 'ghost'"),
            ("#0 nobody-at-all 644 /x\n", "the group 'nobody-at-all'"),
            ("#0 #0 888 /x\n", "mode '888'"),
            ("#0 #0 10644 /x\n", "mode '10644'"),
            ("#0 #0 644\n", "line"),
            ("#x #0 644 /x\n", "user '#x'"),
            ("\n", "line"),
            ("#0 #0 644 /x", "no line break"),
            ("#0 #0 644 /x\n#0 #0 600 /x\n", "/x twice"),
        ):
            with self.assertRaisesRegex(ResourceError, why):
                self.read(overrides=text)
        self.read(overrides="ghost #0 644 /x\n", installs=False)
        for text in ("/a\n/b\n", "/a\n/b\n:", "/a\n/b\n:\n/a\n/c\n:\n", "/a\n/b\n:\n/b\n/c\n:\n"):
            with self.assertRaises(ResourceError):
                self.read(text, installs=False)

    def test_a_name_of_digits(self):
        """Whether there is an account of that name, dpkg knows alone."""
        with self.assertRaises(Unknowable):
            self.read(overrides="1234 #0 644 /x\n")


class Applying(unittest.TestCase):
    def test_paths_that_are_left_out(self):
        """The last pattern that fits counts; a directory comes where one below it may be wanted."""
        rules = HostRules({}, {}, filters("--path-exclude=/usr/share/doc/*",
                                          "--path-include=/usr/share/doc/*/copyright"))  # fmt: skip
        for path, kind, comes in (
            ("/usr/share/doc", "directory", True),
            ("/usr/share/doc/a", "directory", True),
            ("/usr/share/doc/a/sub", "directory", True),
            ("/usr/share/doc/b", "symlink", True),
            ("/usr/share/doc/a/copyright", "file", True),
            ("/usr/share/doc/a/README", "file", False),
        ):
            self.assertEqual(rules.comes(member(path, kind)), comes, path)
        rules = HostRules(
            {}, {}, filters("--path-include=/usr/share/doc/a/x", "--path-exclude=/usr/*")
        )
        self.assertFalse(rules.comes(member("/usr/share/doc/a", "directory")))
        self.assertFalse(rules.comes(member("/usr/share/doc/a/x")))

    def test_other_names_of_a_file(self):
        """One is linked to the first of them, which has to come or be there already."""
        with tempfile.TemporaryDirectory() as directory:
            a, b, c = (os.path.join(directory, name) for name in "abc")
            links = [member(a), *(member(path)._replace(target=a) for path in (b, c))]
            contents, files = Contents(links, [], {}), fakes.context(noop=True).files
            for left_out, refused in ((a, True), (b, False), (c, False)):
                rules = HostRules({}, {}, filters("--path-exclude=" + left_out))
                try:
                    rules.refuse(files, contents, "p")
                except ResourceError as error:
                    expect_text(str(error), self)
                    self.assertTrue(refused, left_out)
                else:
                    self.assertFalse(refused, left_out)
            open(a, "w").close()
            with self.assertRaises(Unknowable):
                HostRules({}, {}, filters("--path-exclude=" + a)).refuse(files, contents, "p")

    def test_what_is_known_of_a_package_stays_as_it_is(self):
        """Two hosts take the same contents each by its own rules, and tell the same of it."""
        contents = Contents([member("/etc/a"), member("/usr/b")], ["/etc/a"], {})
        form = contents.form()
        one = HostRules(
            {"/etc/a": Diversion("/etc/x", "")}, {"/usr/b": Override(1, 2, 0o600)}, filters()
        )
        other = HostRules({}, {}, filters("--path-exclude=/usr/*"))
        self.assertEqual(
            [m[:5] for m in one.applied(contents, "p").members],
            [("/etc/x", "file", 0o644, 0, 0), ("/usr/b", "file", 0o600, 1, 2)],
        )
        self.assertEqual(one.applied(contents, "p").conffiles, ["/etc/x"])
        self.assertEqual([m.path for m in other.applied(contents, "p").members], ["/etc/a"])
        self.assertEqual(contents.form(), form)

    def test_what_is_not_unpacked(self):
        """A file in the place that another is diverted to, or without a directory to lie in."""
        files = fakes.context(noop=True).files
        to = {"/usr/bin/a": Diversion("/nonexistent/a", "")}
        for rules, path in (
            (HostRules(to, {}, filters()), "/usr/bin/a"),
            (HostRules(to, {}, filters()), "/nonexistent/a"),
        ):
            with self.assertRaises(ResourceError):
                rules.refuse(files, Contents([member(path)], [], {}), "p")
        directory = Contents([member("/opt/none", "directory"), member("/opt/none/f")], [], {})
        with self.assertRaisesRegex(ResourceError, "the directory /opt/none"):
            HostRules({}, {}, filters("--path-exclude=/opt/none")).refuse(files, directory, "p")
        HostRules({}, {}, filters("--path-exclude=/opt/none/f")).refuse(files, directory, "p")
        forced = Settings((), frozenset(["overwrite-diverted"]))
        kept = Contents([member("/usr/bin/a.x")], [], {})
        HostRules({"/usr/bin/a": Diversion("/usr/bin/a.x", "")}, {}, forced).refuse(
            files, kept, "p"
        )


if __name__ == "__main__":
    unittest.main()
