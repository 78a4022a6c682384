"""What is seen of a unit that would not run; systemd 252 does as the tables say."""

import os
import unittest

from remote_runtime.changes import Unknowable
from remote_runtime.overlay.permissions import other_formats
from remote_runtime.units.preview.run_checks import RunChecks
from tests.texts import expect_text

from ..fakes import DirectoryTest, FakeAccounts, context
from .fake_units import FakeUnits

RUN = "[Service]\nExecStart=%s\n"


class Homeless(FakeAccounts):
    """Accounts whose home is not there."""

    def identity(self, user=None, group=None):
        return super().identity(user, group)._replace(home="/nowhere/home")


class RehearsalTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.root, 0o755)
        self.context = context(noop=True, accounts=FakeAccounts({"ccm-app": 4711}))
        self.program = self.write("run", b"#!/bin/sh\n", 0o755)

    def obstacle(self, units, name):
        return RunChecks(self.context, units).obstacle(name)

    def why(self, text, **others):
        names = {key + ".service": value for key, value in others.items()}
        self.units = FakeUnits(dict({"x.service": text}, **names))
        return self.obstacle(self.units, "x.service")

    def test_a_program_that_can_run(self):
        """Nothing is said of a unit that systemd would start, also by name or as another user."""
        self.write("inner", b"#!/run\n", 0o755)
        for text in (
            RUN % self.program,
            RUN % "-sh -c true",
            RUN % ("@%s other" % self.program) + "User=ccm-app\nGroup=0\n",
            RUN % self.program + "User=65534\nSupplementaryGroups=0\n",
            RUN % "/nowhere/%m" + "WorkingDirectory=-/nowhere\nEnvironmentFile=-/nowhere\n",
            RUN % "/inner" + "RootDirectory=%s\n" % self.root,
            RUN % "/only/there" + "RootDirectory=%s\nBindReadOnlyPaths=/usr:/only\n" % self.root,
            RUN % "/opt/bound/run" + "BindPaths=/tmp:/opt/bound\nInaccessiblePaths=/opt\n",
            RUN % "+/%s" % self.program.lstrip("/") + "PrivateTmp=yes\n",
            RUN % self.program + "ReadWritePaths=-/nowhere +/tmp\nBindPaths=/tmp:/made\n",
            RUN % self.program
            + "StandardOutput=append:%s/log\nStandardError=journal\n" % self.root,
            RUN % self.program + "ExecStartPre=-/nowhere\n",
            RUN % self.program + "Type=oneshot\nRemainAfterExit=yes\nExecStart=-/nowhere\n",
            RUN % "sh" + "User=nobody-knows\nDynamicUser=yes\n",
            RUN % "/bin/sh" + "TemporaryFileSystem=/bin\nBindReadOnlyPaths=/usr/bin:/bin\n",
        ):
            self.assertEqual(self.why(text), "", text)

    @unittest.skipIf(other_formats(), "this system starts programs of other machines")
    def test_a_program_of_another_machine(self):
        """It is told by its header."""
        foreign = self.write("foreign", b"\x7fELF\x02\x09" + bytes(60), 0o755)
        expected = "runs %s, which is a program for another architecture" % foreign
        self.assertEqual(self.why(RUN % foreign), expected)

    def test_the_home_of_a_user(self):
        """It is looked at as any directory is; root's is there, and one that may be missing may."""
        rows = [
            (
                "User=ccm-app\n",
                "~",
                "requires its WorkingDirectory /nowhere/home, which does not exist",
            ),
            ("User=ccm-app\n", "-~", ""),
            ("", "~", ""),
        ]
        for user, directory, expected in rows:
            self.context = context(noop=True, accounts=Homeless({"ccm-app": 4711}))
            text = RUN % self.program + user + "WorkingDirectory=%s\n" % directory
            self.assertEqual(self.why(text), expected)

    def test_environment_files(self):
        """A pattern has to match a file, and a directory is none."""
        for path, ending in (("/*.conf", "which does not exist"), ("", "which is a directory")):
            found = self.why(RUN % "sh" + "EnvironmentFile=%s%s\n" % (self.root, path))
            self.assertEqual(
                found, "requires its EnvironmentFile %s%s, %s" % (self.root, path, ending)
            )

    def test_what_the_process_lacks(self):
        """Program, user, directory and environment: each is named with what is wrong."""
        text = self.write("text", b"echo hello\n", 0o755)
        lost = self.write("lost", b"#!/nowhere/perl\n", 0o755)
        plain = self.write("plain", b"#!/bin/sh\n", 0o644)
        mine = self.write("mine", b"#!/bin/sh\n", 0o700)
        denied = "runs %s as ccm-app, who is not allowed to execute it" % mine
        rows = [
            (RUN % "/nowhere/run", "runs /nowhere/run, which does not exist"),
            (RUN % "-/nowhere/run", "runs /nowhere/run, which does not exist"),
            (RUN % "no-such-program", "runs no-such-program, which systemd cannot find"),
            (RUN % plain, "runs %s, which is not executable" % plain),
            (RUN % text, "runs %s, which has no #! line and is not a program" % text),
            (RUN % lost, "runs %s, whose interpreter /nowhere/perl does not exist" % lost),
            (RUN % mine + "User=ccm-app\n", denied),
            (RUN % "sh" + "User=ccm-gone\n", "runs as the user ccm-gone, which does not exist"),
            (RUN % "sh" + "Group=ccm-gone\n", "runs as the group ccm-gone, which does not exist"),
            (RUN % "sh" + "User=54321\n", "runs as the user 54321, which does not exist"),
            (RUN % "sh" + "Group=54321\n", "runs as the group 54321, which does not exist"),
            (RUN % "sh" + "ExecStartPre=/nowhere\n", "runs /nowhere, which does not exist"),
            (RUN % "sh" + "ExecStartPost=/nowhere\n", "runs /nowhere, which does not exist"),
            (
                RUN % "sh" + "WorkingDirectory=/nowhere\n",
                "requires its WorkingDirectory /nowhere, which does not exist",
            ),
            (
                RUN % "sh" + "EnvironmentFile=/nowhere\n",
                "requires its EnvironmentFile /nowhere, which does not exist",
            ),
            (
                RUN % "sh" + "SupplementaryGroups=root ccm-gone\n",
                "runs as the group ccm-gone, which does not exist",
            ),
            (
                RUN % "sh" + "RootDirectory=/nowhere\n",
                "requires its RootDirectory /nowhere, which does not exist",
            ),
            (
                RUN % "sh" + "StandardInput=file:/nowhere\n",
                "cannot open its StandardInput /nowhere",
            ),
            (
                RUN % "sh" + "StandardError=append:/nowhere/log\n",
                "cannot open its StandardError /nowhere/log",
            ),
            (
                RUN % "sh" + "LoadCredential=key:/nowhere\n",
                "requires its credential /nowhere, which does not exist",
            ),
            *(
                (
                    RUN % "sh" + "%s=/nowhere\n" % key,
                    "requires /nowhere (%s), which does not exist" % key,
                )
                for key in ("ReadWritePaths", "InaccessiblePaths", "BindPaths", "BindReadOnlyPaths")
            ),
        ]
        for unit, expected in rows:
            self.assertEqual(self.why(unit), expected, unit)

    def test_what_its_own_settings_hide(self):
        """Another root, and directories that the unit keeps from its programs."""
        rows = [
            (
                RUN % "/only/there" + "RootDirectory=%s\n" % self.root,
                "runs /only/there, which does not exist below %s" % self.root,
            ),
            (
                RUN % "/run" + "RootDirectory=%s\n" % self.root,
                "runs /run, whose interpreter /bin/sh does not exist below %s" % self.root,
            ),
            (
                RUN % "/tmp/run" + "PrivateTmp=yes\n",
                "runs /tmp/run, which its PrivateTmp hides",
            ),
            (
                RUN % "/root/run" + "ProtectHome=tmpfs\n",
                "runs /root/run, which its ProtectHome hides",
            ),
            (
                RUN % "/opt/run" + "InaccessiblePaths=-/opt\n",
                "runs /opt/run, which its InaccessiblePaths hides",
            ),
            (
                RUN % "/opt/run" + "InaccessiblePaths=-/opt/run\n",
                "runs /opt/run, which its InaccessiblePaths hides",
            ),
            (
                RUN % "/srv/a/run" + "TemporaryFileSystem=/srv:ro\nBindReadOnlyPaths=/opt:/srv/b\n",
                "runs /srv/a/run, which its TemporaryFileSystem hides",
            ),
        ]
        for text, expected in rows:
            self.assertEqual(self.why(text), expected, text)

    @unittest.skipUnless(os.geteuid() == 0, "only root runs units as others")
    def test_what_its_user_may_not_reach(self):
        """Each directory on the way counts, and the program's own rights unless root runs it."""
        os.mkdir(self.path("closed"), 0o700)
        inside = self.write("closed/run", b"#!/bin/sh\n", 0o755)
        user = "User=ccm-app\n"
        rows = [
            (RUN % inside + user, "runs %s as ccm-app, who is not allowed to execute it" % inside),
            (RUN % ("+" + inside) + user, ""),
            (
                RUN % self.program + user + "WorkingDirectory=%s\n" % self.path("closed"),
                "requires its WorkingDirectory %s, which ccm-app cannot enter"
                % self.path("closed"),
            ),
        ]
        for unit, expected in rows:
            self.assertEqual(self.why(unit), expected, unit)

    def test_a_directory_that_systemd_makes(self):
        """The directory to work in may be one that the start itself makes."""
        text = RUN % "sh" + "StateDirectory=ccm-test\nWorkingDirectory=/var/lib/ccm-test\n"
        self.assertEqual(self.why(text), "")

    def test_a_oneshot(self):
        """One without RemainAfterExit never stays running."""
        for text, ends in (("", False), ("Type=oneshot\n", True)):
            units = FakeUnits({"x.service": RUN % "sh" + text})
            self.assertIs(RunChecks(self.context, units).ends("x.service"), ends)
        remains = "Type=oneshot\nRemainAfterExit=yes\n"
        units = FakeUnits({"x.service": RUN % "sh" + remains})
        self.assertIs(RunChecks(self.context, units).ends("x.service"), False)

    def test_conditions(self):
        """Those on paths are looked up; with ``|`` one is enough; assertions count as well."""
        there, directory = self.program, os.path.dirname(self.program)
        rows = [
            ("ConditionPathExists=%s" % there, ""),
            ("ConditionPathExists=!%s" % there, "ConditionPathExists=!%s" % there),
            ("ConditionPathExists=/nowhere", "ConditionPathExists=/nowhere"),
            ("ConditionPathExists=|/nowhere\nConditionPathIsDirectory=|%s" % directory, ""),
            ("ConditionPathExists=|/nowhere", "ConditionPathExists=|/nowhere"),
            ("ConditionDirectoryNotEmpty=%s" % directory, ""),
            ("ConditionFileNotEmpty=%s" % there, ""),
            ("ConditionFileIsExecutable=%s" % there, ""),
            ("ConditionPathIsSymbolicLink=%s" % there, "ConditionPathIsSymbolicLink=" + there),
            ("AssertPathExists=/nowhere", "AssertPathExists=/nowhere"),
            ("ConditionPathExists=/nowhere\nConditionPathExists=", ""),
            ("ConditionPathExistsGlob=%s/r?n" % directory, ""),
            ("ConditionPathExistsGlob=/t*%s/[a-r]*" % directory[len("/tmp") :], ""),
            (
                "ConditionPathExistsGlob=%s/*/run" % directory,
                "ConditionPathExistsGlob=%s/*/run" % directory,
            ),
            ("ConditionPathExistsGlob=!%s/.*" % directory, ""),
        ]
        for setting, expected in rows:
            found = self.why("[Unit]\n%s\n" % setting + RUN % "sh")
            words = "is not started because %s is not met" % expected if expected else ""
            self.assertEqual(found, words, setting)

    def test_other_units(self):
        """What it needs has to be there, unmasked, and to run where it must run before."""
        rows = [
            ("Requires=y.service", {"y": RUN % "sh"}, ""),
            ("Wants=y.service", {}, ""),
            ("Requires=y.service", {}, "requires y.service (Requires), which does not exist"),
            ("BindsTo=y.service", {}, "requires y.service (BindsTo), which does not exist"),
            (
                "Requisite=y.service\nAfter=y.service",
                {"y": RUN % "sh"},
                "requires y.service to be started already (Requisite)",
            ),
            ("Requisite=y.service\nBefore=y.service", {"y": RUN % "sh"}, ""),
            (
                "Requires=y.service\nConflicts=y.service",
                {"y": RUN % "sh"},
                "requires y.service (Requires) and conflicts with it",
            ),
            (
                "Requires=y.service",
                {"y": "[Unit]\nConflicts=x.service\n" + RUN % "sh"},
                "requires y.service (Requires) and conflicts with it",
            ),
            ("Requires=y.service", {"y": RUN % "/nowhere"}, ""),
            (
                "BindsTo=y.service",
                {"y": RUN % "/nowhere"},
                "is bound to y.service, which runs /nowhere, which does not exist",
            ),
            ("Requires=y.service\nAfter=y.service", {"y": RUN % "/nowhere"}, ""),
            (
                "Requires=y.service\nAfter=y.service",
                {"y": RUN % "/nowhere" + "Type=exec\n"},
                "is bound to y.service, which runs /nowhere, which does not exist",
            ),
            ("Requires=y.service", {"y": RUN % "/nowhere" + "Type=exec\n"}, ""),
            (
                "Requires=y.service",
                {"y": "[Unit]\nAssertPathExists=/nowhere\n"},
                "requires y.service (Requires), whose assertion fails",
            ),
        ]
        for setting, others, expected in rows:
            text = "[Unit]\n%s\n" % setting + RUN % "sh"
            self.assertEqual(self.why(text, **others), expected, setting)

    def test_a_required_unit_that_is_not_waited_for(self):
        """Whether systemd looks first whether it runs is a race."""
        with self.assertRaisesRegex(Unknowable, r"x.service requires y.service .*\(After\)"):
            self.why("[Unit]\nRequisite=y.service\n" + RUN % "sh", y=RUN % "sh")

    def test_a_masked_unit_that_is_needed(self):
        """It keeps the other from running, unless it runs already."""
        text = "[Unit]\nRequires=y.service\n" + RUN % "sh"
        units = FakeUnits({"x.service": text, "y.service": RUN % "sh"})
        units.masked = ["y.service"]
        expect_text(self.obstacle(units, "x.service"), self)
        units.running = ["y.service"]
        self.assertEqual(self.obstacle(units, "x.service"), "")

    def test_what_starts_others(self):
        """A timer needs its service, a socket besides one that does not run yet."""
        texts = {"t.timer": "[Timer]\nUnit=gone.service\n", "s.socket": "[Socket]\n"}
        units = FakeUnits(texts)
        expect_text(self.obstacle(units, "t.timer"), self)
        texts.update({"gone.service": RUN % "sh", "s.service": RUN % "sh"})
        self.assertEqual(self.obstacle(units, "t.timer"), "")
        self.assertEqual(self.obstacle(units, "s.socket"), "")
        units.masked = ["gone.service", "s.service"]
        for name, other in (("t.timer", "gone"), ("s.socket", "s")):
            expected = "starts %s.service, which is masked" % other
            self.assertEqual(self.obstacle(units, name), expected)
        units.masked, units.broken = [], {"gone.service": "bad-setting", "s.service": "error"}
        self.assertEqual(self.obstacle(units, "t.timer"), "starts gone.service: bad-setting")
        self.assertEqual(self.obstacle(units, "s.socket"), "starts s.service: error")
        units.broken = {}
        units.running = ["s.service"]
        expect_text(self.obstacle(units, "s.socket"), self)
        texts["s.socket"] = "[Socket]\nAccept=yes\n"
        self.assertEqual(self.obstacle(units, "s.socket"), "")


if __name__ == "__main__":
    unittest.main()
