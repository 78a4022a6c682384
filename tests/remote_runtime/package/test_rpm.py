"""What dnf says it would install, what an RPM holds and what comes of it."""

import hashlib
import os
import shutil
import tempfile
import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import AccountEffect, PathEffect, Uncertainty, UnitEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dnf import transaction as dnf_transaction
from remote_runtime.packages.dnf.transaction import NewPackage
from remote_runtime.packages.dpkg.contents import Contents, Member
from remote_runtime.packages.dpkg.installed import Installations
from remote_runtime.packages.inspection import Indexed
from remote_runtime.packages.maintainer_scripts import package_scripts
from remote_runtime.packages.rpm import contents as rpm_contents
from remote_runtime.packages.rpm import probe as rpm_probe
from remote_runtime.packages.rpm.effects import RpmEffects
from remote_runtime.packages.values import VersionChange
from remote_runtime.system.process.commands import Result

from .. import fakes
from ..fake_commands import FakeCommands, make_context

TABLE = """\
Dependencies resolved.
================================================================================
 Package           Architecture     Version             Repository         Size
================================================================================
Installing:
 pv-app            noarch           1.0-1.el9           pv                6.5 k
Installing dependencies:
 pv-base           noarch           2:2.0-1.el9         pv                 60  
 pv-a-package-whose-name-is-very-long
                   x86_64           1.0-1.el9           pv                6.5 k

Transaction Summary
================================================================================
Install  3 Packages

Total download size: 13 k
Operation aborted.
"""  # noqa: W291 - as dnf pads it
COMING = [
    NewPackage("pv-app", "0:1.0-1.el9", "noarch", "pv"),
    NewPackage("pv-base", "2:2.0-1.el9", "noarch", "pv"),
    NewPackage("pv-a-package-whose-name-is-very-long", "0:1.0-1.el9", "x86_64", "pv"),
]
SHA = bytes(range(32))
HEADER = """\
(none) (none) '/bin/sh' 'getent passwd app >/dev/null || useradd -r app' '/bin/sh' 'if [ $1 -eq 1 ]
then systemctl --no-reload preset a.service &>/dev/null || : ; fi' '<lua>' 'print("it'\\''s")' \
'/etc/a.conf' 17 'root' 'root'
'/etc/b.conf' 1 'root' 'root'
'/var/lib/a' 0 'app' 'root'
'/var/lib/a/cache' 64 'root' 'root'
"""
UNIT = "[Unit]\n[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"


class Transaction(unittest.TestCase):
    def test_what_comes(self):
        """Each package with its version, whole, also where dnf has broken a line."""
        self.assertEqual(dnf_transaction.new_packages(TABLE), COMING)
        self.assertEqual(COMING[1].spec, "pv-base-2:2.0-1.el9.noarch")

    def test_more_than_installing(self):
        """What changes or removes what is there, or is no table at all, is not known."""
        for other in ("Upgrading", "Removing dependent packages", "Reinstalling"):
            text = TABLE.replace("Installing dependencies", other)
            self.assertIsNone(dnf_transaction.new_packages(text), other)
        replaced = TABLE.replace("60  \n", "60  \n     replacing  pv-old.noarch 1.0-1.el9\n")
        self.assertIsNone(dnf_transaction.new_packages(replaced))
        for text in ("", "Nothing to do.\nComplete!\n"):
            self.assertIsNone(dnf_transaction.new_packages(text))

    def test_the_index(self):
        """Its hash and sizes count for that very package of that repository, by SHA-256 only."""
        lines = [
            ("pv-app", "0", "1.0", "1.el9", "noarch", "pv", "6656", "120", (6, SHA)),
            ("pv-base", "2", "2.0", "1.el9", "noarch", "other", "6656", "120", (6, SHA)),
            ("pv-a-package-whose-name-is-very-long", "0", "1.0", "1.el9", "x86_64", "pv",
             "6656", "120", (2, SHA[:20])),
        ]  # fmt: skip
        printed = "".join("\t".join(map(str, line)) + "\n" for line in lines)
        found = dnf_transaction.indexed(printed, COMING)
        self.assertEqual(
            found, [Indexed("pv-app", "0:1.0-1.el9", sha256=SHA.hex(), size=6656, unpacked=120)]
        )
        self.assertEqual(dnf_transaction.indexed("pv-app\t(6, open('x'))\n", COMING), [])


