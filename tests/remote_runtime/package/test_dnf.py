"""How the dnf provider asks and acts, with recorded output."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any, Dict

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.effects import PackageEffect, PathEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages import locks
from remote_runtime.packages.dnf import errors as dnf_errors
from remote_runtime.packages.dnf.package_lists import Lists
from remote_runtime.packages.package_info import Operation
from remote_runtime.packages.rpm import database as rpm_database
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.reporting.effects import losses
from remote_runtime.system.process.commands import Result
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from ..fake_commands import FakeCommands, make_context, notices_of
from ..fakes import ROOT
from .plan import Plan, failure, recorded

OPTIONS = "--setopt=exit_on_lock=True --setopt=*.metadata_expire=never "
MACHINE = os.uname().machine


TABLE = """\
================================================================================
 Package      Architecture      Version            Repository            Size
================================================================================
Installing:
 ccm-hello    noarch            2.0-2.el9          lab                  6.5 k

Transaction Summary
"""


_ABORTED = "Is this ok [y/N]: \nOperation aborted.\n"


class Told(object):
    """A channel that keeps what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, message, now=False):
        self.sent.append(message)


class NoLists(object):
    """Lists of which nothing is known but that they are there."""

    known: Dict[str, Any] = {}

    def outdated(self, max_age):
        return ""

    def repositories(self):
        return dict(self.known)

    def priorities(self):
        return lambda repository: 99


def record(name, evr, architecture="noarch"):
    """One line of rpm -q, or of repoquery: name, [epoch:]version-release."""
    epoch, _, rest = evr.rpartition(":")
    return "\t".join([name, epoch or "0", *rest.rsplit("-", 1), architecture]) + "\n"


def recorded_commands(installed=""):
    commands = FakeCommands()
    commands.on("rpm -q", Result(1, installed or recorded("rpm-query.txt"), ""))
    commands.on("dnf -q", recorded("dnf-repoquery.txt"))
    commands.on("dnf install", "")
    commands.on("dnf downgrade", "")
    commands.on("dnf remove", "")
    return commands


def plan_of(*packages, installed="", commands=None):
    plan = Plan(commands or recorded_commands(installed), *packages, provider="dnf")
    plan.provider.lists = NoLists()
    return plan


