"""What is read of a Debian package, and what follows of it for a host."""

import hashlib
import json
import os
import shutil
import tempfile
import unittest
from typing import Any, List

from remote_runtime.changes import Unknowable
from remote_runtime.effects import (
    AccountEffect,
    PackageEffect,
    PathEffect,
    UnitEffect,
    UnknownEffect,
)
from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt.package_files import Debs, indexed
from remote_runtime.packages.dpkg import package_contents as deb_contents
from remote_runtime.packages.dpkg.effects import DebEffects
from remote_runtime.packages.dpkg.host_rules import HostRules
from remote_runtime.packages.dpkg.installed_packages import Registry, units_below
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.packages.dpkg.settings import Settings
from remote_runtime.packages.maintainer_scripts import unit_and_account_calls as deb_scripts
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.packages.package_inspection import Indexed, Probe
from remote_runtime.system.process.commands import Result
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from .. import fakes
from ..fake_commands import FakeCommands, make_context
from ..protocol.test_package_sharing import Channel

DEBHELPER = """#!/bin/sh
set -e
UNIT=a.service
if ! getent passwd daemon-of-a >/dev/null; then
    adduser --system --home /var/lib/a --no-create-home \\
        --group daemon-of-a
fi
if deb-systemd-helper --quiet was-enabled "$UNIT"; then
    deb-systemd-helper enable $UNIT >/dev/null || true
fi
if deb-systemd-helper debian-installed 'b.socket'; then
    deb-systemd-helper enable 'b.socket' >/dev/null || true
fi
if [ -n "$2" ]; then _dh_action=restart; else _dh_action=start; fi
deb-systemd-invoke $_dh_action 'a.service' >/dev/null || true
make-it /var/lib/a/made
"""
UNIT = "[Service]\nExecStart=/bin/a\n[Install]\nWantedBy=multi-user.target\n"


class Scripts(unittest.TestCase):
    def test_the_snippets_of_debhelper(self):
        """Units that are enabled and started, through variables and conditions."""
        calls = deb_scripts.read(DEBHELPER)
        self.assertEqual((calls.enabled, calls.started), ({"a.service"}, {"a.service"}))

    def test_by_hand(self):
        """systemctl, service and invoke-rc.d count as well, with and without the ending."""
        for line, started, stopped in (
            ("systemctl start x", {"x.service"}, set()),
            ("systemctl enable --now x.timer", {"x.timer"}, set()),
            ("invoke-rc.d x start || exit 1", {"x.service"}, set()),
            ("deb-systemd-invoke stop 'x.service' >/dev/null || true", set(), {"x.service"}),
            ("systemctl daemon-reload", set(), set()),
            ("# systemctl start x", set(), set()),
        ):
            calls = deb_scripts.read(line)
            self.assertEqual((calls.started, calls.stopped), (started, stopped), line)

    def test_lines_that_do_nothing(self):
        """Questions, settings and words to people are not among the lines that may divert."""
        text = 'set -e\nunit=a.service\nif [ -n "$2" ]; then\n  echo hello\nfi\nexit 0\n'
        found = deb_scripts.diverted_by({"preinst": text + "dpkg-divert $a\necho a > /b\n"})
        expect_text(found.text, self)

    def test_what_scripts_divert(self):
        """The paths that lines name, where they go, and all names where a variable hides some."""
        named = deb_scripts.diverted_by(
            {
                "preinst": "dpkg-divert --package a --rename \\\n --divert /usr/bin/x.real --add"
                " /usr/bin/x\n",
                "postinst": 'F=/usr/bin/y\nif ! dpkg-statoverride --list "$F"; then\n'
                "dpkg-statoverride --update --add root adm 2755 $F\nfi\n",
                "prerm": "dpkg-divert --remove /usr/bin/z\n",
            }
        )
        paths = ["/usr/bin/x", "/usr/bin/x.real", "/usr/bin/x.distrib", "/usr/bin/y"]
        self.assertEqual([named.has(path) for path in paths], [True] * 4)
        self.assertFalse(named.has("/usr/bin/z"))
        loop = 'for f in liba.so libb.so; do\ndpkg-divert --add --rename "/usr/lib/$f"\ndone\n'
        hidden = deb_scripts.diverted_by({"preinst": loop})
        self.assertTrue(hidden.has("/usr/lib/libb.so"))
        self.assertFalse(hidden.has("/usr/lib/libc.so"))
        asked = deb_scripts.diverted_by({"preinst": "dpkg-divert --truename $f\n"})
        self.assertFalse(asked.has("/usr/lib/f"))


