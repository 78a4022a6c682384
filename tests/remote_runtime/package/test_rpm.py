"""What dnf says it would install, what an RPM holds and what comes of it."""

import hashlib
import os
import shutil
import tempfile
import unittest
from unittest import mock

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import AccountEffect, PathEffect, UnitEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dnf import package_files as rpm_probe
from remote_runtime.packages.dnf import transaction as dnf_transaction
from remote_runtime.packages.dnf.transaction import NewPackage
from remote_runtime.packages.dpkg.installed_packages import Installations
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.packages.package_inspection import Indexed
from remote_runtime.packages.rpm import package_contents as rpm_contents
from remote_runtime.packages.rpm.effects import RpmEffects
from remote_runtime.packages.rpm.installed_packages import FILES, OWNERS, RpmInstallations
from remote_runtime.system.process.commands import Result
from remote_runtime.uncertainty import Uncertainty

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

    def test_the_table(self):
        """Changed and removed packages come apart from new ones, each in its own list."""
        app, base, long = COMING
        for section, place in (("Upgrading", 1), ("Downgrading", 1), ("Removing", 2)):
            text = TABLE.replace("Installing dependencies", section)
            expected = [[app], [], []]
            expected[place] = [base, long]
            self.assertEqual(dnf_transaction.table_of(text), tuple(expected), section)
        for other in ("Reinstalling", "Enabling module streams"):
            text = TABLE.replace("Installing dependencies", other)
            self.assertIsNone(dnf_transaction.table_of(text), other)

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
            [("/etc/a.conf", "file"), ("/etc/b.conf", "file"), ("/var/lib/a", "directory")],
        )
        self.assertEqual(contents.conffiles, ["/etc/a.conf", "/etc/b.conf"])
        self.assertEqual(
            [(member.owner, member.group, member.config) for member in contents.members],
            [("", "", "config noreplace"), ("", "", "config"), ("app", "", "")],
        )
        self.assertEqual(contents.members[0].text, "x\n")
        self.assertEqual(sorted(contents.scripts), ["postinst", "preinst"])
        runs = script_sequence.runs("a", contents.scripts, {"preinst": ["1"], "postinst": ["1"]})
        calls = script_sequence.calls_of_scripts(runs)
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

    def effects(self, contents, installed=None):
        """The effects of a new package, or of the next version of one that is ``installed``."""
        records = Installations()
        if installed is not None:
            records = RpmInstallations(["a"], lambda argv: installed)
        consequences = RpmEffects(self.context, records, {"a": contents}.get, {})
        before = "" if installed is None else "0:1-1"
        return consequences.of([VersionChange("a", before, "0:2-1")])

    def removal(self, installed, owners=""):
        """The effects of the removal of a package."""
        names = "".join(line.partition("\t")[0] + "\n" for line in owners.splitlines())

        def ask(argv):
            told = {OWNERS[3]: names, FILES[3]: owners}
            return told.get(argv[3], installed)

        records = RpmInstallations(["a"], ask)
        consequences = RpmEffects(self.context, records, lambda name: None, {})
        return consequences.of([VersionChange("a", "0:1-1", "")])

    def member(self, name, text="new\n", config="", **more):
        digest = hashlib.sha256(text.encode()).hexdigest()
        path = self.path(name)
        return Member(
            path, "file", 0o644, 0, 0, len(text), digest, text=text, config=config, **more
        )

    def installed(self, *files, preun="", postun=""):
        """What rpm tells of a package of these files, each with its flags and its text."""
        rows = [(self.path(n), flags, hashlib.sha256(t).hexdigest()) for n, flags, t in files]
        listed = "".join("%s\t%d\t%s\n" % row for row in rows)
        scripts = ["/bin/sh" if preun else "(none)", preun, "/bin/sh" if postun else "(none)"]
        return "\x1e".join(["a\t0:1-1", listed, *scripts, postun]) + "\x1d"

    def changes(self, effects):
        """The names of the changed paths, those that go with a minus."""
        return [
            ("-" if effect.kind == "absent" else "") + os.path.relpath(effect.path, self.root)
            for effect in effects
            if isinstance(effect, PathEffect)
        ]

    def test_configuration_files(self):
        """One that is there and differs stays, and the package's own comes beside it; one that
        is replaced is moved away.
        """
        for name, text in (("edited", b"mine\n"), ("same", b"new\n"), ("moved", b"mine\n")):
            self.write(name, text)
        kept = [
            self.member(name, config="config noreplace") for name in ("edited", "same", "missing")
        ]
        members = [*kept, self.member("moved", config="config")]
        effects = self.effects(Contents(members, [m.path for m in members], {}))
        self.assertEqual(
            self.changes(effects), ["edited.rpmnew", "same", "missing", "moved.rpmorig", "moved"]
        )
        self.assertEqual(b"".join(effects[-2].content.chunks()), b"mine\n")

    def test_a_configuration_file_that_is_a_link(self):
        """It differs from any file."""
        os.symlink("elsewhere", self.path("kept"))
        os.symlink("elsewhere", self.path("moved"))
        members = [
            self.member("kept", config="config noreplace"),
            self.member("moved", config="config"),
        ]
        effects = self.effects(Contents(members, [m.path for m in members], {}))
        self.assertEqual(self.changes(effects), ["kept.rpmnew", "moved.rpmorig", "moved"])
        self.assertEqual((effects[-2].kind, effects[-2].target), ("symlink", "elsewhere"))

    def test_configuration_files_of_the_next_version(self):
        """An edited one stays if the package has the same file as before, or is not to replace
        it; rpm does not bring back what may be missing.
        """
        for name in ("plain", "edited", "moved", "unchanged"):
            self.write(name, b"old\n" if name == "plain" else b"mine\n")
        old = self.installed(
            ("plain", 17, b"old\n"),
            ("edited", 17, b"old\n"),
            ("moved", 1, b"old\n"),
            ("unchanged", 17, b"new\n"),
            ("optional", 9, b"new\n"),
            ("deleted", 17, b"new\n"),
        )
        members = [
            self.member("plain", config="config noreplace"),
            self.member("edited", config="config noreplace"),
            self.member("moved", config="config"),
            self.member("unchanged", config="config noreplace"),
            self.member("optional", config="config missingok"),
            self.member("deleted", config="config noreplace"),
        ]
        effects = self.effects(Contents(members, [m.path for m in members], {}), old)
        self.assertEqual(
            self.changes(effects),
            ["plain", "edited.rpmnew", "moved.rpmsave", "moved", "deleted"],
        )

    def test_what_the_next_version_lacks(self):
        """It goes, and an edited configuration file keeps a copy."""
        os.makedirs(self.path("d"))
        self.write("plain", b"old\n")
        self.write("d/edited", b"mine\n")
        old = self.installed(("plain", 1, b"old\n"), ("d", 0, b""), ("d/edited", 17, b"old\n"))
        effects = self.effects(Contents([], [], {}), old)
        self.assertEqual(self.changes(effects), ["d/edited.rpmsave", "-plain", "-d/edited"])

    def test_a_file_that_another_package_takes_over(self):
        """It does not go with the version that had it."""
        self.write("f", b"old\n")
        records = RpmInstallations(["a"], lambda argv: self.installed(("f", 0, b"old\n")))
        contents = {"a": Contents([], [], {}), "b": Contents([self.member("f")], [], {})}
        consequences = RpmEffects(self.context, records, contents.get, {})
        effects = consequences.of(
            [VersionChange("b", "", "0:1-1"), VersionChange("a", "0:1-1", "0:2-1")]
        )
        self.assertEqual(self.changes(effects), ["f"])

    def test_a_removal(self):
        """Files go with their directories, except for those that other packages also own."""
        for name in ("own/f", "shared/f", "shared/both"):
            os.makedirs(self.path(os.path.dirname(name)), exist_ok=True)
            self.write(name, b"old\n")
        files = [
            ("own", 0, b""),
            ("own/f", 0, b"old\n"),
            ("shared", 0, b""),
            ("shared/f", 17, b"old\n"),
            ("shared/both", 17, b"mine\n"),
        ]
        owners = "b\t%s\nb\t%s\n" % (self.path("shared"), self.path("shared/both"))
        effects = self.removal(self.installed(*files), owners)
        self.assertEqual(self.changes(effects), ["-shared/f", "-own/f", "-own"])

    def test_triggers_of_a_removal(self):
        """What those of other packages and its own ones change is unknown."""
        rows = [
            ("b", "un", "a < 2, c", "/bin/sh", "echo > /data/before"),
            ("b", "postun", "a", "/bin/sh", "echo > /data/after"),
            ("b", "in", "a", "/bin/sh", "echo > /data/installed"),
            ("b", "un", "c", "/bin/sh", "echo > /data/other"),
            ("b", "un", "a", "/bin/sh", "#" * (1 << 20)),
        ]
        own = [("a", "un", "c", "/bin/sh", "echo > /data/own")]
        installed = self.installed()

        def ask(argv):
            told = rows if "--triggeredby" in argv else own if "TRIGGER" in argv[3] else None
            if told is None:
                return installed
            return "no package triggers z\n" + "".join("\x1e".join(row) + "\x1d" for row in told)

        records = RpmInstallations(["a"], ask)
        effects = RpmEffects(self.context, records, lambda name: None, {}).of(
            [VersionChange("a", "0:1-1", "")]
        )
        fog = [effect for effect in effects if isinstance(effect, UnknownEffect)]
        for path, covered in (
            ("/data/before", True),
            ("/data/after", True),
            ("/data/own", True),
            ("/srv/of-the-long-script", True),
            ("/data/installed", False),
            ("/data/other", False),
        ):
            found = any(effect.covers("path", path, False) for effect in fog)
            self.assertEqual(found, covered, path)

    def test_scripts_of_the_previous_version(self):
        """They run with the number of versions that stay."""
        script = "if [ $1 -eq %d ]; then rm -f " + self.path("%s") + "; fi\n"
        self.write("x")
        self.write("y")
        old = self.installed(preun=script % (0, "x"), postun=script % (1, "y"))
        self.assertEqual(self.changes(self.effects(Contents([], [], {}), old)), ["-y"])
        self.assertEqual(self.changes(self.removal(old)), ["-x"])

    def test_a_package_without_files(self):
        """rpm prints a word for no name."""
        printed = "a\t0:1-1\x1e(none)\t(none)\t(none)\n" + "\x1e(none)" * 4 + "\x1d"
        kept = RpmInstallations(["a"], lambda argv: printed).kept("a")
        self.assertEqual((kept.paths, kept.scripts), ([], {}))
        nothing = "(none) (none) " * 4 + "'(none)' (none) '(none)' '(none)'\n"
        self.assertEqual(rpm_contents.Header(nothing).paths, [])

    def test_what_is_not_clear(self):
        """Several versions side by side, a package that is not there, and odd output."""
        one = self.installed()
        for printed in (one + one, "", "package a is not installed\n", "a\t0:1-1\x1ex\x1d"):
            ask = mock.Mock(return_value=printed)
            with self.assertRaises(Unknowable):
                RpmInstallations(["a"], ask)

    def test_a_directory_at_the_path_of_a_file(self):
        """rpm does not replace it."""
        os.makedirs(self.path("f"))
        with self.assertRaisesRegex(ResourceError, "f is a directory, but not in the package"):
            self.effects(Contents([self.member("f")], [], {}))

    def test_owners(self):
        """The numbers are those of the host, or of accounts that the first script creates."""
        script = "useradd -r -u 4711 ccm-app\n"
        members = [
            self.member("f", owner="ccm-app"),
            self.member("config", owner="ccm-app", config="config noreplace"),
            self.member("unknown", owner="ccm-nobody"),
        ]
        effects = self.effects(Contents(members, [members[1].path], {"preinst": script}))
        found = {e.path: e for e in effects if isinstance(e, PathEffect)}
        self.assertEqual(found[self.path("f")].uid, 4711)
        self.assertEqual(found[self.path("config")].uid, 4711)
        self.assertEqual(found[self.path("unknown")].kind, "something")

    def test_a_number_that_another_account_has(self):
        """The tool fails, so it is unknown whether the account exists."""
        effects = self.effects(Contents([], [], {"preinst": "useradd -r -u 0 ccm-app\n"}))
        self.assertNotIn("ccm-app", [e.name for e in effects if isinstance(e, AccountEffect)])
        about = [effect for effect in effects if isinstance(effect, UnknownEffect)]
        self.assertTrue(any(one.covers("user", "ccm-app", False) for one in about))
        self.assertFalse(any(one.covers("user", "ccm-b", False) for one in about))

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

    def test_units_that_scripts_stop_or_restart(self):
        """A removal takes a disabled unit's links along; an upgrade restarts what runs."""
        unit, link = "ccm-a.service", "/etc/systemd/system/multi-user.target.wants/ccm-a.service"
        path = "/usr/lib/systemd/system/" + unit
        listed = "%s\t0\t%s\n" % (path, hashlib.sha256(UNIT.encode()).hexdigest())
        helper = "systemd-update-helper %s " + unit
        for stop in (
            "systemctl --no-reload disable --now ccm-a.service",
            helper % "remove-system-units",
        ):
            self.context = make_context(FakeCommands(), noop=True)
            there = [
                PathEffect(path, "file", 0o644, content=Text(UNIT)),
                PathEffect(link, "symlink", target=path),
            ]
            self.context.expect(there, Uncertainty(), "file#x")
            script = "if [ $1 -eq 0 ]; then %s || :; fi" % stop
            printed = "\x1e".join(["a\t0:1-1", listed, "/bin/sh", script, "(none)", "(none)\x1d"])
            effects = self.removal(printed)
            gone = [e.path for e in effects if isinstance(e, PathEffect) and e.kind == "absent"]
            self.assertEqual(gone, [path, link], stop)
            self.assertIn(unit, [e.name for e in effects if isinstance(e, UnitEffect)])
        for again in ("systemctl try-restart ccm-a.service", helper % "mark-restart-system-units"):
            runs = script_sequence.runs(
                "a", {"postrm": "if [ $1 -ge 1 ]; then %s; fi" % again}, {"postrm": ["1"]}
            )
            calls = script_sequence.calls_of_scripts(runs)
            self.assertEqual((calls.restarted, calls.stopped), ({unit}, set()), again)

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
    def headers(self, *answers):
        """The accounts in the scripts of two RPMs, and the number of queries."""
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        paths = [os.path.join(directory, name) for name in ("a.rpm", "b.rpm")]
        for path in paths:
            os.mkdir(path[:-4])
            with open(path, "w"):
                pass
        commands = FakeCommands()
        commands.on("rpm -qp", *answers)
        commands.on("sh -c", "")
        packages = rpm_probe.Rpms(make_context(commands, noop=True), lambda wanted, to: None)
        found = []
        for path in paths:
            try:
                found.append(packages.unpack(path, path[:-4]).scripts.get("preinst"))
            except ValueError:
                found.append("broken")
        return found, commands.count("rpm -qp")

    def test_headers_are_read_once(self):
        """One query of rpm reads those of all packages; if it fails, each is read alone."""
        scripts = ["(none) (none) /bin/sh 'useradd %s' (none) (none) (none) (none) \x1e"] * 2
        first, second = [text % name for text, name in zip(scripts, "ab")]
        both = ["useradd a\n", "useradd b\n"]
        self.assertEqual(self.headers(first + second), (both, 1))
        self.assertEqual(self.headers(Result(1, first, "b: no package"), first, second), (both, 3))
        unreadable = Result(1, "", "no package")
        found = self.headers(unreadable, first, unreadable)
        self.assertEqual(found, (["useradd a\n", "broken"], 3))

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