class Reading(unittest.TestCase):
    def test_a_converged_plan_asks_rpm_once(self):
        """However many packages are in the plan, one rpm -q answers for all and dnf rests."""
        names = ["ccm-shell", "ccm-hello", "nosuch"]
        plan = plan_of(*[(name, {"ensure": "absent"}) for name in names[1:]], ("ccm-shell", {}))
        self.assertEqual(plan.messages(), ["", "", ""])
        (line,) = plan.commands.asked
        self.assertTrue(line.startswith("rpm -q --queryformat "), line)
        self.assertTrue(line.endswith(" -- ccm-hello ccm-shell nosuch"), line)

    def test_dnf_is_asked_once_for_all_that_need_it(self):
        """Only packages that are missing, of another version or to be the latest are looked up."""
        packages = [("ccm-shell", {}), ("ccm-hello", {}), ("ccm-epoch", {"ensure": "latest"})]
        plan = plan_of(*packages)
        plan.messages()
        (line,) = [line for line in plan.commands.asked if line.startswith("dnf -q")]
        self.assertTrue(line.endswith(" ccm-epoch ccm-hello"), line)

    def predict(self, result, planned=()):
        commands = FakeCommands()
        commands.on("dnf install --assumeno --cacheonly", result)
        plan = plan_of(("ccm-hello", {}), commands=commands)
        for adapter in ("rpm -q", "dnf -q"):
            commands.on(
                adapter, recorded("rpm-query.txt" if adapter[0] == "r" else "dnf-repoquery.txt")
            )
        plan.context.expect(planned, Uncertainty(), "package#other")
        return plan.messages()

    def test_a_preview_has_dnf_resolve_it(self):
        """It ends where dnf asks whether to go on; what dnf cannot resolve fails."""
        said = self.predict(Result(1, "Is this ok [y/N]: \nOperation aborted.\n", ""))
        expect_text(said, self)
        with self.assertRaises(Missing) as caught:
            self.predict(failure("dnf-unmet", 1))
        self.assertNotIsInstance(caught.exception, Unknowable)
        self.assertIn("nothing provides", caught.exception.message)

    def resolved(self, *answers, noop=True):
        """A plan of a package that dnf would only install, and what comes after its candidate."""
        commands = recorded_commands()
        commands.on("dnf install", TABLE)
        commands.on("dnf -q", recorded("dnf-repoquery.txt"), *answers)
        return plan_of(("ccm-hello", {}), commands=commands)

    def effects(self, plan):
        with plan.noop():
            (action,) = plan.rehearsed()
            return action.effects

    def test_what_would_only_be_installed_is_looked_into(self):
        """The index is asked for that very package; without a hash there it is not known."""
        plan = self.resolved("")
        fog, package = self.effects(plan)
        self.assertEqual(package[:2], ("ccm-hello", "0:2.0-2.el9"))
        self.assertTrue(fog.covers("path", "/etc/hello", False))
        expect_text(fog.uncertainty.reason, self)
        self.assertTrue(plan.commands.asked[-1].endswith(" ccm-hello-0:2.0-2.el9.noarch"))

    def changed(self, table):
        """The effects of an installation that dnf tells in this table."""
        commands = recorded_commands()
        commands.on("dnf install", table)
        commands.on("rpm -ql ccm-hello", "package ccm-hello is not installed\n")
        commands.on("rpm -ql ccm-old", "/etc/old.conf\n/usr/lib/systemd/system/old.service\n")
        return self.effects(plan_of(("ccm-hello", {}), commands=commands))

    def test_what_packages_hold_that_change_is_not_known(self):
        """An upgrade, a downgrade and a replacement leave fog over the files and units there."""
        row = " ccm-old      noarch            2.0-1.el9          lab                  6.5 k\n"
        replaced = "     replacing  ccm-old.noarch 1.0-1.el9\n"
        for more in ("Upgrading:\n" + row, "Downgrading:\n" + row, replaced):
            theirs, brought, package = self.changed(TABLE.replace("\nTrans", more + "\nTrans"))
            self.assertTrue(theirs.covers("path", "/etc/old.conf", True))
            self.assertTrue(theirs.covers("unit", "old.service", True))
            self.assertFalse(theirs.covers("path", "/etc/other", True))
            self.assertTrue(brought.covers("path", "/etc/new", False))
            self.assertEqual(package[:2], ("ccm-hello", "0:2.0-2.el9"))
            (told,) = losses([theirs, package])
            self.assertEqual((told["kind"], told["name"]), ("unknown", theirs.uncertainty.reason))

    def test_an_unknown_version_may_change_what_is_installed(self):
        """Its files and units, and the copies that rpm makes of its configuration."""
        plan = plan_of(("ccm-shell", {}))
        plan.commands.on(
            "rpm -ql ccm-shell", "/etc/shell.conf\n/usr/lib/systemd/system/s.service\n"
        )
        with plan.noop():
            fog = plan.provider.effects(Operation("ccm-shell"), ())[0]
        for kind, value, present, covered in (
            ("path", "/etc/shell.conf", True, True),
            ("path", "/etc/shell.conf.rpmsave", True, True),
            ("unit", "s.service", True, True),
            ("path", "/etc/other.conf", True, False),
            ("path", "/etc/new", False, True),
        ):
            self.assertEqual(fog.covers(kind, value, present), covered, (value, present))

    def test_an_unknown_removal_may_save_configuration(self):
        """The copies of its own files that rpm makes, but no others."""
        plan = plan_of(("ccm-shell", {"ensure": "absent"}))
        plan.commands.on("rpm -ql ccm-shell", "/etc/shell.conf\n")
        with plan.noop():
            fog = plan.provider.effects(Operation("ccm-shell", removal=True), ())[0]
        for value, present, covered in (
            ("/etc/shell.conf", True, True),
            ("/etc/shell.conf.rpmsave", False, True),
            ("/etc/other.conf.rpmsave", False, False),
            ("/etc/shell.conf.d", False, False),
        ):
            self.assertEqual(fog.covers("path", value, present), covered, value)

    def test_an_unknown_removal_runs_scripts(self):
        """Everything that they may touch is unknown, with and without the package's files."""
        row = " %s    noarch            2.0-2.el9          lab                  6.5 k\n"
        commands = recorded_commands(record("ccm-shell", "0:1.0-1.el9"))
        rows = row % "ccm-shell" + "Removing dependent packages:\n" + row % "ccm-lua"
        installing = TABLE[TABLE.index("Installing:") : TABLE.index("\nTransaction")]
        commands.on("dnf remove", TABLE.replace(installing, "Removing:\n" + rows))
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        own, data = directory + "/own", directory + "/data"
        for path in (own, data):
            os.mknod(path)
        script = "rm -f %s\necho > /opt/log\ntest -e %s || echo > /opt/log2\n" % (data, own)
        files = "%s\t0\t\n" % own
        parts = ("ccm-shell\t0:1.0-1.el9", files, "(none)", "(none)", "/bin/sh", script)
        shell = "\x1e".join(parts) + "\x1d"
        missing = "package ccm-gone is not installed\n"
        commands.on("rpm -q --queryformat %{NAME}\t%|EPOCH?{%{EPOCH}}:{0}|:", missing + shell)
        plan = plan_of(("ccm-shell", {"ensure": "absent"}), commands=commands)
        for paths, covered in (
            ((data, "/opt/log", "/opt/log2"), True),
            ((directory + "/other", "/srv/other"), False),
        ):
            with plan.noop():
                effects = plan.provider.effects(Operation("ccm-shell", removal=True), ())
            fog = [effect for effect in effects if isinstance(effect, UnknownEffect)]
            for path in paths:
                found = any(effect.covers("path", path, True) for effect in fog[:1] + fog[2:])
                self.assertEqual(found, covered, path)
        asked = [line for line in commands.asked if line.startswith("rpm -q --queryformat %{NAME}")]
        self.assertTrue(any(line.endswith(" -- ccm-lua ccm-shell") for line in asked), asked)

    def test_unreadable_scripts_of_an_unknown_removal(self):
        """They may change anything in the directories that unknown scripts may change."""
        commands = recorded_commands(record("ccm-shell", "0:1.0-1.el9"))
        printed = "ccm-shell\t0:1.0-1.el9\x1eodd\x1d"
        commands.on("rpm -q --queryformat %{NAME}\t%|EPOCH?{%{EPOCH}}:{0}|:", printed)
        plan = plan_of(("ccm-shell", {"ensure": "absent"}), commands=commands)
        with plan.noop():
            effects = plan.provider.effects(Operation("ccm-shell", removal=True), ())
        fog = [effect for effect in effects if isinstance(effect, UnknownEffect)]
        for path, covered in (("/srv/a", True), ("/data/a", False)):
            found = any(effect.covers("path", path, True) for effect in fog)
            self.assertEqual(found, covered, path)

    def test_an_upgrade_whose_contents_are_known(self):
        """The files come and go as rpm's records and the new package have it."""
        row = " ccm-hello    noarch            2.0-2.el9          lab                  6.5 k\n"
        commands = recorded_commands(record("ccm-hello", "0:1.0-1.el9"))
        commands.on("dnf install", TABLE.replace("Installing:\n" + row, "Upgrading:\n" + row))
        files = "/etc/ccm-test-hello\t0\t\n"
        told = "ccm-hello\t0:1.0-1.el9\x1e%s\x1e(none)\x1e(none)\x1e(none)\x1e(none)\x1d" % files
        commands.on("rpm -q --queryformat %{NAME}\t%|EPOCH?{%{EPOCH}}:{0}|:", told)
        plan = plan_of(("ccm-hello", {"ensure": "latest"}), commands=commands)
        fog, package = self.effects(plan)  # the contents of the new one are not known
        self.assertEqual(package[:2], ("ccm-hello", "0:2.0-2.el9"))
        self.assertTrue(fog.covers("path", "/etc/ccm-test-hello", True))
        self.assertFalse(fog.covers("path", "/etc/ccm-test-other", True))

    def test_what_another_package_takes_the_place_of_is_not_known(self):
        """dnf obeys what obsoletes a package, and the push then does not find it."""
        with self.assertRaisesRegex(
            Unknowable, "chooses other packages instead of ccm-hello: ccm-next"
        ):
            self.changed(TABLE.replace("ccm-hello", "ccm-next "))

    def test_removals_of_packages_that_need_each_other(self):
        """One that goes with an earlier one has nothing left to do, as in a preview."""
        commands = recorded_commands()
        rows = " ccm-one  noarch  1-1  lab  6 k\n ccm-two  noarch  1-1  lab  6 k\n"
        header, _, _ = TABLE.partition("Installing:")
        commands.on("dnf remove", header + "Removing:\n" + rows + "\nTransaction Summary\n")
        commands.on("dnf -q", "ccm-two\n")
        plan = plan_of(("ccm-one", {"ensure": "absent"}), commands=commands)
        shares = plan.provider.shares(
            [Operation("ccm-one", removal=True), Operation("ccm-two", removal=True)]
        )
        self.assertEqual([[c.name for c in share] for share in shares], [["ccm-one"], []])

    def test_nobody_looks_into_packages_unasked(self):
        """With --no-package-probe what a package brings is not known."""
        plan = self.resolved()
        options = plan.context.options._replace(package_probe=False)
        plan.context.options = options
        fog = self.effects(plan)[0]
        expect_text(fog.uncertainty.reason, self)
        self.assertFalse([line for line in plan.commands.asked if "chksum" in line])

    def test_an_installation_tells_what_came(self):
        """By the hash that the index has, for the controller to compare."""
        sha = bytes(range(32))
        fields = ("ccm-hello", "0", "2.0", "2.el9", "noarch", "lab", "6656", "9", (6, sha))
        plan = self.resolved("\t".join(map(str, fields)) + "\n")
        nothing = "(none) (none) " * 4
        plan.commands.on("rpm -q --queryformat %{NAME:shescape}", "'ccm-hello' %s\x1e" % nothing)
        plan.context._channel = Told()
        plan.carry_out()
        (message,) = plan.context._channel.sent
        self.assertEqual((message["t"], list(message["prints"])), ("installed", [sha.hex()]))

    def test_installations_after_one_another(self):
        """Where dnf only adds to what is planned, it says what; anything else is not known."""
        both = TABLE.replace(
            "\nTrans", " other        noarch            1-1                lab     6.5 k\n\nTrans"
        )
        said = self.predict(Result(1, both + _ABORTED, ""), [PackageEffect("other", "0:1-1")])
        expect_text(said, self)
        upgraded = both.replace("Installing:", "Upgrading:")
        said = self.predict(Result(1, upgraded + _ABORTED, ""), [PackageEffect("other", "0:1-1")])
        expect_text(said, self)
        removing = both.replace("\nTransaction", "Removing:\n x y z w v\n\nTransaction")
        for table in (TABLE, both.replace("1-1 ", "2-1 "), removing):
            with self.assertRaises(Unknowable):
                self.predict(Result(1, table, ""), [PackageEffect("other", "0:1-1")])

    def test_dnf_resolves_one_transaction_only(self):
        """What comes after another is not known; what it would do is told all the same."""
        with self.assertRaises(Unknowable) as caught:
            self.predict("", [PackageEffect("other", "")])
        expect_text(caught.exception.would[0].message, self)

    def test_noop_does_not_let_dnf_write(self):
        """In noop dnf works with the lists that it has; in a push it may fetch missing ones."""
        plan = plan_of(("ccm-hello", {}))
        plan.messages()
        self.assertIn(" --cacheonly repoquery ", plan.commands.asked[-2])
        self.assertIn("dnf install --assumeno --cacheonly ", plan.commands.asked[-1])
        self.assertEqual(plan.commands.aside, plan.commands.asked if ROOT else [])
        plan = plan_of(("ccm-hello", {}))
        plan.carry_out()
        (query,) = [line for line in plan.commands.asked if "repoquery" in line]
        self.assertNotIn("--cacheonly", query)
        self.assertEqual(plan.commands.aside, [])
        self.assertIn("metadata_expire=never", query)

    @unittest.skipUnless(ROOT, "needs root")
    def test_noop_without_a_namespace(self):
        """Where dnf cannot be asked without leaving anything, what it would say is unknown."""
        plan = plan_of(("ccm-hello", {}))
        plan.commands.on("dnf -q", Result(125, "", "mount: permission denied\n"))
        with self.assertRaises(Unknowable) as caught:
            plan.messages()
        self.assertIn("mount: permission denied", caught.exception.message)

    def test_names_with_and_without_an_architecture(self):
        """A name means the host's own architecture first; name.arch means that one only."""
        records = rpm_database.Records(
            record("glibc", "2.34-1", "i686")
            + record("glibc", "2.34-2", MACHINE)
            + record("libold", "1-1", "i686")
            + record("python3.11", "3.11-1", MACHINE)
            + record("tzdata", "2024a-1")
        )
        rows = [
            ("glibc", "0:2.34-2"),
            ("glibc.i686", "0:2.34-1"),
            ("glibc." + MACHINE, "0:2.34-2"),
            ("glibc.s390", ""),
            ("libold", "0:1-1"),
            ("python3.11", "0:3.11-1"),
            ("tzdata.noarch", "0:2024a-1"),
            ("tzdata-2024a", ""),
        ]
        for name, version in rows:
            self.assertEqual(rpm_database.installed(records.find(name)).version, version, name)

    def test_versions_side_by_side(self):
        """Of several installed versions the newest is the state, and each is as desired."""
        kernels = record("kernel", "5.14-70.el9") + record("kernel", "5.14-427.el9")
        for ensure in ("5.14-70.el9", "0:5.14-427.el9", "5.14", "present"):
            plan = plan_of(("kernel", {"ensure": ensure}), installed=kernels)
            self.assertEqual(plan.messages(), [""], ensure)
            self.assertEqual(plan.resources[0].observe().ensure, "5.14-427.el9")

    def test_what_is_found(self):
        """The state alone has the epoch and the architecture beside version and release."""
        here = record("bind", "32:9.16-1.el9", MACHINE) + record("ccm-hello", "1.1-1.el9")
        plan = plan_of(("bind", {}), ("ccm-hello", {}), ("nosuch", {}), installed=here)
        bind, hello, nosuch = [resource.found() for resource in plan.resources]
        self.assertEqual((bind["ensure"], bind["version"]), ("9.16-1.el9", "32:9.16-1.el9"))
        self.assertEqual(bind["architecture"], MACHINE)
        self.assertEqual((hello["version"], hello["candidate"]), ("0:1.1-1.el9", "2.0-2.el9"))
        self.assertEqual(nosuch, {"ensure": "absent", "status": "not-installed"})

    def test_a_broken_database_is_an_error(self):
        """What rpm says of a database that it cannot read goes into the event."""
        commands = FakeCommands()
        commands.on("rpm -q", Result(1, "", "error: cannot open Packages database in /var/lib/rpm"))
        with self.assertRaises(ResourceError) as caught:
            plan_of(("bash", {}), commands=commands).messages()
        expect_text(caught.exception, self)