class Reading(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        for path, text in (
            ("DEBIAN/conffiles", "/etc/a.conf\nremove-on-upgrade /etc/old\n"),
            ("DEBIAN/postinst", DEBHELPER),
            ("etc/a.conf", "a = 1\n"),
            ("usr/bin/a", "\x7fELF"),
        ):
            full = os.path.join(self.directory, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write(text)
        os.symlink("a", os.path.join(self.directory, "usr/bin/b"))

    def test_other_names_of_a_file(self):
        """Each but the first, in the order of the package, says which file it is."""
        for name in ("c", "0"):
            os.link(self.directory + "/usr/bin/a", os.path.join(self.directory, "usr/bin", name))
        found = {m.path: m.target for m in deb_contents.read(self.directory).members}
        names = [found["/usr/bin/" + name] for name in ("0", "a", "b", "c")]
        self.assertEqual(names, ["", "/usr/bin/0", "a", "/usr/bin/0"])

    def test_what_stands_in_a_package(self):
        """Files with mode and hash, links, conffiles, scripts; texts of configuration only."""
        contents = deb_contents.read(self.directory)
        members = {member.path: member for member in contents.members}
        self.assertEqual(
            sorted(members), ["/etc", "/etc/a.conf", "/usr", "/usr/bin", "/usr/bin/a", "/usr/bin/b"]
        )
        self.assertEqual((members["/etc/a.conf"].text, members["/usr/bin/a"].text), ("a = 1\n", ""))
        self.assertEqual(members["/usr/bin/b"].target, "a")
        self.assertEqual(members["/usr/bin/a"].sha256, hashlib.sha256(b"\x7fELF").hexdigest())
        self.assertEqual(
            (contents.conffiles, sorted(contents.scripts)), (["/etc/a.conf"], ["postinst"])
        )

    def test_a_link_in_place_of_a_script(self):
        """A package whose script or list is a symlink is refused: it may lead to any file."""
        for name in ("prerm", "conffiles"):
            path = os.path.join(self.directory, "DEBIAN", name)
            if os.path.exists(path):
                os.unlink(path)
            os.symlink("/etc/passwd", path)
            with self.assertRaisesRegex(ValueError, name + " is a symlink"):
                deb_contents.read(self.directory)
            os.unlink(path)

    def test_a_deep_directory(self):
        """A package with more levels of directories than Python can walk is refused."""
        os.makedirs(self.directory + "/a" * 150)
        with self.assertRaisesRegex(ValueError, "more than 100 directories"):
            deb_contents.read(self.directory)

    def test_texts_of_data(self):
        """Small texts that all may read, the smallest first, as long as there is room for them."""
        texts = {"small": "x\n", "secret": "y\n", "big": "z" * 15000, "other": "z" * 15001}
        texts.update({"more%d" % number: "z" * 16000 for number in range(3)})
        for name, text in texts.items():
            os.makedirs(self.directory + "/var/www", exist_ok=True)
            with open(self.directory + "/var/www/" + name, "w") as file:
                file.write(text)
            os.chmod(self.directory + "/var/www/" + name, 0o600 if name == "secret" else 0o644)
        members = deb_contents.read(self.directory).members
        found = {os.path.basename(m.path): m.text for m in members if "/www/" in m.path}
        self.assertEqual((found["small"], found["secret"]), ("x\n", ""))
        self.assertEqual([bool(found["more%d" % n]) for n in range(3)], [True, True, False])
        self.assertEqual((len(found["big"]), len(found["other"])), (15000, 15001))

    def test_the_form_that_travels(self):
        """It comes out as it went in, and anything else that a host may send is refused."""
        contents = deb_contents.read(self.directory)
        form = json.loads(json.dumps(contents.form()))
        self.assertEqual(deb_contents.parse(form), contents)
        member = list(form["members"][0])
        wrong: List[Any] = [
            None,
            [],
            {},
            {**form, "more": 1},
            {**form, "members": [member] * (deb_contents.MAX_MEMBERS + 1)},
            {**form, "members": [["etc/passwd", *member[1:]]]},
            {**form, "members": [["/etc/../x", *member[1:]]]},
            {**form, "members": [["//etc", *member[1:]]]},
            {**form, "members": [["/etc/\0", *member[1:]]]},
            {**form, "members": [["/a" * 101, *member[1:]]]},
            {**form, "members": [["/a" * 50, *member[1:]]] * 9000},
            {**form, "members": [["/etc/\ud800", *member[1:]]]},
            {**form, "members": [[*member[:-1], "a\0b"]]},
            {**form, "members": [["/etc", "device", *member[2:]]]},
            {**form, "members": [["/etc", "directory", -1, *member[3:]]]},
            {**form, "members": [["/etc", "directory", True, *member[3:]]]},
            {**form, "members": [member[:3]]},
            {**form, "members": [[*member[:5], deb_contents.MAX_SIZE + 1, *member[6:]]]},
            {**form, "conffiles": [7]},
            {**form, "scripts": {"postinst": 7}},
            {**form, "scripts": {"md5sums": ""}},
            {**form, "scripts": {"postinst": "x" * (deb_contents.MAX_SCRIPT + 1)}},
        ]
        for broken in wrong:
            with self.assertRaises(ValueError):
                deb_contents.parse(broken)


class Host(unittest.TestCase):
    """Effects on a directory that stands for a host, whose paths are whole."""

    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(self.root + "/dpkg/info")
        self.context = fakes.context(noop=True)
        self.known = {}

    def path(self, name, text=None):
        full = os.path.join(self.root, name)
        if text is not None:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write(text)
        return full

    def effects(self, *changes):
        registry = Registry("amd64", self.root + "/dpkg")
        consequences = DebEffects(
            self.context,
            registry,
            contents=self.known.get,
            planned={},
            rules=HostRules({}, {}, Settings((), frozenset())),
        )
        return consequences.of([VersionChange(*change) for change in changes])

    def file(self, name, text):
        digest = hashlib.sha256(text.encode()).hexdigest()
        return Member(self.path(name), "file", 0o644, 0, 0, len(text), digest, text=text)

    def test_what_comes(self):
        """Files and links come; a directory that is there stays as it is."""
        os.makedirs(self.path("etc"))
        self.known["a"] = Contents(
            [
                Member(self.path("etc"), "directory", 0o755, 0, 0),
                Member(self.path("lib"), "directory", 0o755, 0, 0),
                self.file("lib/x", "x\n"),
                Member(self.path("lib/y"), "symlink", 0o777, 0, 0, target="x"),
            ],
            [],
            {},
        )
        package, directory, file, link = self.effects(("a", "", "1"))
        self.assertEqual(package, PackageEffect("a", "1"))
        self.assertEqual(directory, PathEffect(self.path("lib"), "directory", 0o755, 0, 0))
        self.assertEqual(
            (file.path, file.mode, file.content.read()), (self.path("lib/x"), 0o644, b"x\n")
        )
        self.assertEqual(link, PathEffect(self.path("lib/y"), "symlink", target="x"))

    def test_what_goes(self):
        """A removal takes files and empty directories, not configuration or others' directories."""
        for name in ("own/x", "shared/y", "etc/c"):
            self.path(name, "x\n")
        listed = ["own", "own/x", "shared", "shared/y", "etc", "etc/c"]
        self.path("dpkg/info/a.list", "".join(self.path(n) + "\n" for n in listed))
        self.path("dpkg/info/b:amd64.list", self.path("shared") + "\n")
        self.path("dpkg/status", "Package: a\nConffiles:\n %s 123\n" % self.path("etc/c"))
        effects = self.effects(("a", "1", ""))
        self.assertEqual(effects[0], PackageEffect("a", ""))
        gone = {effect.path for effect in effects[1:]}
        self.assertEqual(gone, {self.path(n) for n in ("own", "own/x", "shared/y")})

    def test_an_upgrade_starts_what_is_enabled(self):
        """A unit that was stopped by hand runs again, unless it is disabled or masked."""
        text = UNIT.replace("multi-user", "ccm-none")
        self.path("dpkg/info/a.list", "/lib/systemd/system/ccm-a.service\n")
        member = Member("/lib/systemd/system/ccm-a.service", "file", 0o644, 0, 0, text=text)
        starting = "deb-systemd-invoke restart ccm-a.service\n"
        self.known["a"] = Contents([member], [], {"postinst": starting})
        link = PathEffect("/etc/systemd/system/ccm-none.target.wants/ccm-a.service", "symlink")
        mask = PathEffect("/etc/systemd/system/ccm-a.service", "symlink", target="/dev/null")
        booted = PathEffect("/run/systemd/system", "directory")
        policy = PathEffect("/usr/sbin/policy-rc.d", "absent")
        for planned, active in (([], []), ([link], [True]), ([link, mask], [])):
            self.context = make_context(FakeCommands(["systemctl"]), noop=True)
            self.context.expect([booted, policy, *planned], Uncertainty(), "file#x")
            found = [e for e in self.effects(("a", "1", "2")) if isinstance(e, UnitEffect)]
            self.assertEqual([unit.active for unit in found], active, planned)

    def test_a_removal_that_masks(self):
        """An older debhelper masks what goes; a later installation takes that mask away."""
        unit, mask = "/lib/systemd/system/ccm-a.service", "/etc/systemd/system/ccm-a.service"
        self.path("dpkg/info/a.list", unit + "\n")
        self.path("dpkg/info/a.postrm", "deb-systemd-helper mask ccm-a.service\n")
        gone = self.effects(("a", "1", ""))
        self.assertIn(PathEffect(mask, "symlink", target="/dev/null"), gone)
        self.context.expect(gone, Uncertainty(), "package#a")
        unmasking = "deb-systemd-helper unmask $UNIT\nif deb-systemd-helper --quiet"
        script = DEBHELPER.replace("if deb-systemd-helper --quiet", unmasking)
        scripts = {"postinst": script.replace("a.service", "ccm-a.service")}
        member = Member(unit, "file", 0o644, 0, 0, text=UNIT)
        self.known["a"] = Contents([member], [], scripts)
        again = self.effects(("a", "", "1"))
        self.assertIn(PathEffect(mask, "absent"), again)
        self.assertEqual([e.enabled for e in again if isinstance(e, UnitEffect)], [True])

    def test_a_unit_that_goes(self):
        """It is stopped where the package's script stops it, and no unit that could be enabled."""
        self.path("dpkg/info/a.list", "/lib/systemd/system/ccm-a.service\n")
        self.path("dpkg/info/a.prerm", "deb-systemd-invoke stop ccm-a.service\n")
        self.assertEqual(self.effects(("a", "1", ""))[1:], [UnitEffect("ccm-a.service", False)])

    def test_accounts_and_units_and_what_is_left_unclear(self):
        """An account that is not there comes; lines of a script that are not known leave fog."""
        self.known["a"] = Contents(
            [Member("/usr/lib/systemd/system/ccm-a.service", "file", 0o644, 0, 0, text=UNIT)],
            [],
            {"postinst": DEBHELPER.replace("a.service", "ccm-a.service")},
        )
        effects = self.effects(("a", "", "1"))
        user, group = [effect for effect in effects if isinstance(effect, AccountEffect)]
        self.assertEqual((user[:2], group[:2]), (("user", "daemon-of-a"), ("group", "daemon-of-a")))
        self.assertEqual(getattr(user.entry, "home", ""), "/var/lib/a")
        (unit,) = [e for e in effects if isinstance(e, UnitEffect)]
        self.assertEqual((unit.name, unit.enabled), ("ccm-a.service", True))
        fog = effects[-1]  # a script runs once all is unpacked
        self.assertIsInstance(fog, UnknownEffect)
        self.assertTrue(fog.covers("path", "/var/lib/a/made", False))
        expect_text(fog.uncertainty.reason, self)
        for path, covered in (("/var/lib/a/made", True), ("/etc/x", True), ("/usr/bin/x", False)):
            self.assertIs(fog.covers("path", path, True), covered, path)
        for other in ("/home/else", "/usr/local/sbin/made"):
            self.assertFalse(fog.covers("path", other, False), other)

    def test_what_a_script_changes(self):
        """A path that a line may change or remove is in fog, with all below it; not on a purge."""
        self.known["a"] = Contents([], [], {"postinst": "chown -R root:adm /var/log/a\n"})
        fog = self.effects(("a", "", "1"))[-1]
        for path in ("/var/log/a", "/var/log/a/old"):
            self.assertTrue(fog.covers("path", path, True), path)
        self.assertFalse(fog.covers("path", "/var/log", True))
        self.path("dpkg/info/a.postrm", "grep -q x /x && rm -rf /var/cache/a\n"
                  "case $1 in\npurge)\nrm -rf /etc/a;;\n"
                  'esac\nif [ "$1" = "purge" ]; then rm -rf /var/lib/a; fi\n')  # fmt: skip
        (fog,) = [e for e in self.effects(("a", "1", "")) if isinstance(e, UnknownEffect)]
        self.assertTrue(fog.covers("path", "/var/cache/a/x", True))
        for path in ("/etc/a/conf", "/var/lib/a/x"):
            self.assertFalse(fog.covers("path", path, True), path)

    def test_units_of_others(self):
        """A unit that is not its own, and that a script starts, is not known from then on; one
        that it stops does not run."""
        script = "systemctl restart other.service\n"
        self.known["a"] = Contents([], [], {"postinst": script})
        (fog,) = [e for e in self.effects(("a", "", "1")) if isinstance(e, UnknownEffect)]
        self.assertTrue(fog.covers("unit", "other.service", True))
        self.assertFalse(fog.covers("unit", "third.service", True))
        self.path("dpkg/info/a.prerm", "invoke-rc.d other stop\n")
        self.assertIn(UnitEffect("other.service", active=False), self.effects(("a", "1", "")))

    def test_units_of_others_are_asked_for_within_bounds(self):
        """Where there is no systemctl, or there are too many of them, they are not known."""
        starting = "".join("systemctl restart u%d.service\n" % n for n in range(100))
        self.known["a"] = Contents([], [], {"postinst": starting})
        for missing, asked in (([], 20), (["systemctl"], 0)):
            commands = FakeCommands(missing)
            commands.on("systemctl show", "ActiveState=active\n")
            self.context = make_context(commands, noop=True)
            fogs = [e for e in self.effects(("a", "", "1")) if isinstance(e, UnknownEffect)]
            self.assertEqual((commands.count("systemctl"), len(fogs)), (asked, 100 - asked))

    def test_a_package_of_which_nothing_is_known(self):
        """It may bring whatever is not there, and change its own."""
        self.path("dpkg/info/a.list", "/usr/bin/a\n/usr/lib/systemd/system/a.service\n")
        fog, package = self.effects(("a", "1", "2"))
        self.assertEqual(package, PackageEffect("a", "2"))
        rows = [
            ("path", "/etc/x", False),
            ("host", "", False),
            ("host", "test -x /usr/bin/a", True),  # a guard asks of what is there as well
            ("path", "/usr/bin/a", True),
            ("unit", "a.service", True),
        ]
        self.assertTrue(all(fog.covers(*row) for row in rows))
        for path, there in (("/usr/bin/b", True), ("/srv/x", False)):
            self.assertFalse(fog.covers("path", path, there), path)

    def test_what_one_other_host_told_is_assumed(self):
        """What it says of a package, and that it says no more, holds if it is true."""
        member = Member("/usr/share/a", "file", 0o644, 0, 0)
        self.known["a"] = Contents([member], [], {})
        self.assertEqual(
            [type(e) for e in self.effects(("a", "", "1"))], [PackageEffect, PathEffect]
        )
        self.known["a"] = Contents([member], [], {}, is_so=lambda: True)
        fog = self.effects(("a", "", "1"))[-1]
        self.assertEqual(
            (fog.uncertainty.level, "one other host" in fog.uncertainty.reason), ("assumed", True)
        )
        for path, there, covered in (
            ("/usr/share/a", True, True),
            ("/srv/x", False, False),
            ("/etc/x", False, True),
            ("/etc/x", True, False),
        ):
            self.assertEqual(fog.covers("path", path, there), covered, path)

    def test_a_unit_is_enabled_by_plain_names_only(self):
        """What is no unit's name makes no link, wherever it would lead."""
        text = UNIT.replace("multi-user.target", "x/../../../../tmp/y multi-user.target")
        text += "Alias=x/../../../../tmp/z\n"
        unit = "/lib/systemd/system/ccm-a.service"
        scripts = {"postinst": DEBHELPER.replace("a.service", "ccm-a.service")}
        self.known["a"] = Contents([Member(unit, "file", 0o644, 0, 0, text=text)], [], scripts)
        effects = self.effects(("a", "", "1"))
        links = [e.path for e in effects if isinstance(e, PathEffect) and e.kind == "symlink"]
        self.assertEqual(links, ["/etc/systemd/system/multi-user.target.wants/ccm-a.service"])

    def test_units_among_paths(self):
        """Templates are none."""
        paths = [
            "/lib/systemd/system/a.service",
            "/lib/systemd/system/b@.service",
            "/etc/c.service",
        ]
        self.assertEqual(units_below(paths, ["/lib/systemd/system/"]), ["a.service"])


SHOWN = "Package: a\nArchitecture: all\nVersion: 1\nSHA256: %s\nSize: %d\nInstalled-Size: 4\n\n"


class Probing(unittest.TestCase):
    def setUp(self):
        self.asked = []
        self.package = b"a package"
        commands = FakeCommands()
        commands.on("dpkg-deb --raw-extract", "")
        self.context = make_context(commands)
        self.probe = Probe(self.context)

    def run_apt(self, words, directory, timeout):
        self.asked.append(list(words))
        with open(os.path.join(directory, "a_1_all.deb"), "w") as file:
            file.write(self.package.decode())
        os.makedirs(os.path.join(directory, "a_1_all/usr"))
        os.chmod(os.path.join(directory, "a_1_all/usr"), 0o755)
        return Result(0, "", "")

    def contents(self, sha, size=9):
        wanted = indexed([VersionChange("a", "", "1")], SHOWN % (sha, size), "amd64")
        return self.probe.contents(wanted, Debs(self.context, self.run_apt))

    def test_a_package_is_looked_into_once(self):
        """It is downloaded by its version, and kept for the run."""
        sha = hashlib.sha256(b"a package").hexdigest()
        for _ in range(2):
            (member,) = self.contents(sha)["a"].members
            self.assertEqual(member.path, "/usr")
        self.assertEqual(self.asked, [["download", "a=1"]])

    def told(self, members, *, known=False, left=False):
        """A probe whose controller has this form of the package from another host, or two."""
        sha = hashlib.sha256(b"a package").hexdigest()
        form = {"members": members, "conffiles": [], "scripts": {}}
        told = {sha: form}
        answer = (told, {}) if known else ({}, told)
        self.context._channel = Channel(*answer, [sha] if left else [])
        self.probe = Probe(self.context)
        return self.contents(sha)["a"]

    def test_what_another_host_told_is_checked_when_it_matters(self):
        """Nothing is downloaded before; the word of who lied is not taken, however often asked."""
        owner = os.geteuid(), os.getegid()
        usr = ["/usr", "directory", 0o755, *owner, 0, *[""] * 6]
        for path, is_so in (("/usr", True), ("/bin", False)):
            self.asked = []
            contents = self.told([[path, *usr[1:]]])
            self.assertEqual((contents.members[0].path, self.asked), (path, []))
            self.assertEqual([contents.is_so(), contents.is_so()], [is_so, is_so])
            self.assertEqual(self.asked, [["download", "a=1"]])

    def test_what_two_hosts_told_is_taken(self):
        """Nothing is downloaded, and nothing is to be checked."""
        contents = self.told([["/bin", "directory", 0o755, 0, 0, 0, *[""] * 6]], known=True)
        self.assertEqual((contents.is_so, self.asked), (None, []))

    def test_a_file_is_read_for_a_difference_to_it(self):
        """Once, wherever what is known of the package came from; never one that differs from it."""
        (text, directory), sha = (b"of 1\n", "a_1_all/usr"), hashlib.sha256(b"of 1\n").hexdigest()

        def run_apt(words, at, timeout):
            result = self.run_apt(words, at, timeout)
            with open(os.path.join(at, directory, "x"), "wb") as file:
                file.write(text)
            return result

        debs, package = Debs(self.context, run_apt), hashlib.sha256(b"a package").hexdigest()
        wanted = indexed([VersionChange("a", "", "1")], SHOWN % (package, 9), "amd64")
        rows = [["/usr/x", "file", 0o644, 0, 0, 5, hashed, *[""] * 5] for hashed in (sha, "0" * 64)]
        for row, read in zip(rows, (text, None)):
            self.told([row], known=True)
            self.asked = []
            contents = self.probe.contents(wanted, debs)["a"]
            packed = deb_contents.PackagedFile(contents.members[0], "a", contents.look)
            self.assertRaises(Unknowable, packed.read)
            self.assertEqual(self.asked, [])
            for _ in range(2):
                packed.fetch()
                if read is None:
                    self.assertRaises(Unknowable, packed.read)
                else:
                    self.assertEqual(packed.read(), read)
            self.assertEqual(self.asked, [["download", "a=1"]])

    def test_a_second_host_looks_itself(self):
        """What one host told counts where it cannot be looked at here, and needs a check then."""
        members = [["/bin", "directory", 0o755, 0, 0, 0, *[""] * 6]]
        contents = self.told(members, left=True)
        self.assertEqual(([m.path for m in contents.members], contents.is_so), (["/usr"], None))
        channel: Any = self.context._channel
        self.assertEqual([message["t"] for message in channel.sent], ["packages", "package"])
        self.package = b"another package"
        contents = self.told(members, left=True)
        self.assertEqual([m.path for m in contents.members], ["/bin"])
        self.assertIsNotNone(contents.is_so)

    def test_what_cannot_be_learnt_is_tried_once(self):
        """Neither the controller nor apt is asked again in this run."""
        channel = self.context._channel = Channel({})
        self.probe = Probe(self.context)
        for _ in range(2):
            self.assertEqual(self.contents("0" * 64), {})
        kinds = [message["t"] for message in channel.sent]
        self.assertEqual((kinds, len(self.asked)), (["packages", "package"], 1))

    def test_what_cannot_be_downloaded_fails_all_that_need_it(self):
        """apt is asked once; what came beside it is known."""

        def run_apt(words, directory, timeout):
            self.run_apt(words, directory, timeout)
            return Result(100, "", "E: Failed to fetch http://m/b.deb  404  Not Found")

        sha = hashlib.sha256(b"a package").hexdigest()
        known = {
            name: Indexed(name, "1", sha256=key, size=9, unpacked=9)
            for name, key in (("a", sha), ("b", "1" * 64), ("c", "2" * 64))
        }
        debs = Debs(self.context, run_apt)
        for names in ("ab", "b", "bc"):
            with self.assertRaisesRegex(ResourceError, "404"):
                self.probe.contents([known[name] for name in names], debs)
        self.assertEqual(self.asked, [["download", "a=1", "b=1"]])
        self.assertEqual(list(self.probe.contents([known["a"]], debs)), ["a"])

    def test_what_will_be_needed_is_downloaded_together(self):
        """Its download is not repeated; if it fails, what is needed now is downloaded alone."""
        shas = [hashlib.sha256(text).hexdigest() for text in (b"a package", b"missing")]
        a, b = (Indexed(n, "1", sha256=sha, size=9, unpacked=9) for n, sha in zip("ab", shas))

        def run_apt(words, directory, timeout):
            result = self.run_apt(words, directory, timeout)
            return result if "b=1" not in words else Result(100, "", "E: b  404  Not Found")

        debs = Debs(self.context, run_apt)
        channel = self.context._channel = Channel({})
        self.probe = Probe(self.context)
        self.assertEqual(list(self.probe.contents([a], debs, soon=[a, b])), ["a"])
        told = {m["sha"]: m["contents"] is None for m in channel.sent if m["t"] == "package"}
        self.assertEqual(told, {shas[0]: False, shas[1]: True})
        with self.assertRaisesRegex(ResourceError, "404"):
            self.probe.contents([b], debs, soon=[a, b])
        self.assertEqual(self.asked, [["download", "a=1", "b=1"], ["download", "b=1"]])

    def test_another_package_than_the_index_names_is_not_looked_at(self):
        """What was downloaded counts only with the hash that the host's own index has."""
        self.assertEqual(self.contents("0" * 64), {})

    def test_nothing_large_is_downloaded(self):
        """More than 64 MiB are not known rather than fetched."""
        self.assertEqual(self.contents("0" * 64, (64 << 20) + 1), {})
        self.assertEqual(self.asked, [])


if __name__ == "__main__":
    unittest.main()
