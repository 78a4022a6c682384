"""What a preview knows of a transaction before it runs, with recorded output of apt."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import PathEffect, UnknownEffect
from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.packages.apt.private_copy import ScratchCache
from remote_runtime.packages.apt.readiness import Readiness
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.system.files import Files
from remote_runtime.system.process.commands import Result
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from .plan import Plan, recorded_commands

SIMULATED = (
    "Remv ccm-old [1.0]\nInst libx:i386 (2.0 localhost [i386])\n"
    "Inst liby [1.0] (1.1 localhost [all]) [ccm-hello:amd64 ]\n"
    "Inst ccm-hello (2.1~rc1-1 localhost [all])\nConf ccm-hello (2.1~rc1-1 localhost [all])\n"
)
PRINTED = (
    "Removing ccm-old (1.0), to allow configuration of ccm-hello (2.1~rc1-1) ...\n"
    "Preparing to unpack .../0-libx.deb ...\nUnpacking libx:i386 (2.0) ...\n"
    "Unpacking liby:amd64 (1.1) over (1.0) ...\nUnpacking ccm-hello (2.1~rc1-1) ...\n"
    "Setting up ccm-hello (2.1~rc1-1) ...\n"
)
UNMET = Result(
    100,
    "The following packages have unmet dependencies:\n"
    " ccm-hello : Depends: nosuch but it is not installable\n",
    "E: Unable to correct problems, you have held broken packages.\n",
)
HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


class Simulation(unittest.TestCase):
    def test_what_apt_would_do_and_what_dpkg_did_read_alike(self):
        """A simulation and the transaction itself give the same packages and versions."""
        expected = [
            VersionChange("ccm-hello", "", "2.1~rc1-1"),
            VersionChange("ccm-old", "1.0", ""),
            VersionChange("libx:i386", "", "2.0"),
            VersionChange("liby", "1.0", "1.1"),
        ]
        self.assertEqual(apt_simulation.planned(SIMULATED, "amd64"), expected)
        self.assertEqual(apt_simulation.done(PRINTED, "amd64"), expected)

    def test_the_records_of_the_preview_and_of_the_push_are_the_same(self):
        """What comes and goes along with a package stands in its event, before and after; where
        that was promised, before anything is done.
        """
        records = []
        for noop, promised in ((True, False), (False, False), (False, True)):
            commands = recorded_commands()
            commands.on("apt-get", PRINTED)
            commands.on("apt-get -s", SIMULATED)
            commands.on("apt-cache show", "")
            plan = Plan(commands, ("ccm-hello", {}))
            plan.context.promised = promised
            with plan.context.for_resource(plan.resources[0].item, noop=noop):
                state = plan.resources[0].observe()
                (action,) = plan.resources[0].actions(state, False)
                if promised:
                    records.append([tuple(change)[:3] for change in action.changes])
                if not noop:
                    action.call()
            records.append([tuple(change)[:3] for change in action.changes])
        self.assertEqual(records, [records[0]] * 4)
        self.assertEqual(
            records[0],
            [
                ("ensure", "absent", "2.1~rc1-1"),
                ("package ccm-old", "1.0", "absent"),
                ("package libx:i386", "absent", "2.0"),
                ("package liby", "1.0", "1.1"),
            ],
        )

    def test_what_apt_refuses_fails_the_preview(self):
        """An unmet dependency is told by the preview, in apt's own words."""
        commands = recorded_commands()
        commands.on("apt-get -s", UNMET)
        with self.assertRaises(Missing) as caught:
            Plan(commands, ("ccm-hello", {})).messages()
        expect_text(caught.exception, self)
        expect_text([a.message for a in caught.exception.would], self)

    def test_only_a_change_is_simulated(self):
        """A preview of what is installed asks apt nothing, a push simulates nothing; the settings
        of dpkg are read for a preview of a change alone."""
        plan = Plan(recorded_commands(), ("bash", {}))
        plan.messages()
        plan = Plan(plan.commands, ("ccm-hello", {}))
        plan.carry_out()
        self.assertEqual(plan.commands.count("apt-get -s"), 0)
        self.assertEqual(plan.commands.count("apt-config"), 0)

    def test_the_settings_are_asked_for_once(self):
        """Of apt, for all packages that would change, until an earlier resource changes some."""
        commands = recorded_commands()
        commands.on("apt-get -s", SIMULATED)
        commands.on("apt-cache show", "")
        plan = Plan(commands, ("ccm-hello", {}))
        for _ in range(2):
            plan.messages()
        self.assertEqual(commands.count("apt-config dump"), 1)
        setting = PathEffect("/etc/apt/apt.conf.d/99x", "file", content=Text(""))
        plan.context.expect([setting], Uncertainty(), "file#x")
        plan.messages()
        self.assertEqual(commands.count("apt-config dump"), 2)

    def test_a_setting_that_only_the_push_has(self):
        """What is planned of apt's settings and not known yet leaves each package open, and what it
        brings; it stays a question however often it is asked."""
        plan = Plan(recorded_commands(), ("ccm-hello", {}))
        plan.context.expect(
            [PathEffect("/etc/apt/apt.conf.d/99x", "something")], Uncertainty(), "exec#x"
        )
        for _ in range(2):
            with plan.noop(), self.assertRaises(Unknowable) as caught:
                plan.resources[0].observe()
            (action,) = caught.exception.would
            expect_text(action.message, self)
            self.assertTrue(
                any(isinstance(effect, UnknownEffect) for effect in action.effects or ())
            )

    def test_what_dpkg_would_refuse_fails_the_preview(self):
        """An error of the host's settings is told beforehand, with what would be done."""
        commands = recorded_commands()
        commands.on("apt-get -s", SIMULATED)
        commands.on("apt-cache show", "")
        plan = Plan(commands, ("ccm-hello", {}))
        broken = PathEffect("/etc/dpkg/dpkg.cfg", "file", content=Text('path-exclude="/x\n'))
        plan.context.expect([broken], Uncertainty(), "file#x")
        with self.assertRaises(Missing) as caught:
            plan.messages()
        expect_text(caught.exception.message, self)
        expect_text([a.message for a in caught.exception.would], self)
        self.assertEqual(commands.count("apt-config dump"), 1)

    def test_the_database_as_it_will_be(self):
        """Planned versions replace what is installed, with what the lists say of them."""
        database = "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n"
        database += database.replace(": a\n", ": b\n").replace(": all", ": amd64")
        shown = "Package: c\nArchitecture: amd64\nVersion: 3\nDepends: b\n\n"
        after = apt_simulation.status(database, {"a": "", "c": "3"}, shown, "amd64")
        self.assertEqual(
            after.split("\n\n")[:2],
            [
                "Package: b\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1",
                "Package: c\nStatus: install ok installed\nArchitecture: amd64\nVersion: 3"
                "\nDepends: b",
            ],
        )
        with self.assertRaises(KeyError):
            apt_simulation.status(database, {"d": "1"}, shown, "amd64")