class Deciding(unittest.TestCase):
    def test_the_documents_wording(self):
        """Each decision is worded as the documents have it."""
        here = record("ccm-hello", "1.1-1.el9") + record("ccm-epoch", "1:0.9-1.el9")
        rows = [
            ("ccm-caret", "present", "Would have installed"),
            ("ccm-caret", "latest", "Would have installed latest"),
            ("ccm-caret", "1.0", "Would have installed version 1.0"),
            ("ccm-hello", "latest", "Would have upgraded to latest"),
            ("ccm-hello", "2.0~rc1-1.el9", "Would have upgraded to 2.0~rc1-1.el9"),
            ("ccm-hello", "1.0", "Would have downgraded to 1.0"),
            ("ccm-epoch", "2.0", "Would have downgraded to 2.0"),
            ("ccm-hello", "absent", "Would have uninstalled"),
        ]
        for name, ensure, message in rows:
            plan = plan_of((name, {"ensure": ensure}), installed=here)
            self.assertEqual(plan.messages(), [message], (name, ensure))

    def test_all_spellings_of_a_version_are_stable(self):
        """With and without epoch and release the installed version is as desired."""
        here = record("zsh", "5.8-9.el9") + record("bind", "32:9.16-1.el9")
        for name, spellings in (
            ("zsh", ("5.8-9.el9", "0:5.8-9.el9", "5.8", "0:5.8")),
            ("bind", ("32:9.16-1.el9", "9.16-1.el9", "9.16", "32:9.16")),
        ):
            for ensure in spellings:
                plan = plan_of((name, {"ensure": ensure}), installed=here)
                self.assertEqual(plan.messages(), [""], ensure)
        plan = plan_of(("bind", {}), installed=here)
        self.assertEqual(plan.resources[0].observe().ensure, "9.16-1.el9")

    def test_latest_is_stable_on_the_candidate_and_above_it(self):
        """Installed in the candidate's version or a newer one, latest has nothing to do."""
        for version, message in (
            ("2.0-2.el9", ""),
            ("2.0^git-1.el9", ""),
            ("1:0.1-1", ""),
            ("2.0~rc2-9.el9", "Would have upgraded to latest"),
        ):
            plan = plan_of(
                ("ccm-hello", {"ensure": "latest"}), installed=record("ccm-hello", version)
            )
            self.assertEqual(plan.messages(), [message], version)

    def test_the_repository_that_comes_first_has_the_candidate(self):
        """A newer version of a repository with a larger priority number is no candidate."""
        plan = plan_of(("ccm-hello", {"ensure": "latest"}))
        plan.commands.on(
            "dnf -q",
            "ccm-hello\t0\t1.0\t1\tnoarch\tbase\nccm-hello\t0\t9.0\t1\tnoarch\textra\n"
            "ccm-hello\t0\t99\t1\tsrc\tbase\n",
        )
        plan.provider.lists.priorities = lambda: {"base": 10, "extra": 99}.__getitem__
        found = plan.provider.available("ccm-hello")
        self.assertEqual((found.candidate, found.versions), ("0:1.0-1", ["0:9.0-1", "0:1.0-1"]))

    def test_what_cannot_be_had_is_told(self):
        """Unknown names and versions, patterns and virtual packages say what to do."""
        # What dnf's plugins have to say is no answer.
        virtual = "Updating Subscription Management repositories.\n" + record("ccm-virtual", "1-1")
        rows = [
            ("nosuch", "present", "", "not in the package lists of this host", "update_cache"),
            (
                "ccm-hello-2.0",
                "present",
                "",
                "not in the package lists of this host",
                "update_cache",
            ),
            ("ccm-hello", "7", "", "version 7 of ccm-hello is not", "2.0-2.el9, 2.0-1.el9, 2.0~"),
            ("ccm-role", "present", virtual, "ccm-role is a virtual", "provide it: ccm-virtual"),
        ]
        for name, ensure, answer, message, hint in rows:
            plan = plan_of((name, {"ensure": ensure}))
            plan.commands.on("dnf -q", recorded("dnf-repoquery.txt"), answer)
            with self.assertRaises(Missing) as caught:
                plan.resources[0].observe()
            self.assertIn(message, caught.exception.message)
            self.assertIn(hint, caught.exception.hint)