class Reading(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def unpack(self, *paths):
        for path in paths:
            full = self.directory + path
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write("x\n")

    def test_what_stands_in_an_rpm(self):
        """Its own files only, not what it only owns; what is to stay; scripts by when they run."""
        self.unpack("/etc/a.conf", "/etc/b.conf")
        os.makedirs(self.directory + "/var/lib/a")
        contents = rpm_contents.Header(HEADER).contents(self.directory)
        self.assertEqual(
            [(member.path, member.kind) for member in contents.members],
            [("/etc/a.conf", "file"), ("/etc/b.conf", "file"), ("/var/lib/a", "something")],
        )
        self.assertEqual(contents.conffiles, ["/etc/a.conf"])
        self.assertEqual(contents.members[0].text, "x\n")
        self.assertEqual(sorted(contents.scripts), ["postinst", "preinst"])
        runs = package_scripts.runs("a", contents.scripts, {"preinst": ["1"], "postinst": ["1"]})
        calls = package_scripts.calls_of_scripts(runs)
        made = [a.kind for a in calls.accounts.created if a.name == "app"]
        self.assertEqual(made, ["user", "group"])
        self.assertEqual((calls.preset, calls.started), ({"a.service"}, set()))
        text = contents.scripts["preinst"] + contents.scripts["postinst"]
        self.assertIn('<lua> print("it\'s")', text)

    def test_what_is_not_whole(self):
        """A file that was not unpacked, and an answer that is none, make it unknown."""
        for printed in ("", HEADER, HEADER + "'/more'", HEADER.replace(" 17 ", " x ")):
            with self.assertRaises(ValueError):
                rpm_contents.Header(printed).contents(self.directory)

    def test_fingerprints(self):
        """An installed package has that of what was read of its file."""
        self.unpack("/etc/a.conf", "/etc/b.conf", "/var/lib/a/x")
        form = rpm_contents.Header(HEADER).contents(self.directory).form()
        found = rpm_contents.fingerprints("'a' %s\x1e'b' %s\x1e" % (HEADER, HEADER))
        from remote_runtime.protocol.package_sharing import fingerprint

        print_ = fingerprint([member[0] for member in form["members"]], form["scripts"])
        self.assertEqual(found, {"a": print_, "b": print_})
        self.assertEqual(rpm_contents.fingerprints("package x is not installed\n\x1e"), {})


class Host(fakes.DirectoryTest):
    """Effects on a directory that stands for a host, whose paths are whole."""

    def setUp(self):
        super().setUp()
        self.context = fakes.context(noop=True)

    def effects(self, contents):
        consequences = RpmEffects(self.context, Installations(), {"a": contents}.get, {})
        return consequences.of([VersionChange("a", "", "0:1-1")])

    def member(self, name, text="new\n"):
        digest = hashlib.sha256(text.encode()).hexdigest()
        return Member(self.path(name), "file", 0o644, 0, 0, len(text), digest, text=text)

    def test_configuration_files(self):
        """One that is there and differs stays, and the package's own comes beside it."""
        self.write("edited", b"mine\n")
        self.write("same", b"new\n")
        self.write("replaced", b"mine\n")
        members = [self.member(name) for name in ("edited", "same", "missing", "replaced")]
        kept = [member.path for member in members[:3]]
        effects = self.effects(Contents(members, kept, {}))
        self.assertEqual(
            [effect.path for effect in effects if isinstance(effect, PathEffect)],
            [self.path(name) for name in ("edited.rpmnew", "same", "missing", "replaced")],
        )

    def test_what_an_owner_of_its_own_has(self):
        """It comes, and no more is known of it."""
        member = Member(self.path("state"), "something", 0o600, 0, 0)
        self.assertIn(
            PathEffect(member.path, "something"), self.effects(Contents([member], [], {}))
        )

    def units(self, script, *presets):
        self.context = make_context(FakeCommands(["systemctl"]), noop=True)
        effects = [
            PathEffect("/run/systemd/system", "directory"),
            *[PathEffect(path, "file", 0o644, content=Text(t)) for path, t in presets],
        ]
        self.context.expect(effects, Uncertainty(), "file#x")
        member = Member("/usr/lib/systemd/system/ccm-a.service", "file", 0o644, 0, 0, text=UNIT)
        found = self.effects(Contents([member], [], {"postinst": script}))
        links = [e.path for e in found if isinstance(e, PathEffect) and e.kind == "symlink"]
        return [e for e in found if isinstance(e, UnitEffect)], links

    def test_units(self):
        """The host's presets decide whether one is enabled; none is started but by a script."""
        preset = "systemctl --no-reload preset ccm-a.service\n"
        off = ("/usr/lib/systemd/system-preset/00-ccm.preset", "# all\ndisable ccm-*\n")
        on = ("/etc/systemd/system-preset/00-ccm.preset", "enable ccm-a.service\n")
        link = "/etc/systemd/system/multi-user.target.wants/ccm-a.service"
        for script, presets, wanted, links in (
            (preset, [off], [], []),
            (preset, [off, on], [UnitEffect("ccm-a.service", None, True)], [link]),
            ("", [on], [], []),
            ("systemctl start ccm-a.service\n", [], [UnitEffect("ccm-a.service", True)], []),
        ):
            self.assertEqual(self.units(script, *presets), (wanted, links), (script, presets))

    def test_what_no_script_shows(self):
        """Accounts and directories that rpm or systemd may create for a package are unknown."""
        sysusers = Member("/usr/lib/sysusers.d/a.conf", "file", 0o644, 0, 0, text="u ccm-a -\n")
        tmpfiles = Member("/usr/lib/tmpfiles.d/a.conf", "file", 0o644, 0, 0, text="")
        fog = self.effects(Contents([sysusers, tmpfiles], [], {}))[-1]
        self.assertIsInstance(fog, UnknownEffect)
        for kind, value, present, covered in (
            ("user", "ccm-a", False, True),
            ("group", "ccm-a", False, True),
            ("user", "ccm-b", False, False),
            ("path", "/run/a", False, True),
            ("path", "/run/a", True, False),
            ("path", "/etc/a", False, False),
        ):
            self.assertEqual(fog.covers(kind, value, present), covered, (kind, value, present))
        found = self.effects(Contents([sysusers], [], {"postinst": "systemd-sysusers a.conf\n"}))
        self.assertIn(AccountEffect("user", "ccm-a"), found)
        about = [effect for effect in found if isinstance(effect, UnknownEffect)]
        self.assertFalse(any(one.covers("user", "ccm-a", False) for one in about))

    def test_accounts(self):
        """They come with the script that makes them."""
        script = "getent passwd ccm-app >/dev/null || useradd -r ccm-app\n"
        effects = self.effects(Contents([], [], {"preinst": script}))
        self.assertIn(AccountEffect("user", "ccm-app"), effects)


if __name__ == "__main__":
    unittest.main()


class Downloads(unittest.TestCase):
    def test_what_cannot_be_fetched(self):
        """A file that is gone fails as in a push; a network may be better by then."""
        gone = Result(1, "", "Error opening /srv/a.rpm: No such file or directory")
        silent = Result(1, "", "Error downloading packages: Curl error (28): Timeout")
        locked = ResourceError("x", "package.locked")
        error = ResourceError("x", "package.download")
        for failed, result, raised in (
            (error, gone, ResourceError),
            (error, silent, Unknowable),
            (Unknowable("no overlay"), silent, Unknowable),
        ):
            with self.assertRaises(raised):
                rpm_probe.refuse(failed, result)
        rpm_probe.refuse(locked, gone)  # what the download does not tell of