class Beforehand(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def test_only_root_changes_packages(self):
        """A preview of another user fails as the push would."""
        error = Readiness(self.root, user=lambda: 1000).trouble("installing x")
        assert error is not None
        self.assertEqual(error.kind, "package.root")
        self.assertIsNone(Readiness(self.root, user=lambda: 0).trouble("installing x"))

    def test_an_interrupted_dpkg(self):
        """A journal that dpkg left behind keeps apt from beginning anything."""
        updates = os.path.join(self.root, "var/lib/dpkg/updates")
        os.makedirs(updates)
        readiness = Readiness(self.root, user=lambda: 0)
        self.assertIsNone(readiness.trouble("installing x"))
        open(os.path.join(updates, "0001"), "w").close()
        error = readiness.trouble("installing x")
        assert error is not None
        self.assertEqual(error.kind, "package.interrupted")

    def test_a_lock_that_somebody_holds_is_told(self):
        """Whether the lock is given back in time is unknown; the reason names who holds it."""
        lock = os.path.join(self.root, "var/lib/dpkg/lock-frontend")
        os.makedirs(os.path.dirname(lock))
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert holder.stdin is not None
        assert holder.stdout is not None
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdin.close)
        self.addCleanup(holder.stdout.close)
        holder.stdout.readline()
        plan = Plan(recorded_commands(), ("ccm-hello", {}))
        plan.provider.readiness = Readiness(self.root, user=lambda: 0)
        with self.assertRaises(Missing) as caught:
            plan.messages()
        self.assertIn("(pid %d)" % holder.pid, caught.exception.message)
        self.assertIsInstance(caught.exception, Unknowable)


class Caches(unittest.TestCase):
    def test_apt_writes_to_no_cache_of_the_host(self):
        """What is current is read through a link, what is not there is not made."""
        cache = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, cache)
        with open(os.path.join(cache, "pkgcache.bin"), "w") as file:
            file.write("cache")
        files = Files()
        self.addCleanup(files.discard_temporary)
        bench = ScratchCache(files, cache)
        first, second = bench.options(stale=False)[1::2]
        self.assertTrue(os.path.samefile(first.partition("=")[2], file.name))
        self.assertEqual(second, "Dir::Cache::srcpkgcache=")
        self.assertEqual(bench.options(stale=True)[1], "Dir::Cache::pkgcache=")
        files.discard_temporary()
        self.assertFalse(os.path.lexists(first.partition("=")[2]))
        self.assertTrue(os.path.exists(file.name))

    def test_without_caches_there_is_no_directory(self):
        """Where the host has none, nothing at all is made."""
        cache = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, cache)
        unused: Any = None
        options = ScratchCache(unused, cache).options(stale=False)
        self.assertEqual(options[1::2], ["Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache="])


if __name__ == "__main__":
    unittest.main()