class Acting(unittest.TestCase):
    def test_the_documents_commands(self):
        """Install, latest, a version, a downgrade and a removal are the documents' commands."""
        here = record("ccm-hello", "1.1-1.el9")
        rows = [
            ("ccm-caret", "present", "dnf install -y %sccm-caret"),
            ("ccm-caret", "1.0", "dnf install -y %sccm-caret-0:1.0-1.el9"),
            ("ccm-caret.noarch", "1.0", "dnf install -y %sccm-caret-0:1.0-1.el9.noarch"),
            ("ccm-epoch", "0.9", "dnf install -y %sccm-epoch-1:0.9-1.el9"),
            ("ccm-hello", "latest", "dnf install -y %sccm-hello-0:2.0-2.el9"),
            ("ccm-hello", "1.0", "dnf downgrade -y %sccm-hello-0:1.0-1.el9"),
            ("ccm-hello", "absent", "dnf remove -y %sccm-hello"),
        ]
        for name, ensure, command in rows:
            plan = plan_of((name, {"ensure": ensure}), installed=here)
            plan.carry_out()
            self.assertEqual(plan.commands.asked[-1], command % OPTIONS)

    def test_a_removal_that_dnf_leaves_out_fails(self):
        """dnf ends well where an exclude hides what it is to remove; a preview says so as well."""
        here = record("ccm-hello", "1.1-1.el9")
        for predict in (False, True):
            commands = recorded_commands(here)
            commands.on("dnf remove", "No packages marked for removal.\nNothing to do.\n")
            plan = plan_of(("ccm-hello", {"ensure": "absent"}), commands=commands)
            with self.assertRaises(ResourceError) as caught:
                if predict:
                    plan.provider.status("ccm-hello")
                    plan.provider.predict(Operation("ccm-hello", removal=True))
                plan.carry_out()
            self.assertEqual(caught.exception.kind, "package.excluded")

    def test_a_package_that_brings_a_repository(self):
        """What the lists said before is asked again once a package has brought a repository."""
        for brings, times in ((False, 1), (True, 2)):
            plan = plan_of(("ccm-hello", {}), ("ccm-caret", {}))
            lists = plan.provider.lists

            def install(plan=plan, lists=lists, brings=brings):
                if brings and plan.commands.asked[-1].startswith("dnf install"):
                    lists.known = {"new": 1}

            plan.commands.during = install
            plan.carry_out(0)
            plan.carry_out(1)
            self.assertEqual(plan.commands.count("dnf -q"), times)

    def test_a_change_names_epochs_that_differ(self):
        """The record of a change has version and release, else an upgrade may look like none."""
        for before, shown in (
            ("2.0-1", ("0:2.0-1", "1:0.9-1.el9")),
            ("1:0.8-1", ("0.8-1", "0.9-1.el9")),
        ):
            here = record("ccm-epoch", before)
            plan = plan_of(("ccm-epoch", {"ensure": "latest"}), installed=here)
            change = {"what": "ensure", "from": shown[0], "to": shown[1]}
            self.assertEqual(plan.carry_out(), [change])

    def test_a_transaction_is_let_finish(self):
        """A run that is cancelled meanwhile does not end dnf, and starts nothing more."""
        plan = plan_of(("ccm-hello", {}), ("ccm-caret", {}))
        self.assertTrue(plan.finishes("dnf install"))

    def test_failures_say_what_to_do(self):
        """Each recorded failure of dnf becomes its own kind, with dnf's words and a hint."""
        rows = [
            ("broken", "package.script", "%prein(ccm-broken-0:1.0-1.noarch) scriptlet", "below"),
            ("full", "package.space", "needs 1 more inodes on", "free space"),
            ("not-root", "package.root", "superuser privileges", "become: true"),
            ("unknown", "package.unknown", "Unable to find a match: nosuch", "update_cache"),
            ("unmet", "package.dependencies", "nothing provides ccm-does-not-exist", "dependency"),
            ("unsigned", "package.signature", "any GPG public keys installed", "rpm --import"),
            ("protected", "package.protected", "protected packages: ccm-shell", "refuses"),
            ("dead-repository", "package.download", "Failed to download metadata", "mirror"),
        ]
        for name, kind, words, hint in rows:
            commands = recorded_commands()
            commands.on("dnf install", failure("dnf-" + name, 1))
            with self.assertRaises(ResourceError) as caught:
                plan_of(("ccm-hello", {}), commands=commands).carry_out()
            error = caught.exception
            self.assertEqual(error.kind, kind, name)
            self.assertTrue(error.message.startswith("installing ccm-hello failed (exit code 1): "))
            self.assertIn(words, error.message)
            self.assertIn(hint, error.hint)
            for noise in ("Last metadata", "=====", "password:", "release version"):
                self.assertNotIn(noise, error.output)

    def test_a_script_that_dnf_forgives_is_told(self):
        """A package whose last script failed is installed, and a warning has the script's words."""
        said = "error: %post(x-0:1-1.noarch) scriptlet failed, exit status 1\n"
        result = Result(0, "Running\n" + said, "Error in POSTIN scriptlet in rpm")
        self.assertEqual(
            dnf_errors.script_failures(result),
            [
                "%post(x-0:1-1.noarch) scriptlet failed, exit status 1",
                "Error in POSTIN scriptlet in rpm",
            ],
        )
        plan = plan_of(("ccm-hello", {}))
        plan.commands.on("dnf install", said)
        plan.carry_out()
        ((level, text),) = notices_of(plan.context)
        self.assertEqual(level, "warning")
        expect_text(text, self)

    def test_a_lock_that_dnf_loses_is_waited_for(self):
        """dnf's own lock and RPM's, taken by somebody who was faster, are waited for."""
        for name, code in (("dnf-locked", 200), ("dnf-rpm-locked", 1)):
            plan = plan_of(("ccm-hello", {"lock_timeout": "30s"}))
            plan.commands.on("dnf install", failure(name, code), "")
            plan.carry_out()
            self.assertEqual(plan.commands.count("dnf install"), 2)
            plan = plan_of(("ccm-hello", {"lock_timeout": "0s"}))
            plan.commands.on("dnf install", failure(name, code))
            with self.assertRaises(ResourceError) as caught:
                plan.carry_out()
            self.assertEqual(caught.exception.kind, locks.LOCKED)

    def test_the_holder_of_a_lock_that_is_a_file(self):
        """A living process holds it; a dead one, no number and no file do not."""
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        path = os.path.join(directory, "rpmdb_lock.pid")
        over = subprocess.Popen([sys.executable, "-c", ""])
        over.wait()
        for text in (None, "", "x", str(over.pid)):
            if text is not None:
                with open(path, "w") as file:
                    file.write(text)
            self.assertIsNone(locks.holder_of_pid_files([path]), text)
        with open(path, "w") as file:
            file.write(str(os.getpid()))
        found = locks.holder_of_pid_files(["/nonexistent", path])
        assert found is not None
        self.assertEqual(found.pid, os.getpid())


class Choosing(unittest.TestCase):
    def test_a_host_without_dnf(self):
        """Where a program is missing the provider says which."""
        item = Item(0, "package", "bash", {}, provider="dnf")
        context = make_context(FakeCommands(missing=["rpm"]), [item])
        with self.assertRaises(ResourceError) as caught:
            Registry(context).create(item)
        expect_text(caught.exception, self)

    def test_a_host_without_apt(self):
        """Where apt is missing dnf is chosen without being named."""
        item = Item(0, "package", "bash", {})
        context = make_context(FakeCommands(missing=["apt-get"]), [item])
        self.assertEqual(Registry(context).create(item).provider.name, "dnf")


class PackageLists(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(os.path.join(self.root, "etc/yum.repos.d"))
        self.source("base", 90000, "[base]\nname=x\nenabled = 1\n\n[source]\nenabled=0\n")

    def source(self, name, age, text):
        self.date(self.written("etc/yum.repos.d/%s.repo" % name, text), age)

    def fetched(self, repository, age, cache="var/cache/dnf"):
        directory = "%s/%s-0123456789abcdef/repodata" % (cache, repository)
        os.makedirs(os.path.join(self.root, directory), exist_ok=True)
        self.date(self.written(directory + "/repomd.xml", ""), age + 50000)
        self.date(self.written(directory + "/primary.xml.gz", ""), age)

    def written(self, path, text):
        full = os.path.join(self.root, path)
        with open(full, "w") as file:
            file.write(text)
        return full

    def date(self, full, age):
        os.utime(full, (time.time() - age, time.time() - age))

    def outdated(self, max_age):
        return Lists(self.root).outdated(max_age)

    def test_the_age_of_the_lists(self):
        """The newest file of a repository says when its lists were known to be right."""
        expect_text(self.outdated(1e9), self)
        for cache in ("var/cache/dnf", "var/cache/libdnf5"):
            self.fetched("base", 7200, cache)
            self.assertEqual(self.outdated(10000), "")
            expect_text(self.outdated(3600), self)
            self.assertEqual(self.outdated(None), "")
            shutil.rmtree(os.path.join(self.root, cache))

    def test_lists_of_the_future(self):
        """A date that lies ahead says nothing of when lists were known to be right."""
        self.fetched("base", -90000 - 50000)
        expect_text(self.outdated(1e9), self)
        self.assertEqual(self.outdated(None), "")
        lists = Lists(self.root)
        lists.refreshed()
        self.assertEqual(lists.outdated(3600), "")

    def test_new_repositories(self):
        """A repository without lists is missing until dnf had a chance to fetch them."""
        self.fetched("base", 60)
        self.source("new", 1, "[new]\nname=x\n")
        expect_text(self.outdated(None), self)
        self.source("new", 1, "[new]\nname=x\nenabled=0\n")
        self.assertEqual(self.outdated(None), "")
        self.assertIn("package sources changed", self.outdated(1e9))
        self.source("new", 100, "[new]\nname=never reachable\n")
        self.assertEqual(self.outdated(None), "")

    def test_priorities(self):
        """A repository has the priority of its file, or 99."""
        self.source("first", 1, "[first]\npriority=10\n")
        priority = Lists(self.root).priorities()
        self.assertEqual([priority(name) for name in ("first", "base", "?")], [10, 99, 99])

    def plan(self, **properties):
        plan = plan_of(("ccm-hello", properties))
        plan.commands.on("dnf makecache", "")
        plan.provider.lists = Lists(self.root)
        return plan

    def test_refreshed_when_older(self):
        """update_cache refreshes lists that are older, once; without it they are left alone."""
        for properties, count in (
            ({"update_cache": "1h"}, 1),
            ({"update_cache": "3h"}, 0),
            ({}, 0),
        ):
            self.fetched("base", 7200)
            plan = self.plan(**properties)
            plan.carry_out()
            plan.resources[0].observe()
            self.assertEqual(plan.commands.count("dnf makecache -y --refresh"), count)

    def test_noop_does_not_know_what_other_lists_would_say(self):
        """In noop old lists, missing ones and a pending .repo file make the prediction unknown."""
        reasons = []
        path = "/etc/yum.repos.d/new.repo"
        self.fetched("base", 7200)
        for properties, pending in (({"update_cache": "1h"}, []), ({}, [PathEffect(path, "file")])):
            plan = self.plan(**properties)
            plan.context.expect(pending, Uncertainty(), "file#new")
            with plan.noop(), self.assertRaises(Unknowable) as caught:
                plan.resources[0].observe()
            reasons.append(caught.exception.message)
            self.assertEqual(plan.commands.count("dnf makecache"), 0)
        expect_text(reasons[0], self)
        self.assertIn("pending " + path, reasons[1])
        shutil.rmtree(os.path.join(self.root, "var"))
        plan = self.plan()
        with plan.noop(), self.assertRaises(Missing) as missing:
            plan.resources[0].observe()
        expect_text(missing.exception.message, self)

    def test_a_repository_that_may_fail_is_told(self):
        """Where dnf may do without a repository, a refresh that misses it ends with a warning."""
        self.fetched("base", 7200)
        plan = self.plan(update_cache="1h")
        plan.commands.on("dnf makecache", Result(0, "", "Ignoring repositories: a, b\n"))
        plan.resources[0].observe()
        warning = ("warning", "could not refresh the lists of a, b")
        self.assertIn(warning, notices_of(plan.context))

    def test_a_failed_refresh_is_an_error(self):
        """A repository that cannot be reached fails the resource that wanted fresh lists."""
        self.fetched("base", 7200)
        plan = self.plan(update_cache="1h")
        plan.commands.on("dnf makecache", failure("dnf-dead-repository", 1))
        with self.assertRaises(ResourceError) as caught:
            plan.resources[0].observe()
        expect_text(caught.exception.message, self)
        self.assertEqual(caught.exception.kind, "package.download")


if __name__ == "__main__":
    unittest.main()
