"""How the apt provider asks and acts, with recorded output."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from remote_runtime.cancellation import Cancelled
from remote_runtime.changes import Missing, Unknowable
from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages import locks
from remote_runtime.packages.apt import apt_cache
from remote_runtime.packages.apt.package_lists import Lists, in_words
from remote_runtime.packages.dpkg import database as dpkg
from remote_runtime.packages.manager import LISTS_OUTDATED
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.system.process.commands import Result
from remote_runtime.uncertainty import Uncertainty
from tests.texts import expect_text

from ..fake_commands import FakeCommands, make_context, notices_of
from .plan import Plan, failure, recorded, recorded_commands

INSTALL = "apt-get install -y -q -o Dpkg::Use-Pty=0 -o DPkg::Options::=--force-confold "
HOLD = """
import fcntl, sys, time
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


class Reading(unittest.TestCase):
    def test_one_query_for_all_packages(self):
        """However many packages are in the plan, dpkg-query and apt-cache are asked once."""
        packages = [("ccm-hello", {}), ("ccm-epoch", {"ensure": "latest"}), ("bash", {})]
        plan = Plan(recorded_commands(), *packages)
        plan.messages()
        self.assertEqual(plan.commands.count("dpkg-query"), 1)
        self.assertEqual(
            [line.partition(" -- ")[2] for line in plan.commands.asked if "policy" in line],
            ["ccm-epoch ccm-hello"],
        )

    def test_a_converged_plan_does_not_ask_apt(self):
        """Packages that only have to be present and are need no package lists."""
        plan = Plan(recorded_commands(), ("bash", {}), ("mawk", {}), ("zsh", {"ensure": "absent"}))
        self.assertEqual(plan.messages(), ["", "", ""])
        self.assertEqual(len(plan.commands.asked), 1)

    def test_after_a_transaction_dpkg_is_asked_again(self):
        """Any transaction makes dpkg's answers stale, one of another type apt's as well."""
        plan = Plan(recorded_commands(), ("ccm-hello", {}), ("ccm-epoch", {}))
        plan.carry_out(0)
        plan.carry_out(1)
        self.assertEqual(plan.commands.count("dpkg-query"), 2)
        self.assertEqual(plan.commands.count("apt-cache policy"), 1)
        plan.context.acted += 1
        plan.carry_out(1)
        self.assertEqual(plan.commands.count("apt-cache policy"), 2)

    def test_architectures(self):
        """A name without an architecture means the host's own or `all`."""
        database = dpkg.Database(
            "dpkg 1.21 amd64 installed install\n"
            "libc6 2.36 i386 installed install\n"
            "libc6 2.35 amd64 installed install\n"
            "zlib1g 1.2 i386 installed install\n"
            "tzdata 2024a all installed install\n"
        )
        rows = [
            ("libc6", "2.35"),
            ("libc6:amd64", "2.35"),
            ("libc6:i386", "2.36"),
            ("libc6:arm64", ""),
            ("zlib1g", ""),
            ("zlib1g:any", "1.2"),
            ("tzdata", "2024a"),
            ("tzdata:amd64", "2024a"),
            ("tzdata:all", "2024a"),
            ("libc6:all", "2.35"),
        ]
        self.assertEqual([(name, database.find(name).version) for name, _ in rows], rows)

    def test_a_package_for_all_architectures_by_its_full_name(self):
        """apt prints NAME:all under the plain name; it is the same package."""
        plan = Plan(recorded_commands(), ("ccm-hello:all", {}), ("bash:all", {}))
        self.assertEqual(plan.messages(), ["Would have installed", ""])

    def test_policy_as_several_versions_of_apt_print_it(self):
        """Versions with and without priorities, phased ones, pins and foreign architectures."""
        found = apt_cache.parse_policy(
            "libc6:i386:\n  Installed: (none)\n  Candidate: 2.36-9\n  Version table:\n"
            "     2.37-1 1 (phased 20%)\n        500 http://x y/main i386 Packages\n"
            " *** 2.36-9 100\n        100 /var/lib/dpkg/status\n     2.35 -10\n"
            "old:\n  Installed: 1.0\n  Candidate: 1.0\n  Package pin: 1.0\n  Version table:\n"
            " *** 1.0 0\n        500 http://x y/main Packages\n"
        )
        self.assertEqual(found["libc6:i386"].versions, ("2.37-1", "2.36-9", "2.35"))
        self.assertEqual(found["libc6:i386"].candidate, "2.36-9")
        self.assertEqual(found["old"].versions, ("1.0",))
        virtual = apt_cache.parse_policy(recorded("apt-cache-policy.txt"))["awk"]
        self.assertEqual((virtual.known, virtual.candidate, virtual.versions), (True, "", ()))

    def test_a_broken_database_is_an_error(self):
        """What dpkg-query says of a database that it cannot read goes into the event."""
        commands = FakeCommands()
        commands.on(
            "dpkg-query", Result(2, "", "dpkg-query: error: parsing file 'status' line 3\n")
        )
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("bash", {})).messages()
        self.assertIn("parsing file 'status'", str(caught.exception))

    def test_a_host_without_apt(self):
        """Where a program is missing the provider says which."""
        item = Item(0, "package", "bash", {})
        context = make_context(FakeCommands(missing=["apt-get", "dnf"]), [item])
        with self.assertRaises(ResourceError) as caught:
            Registry(context).create(item)
        expect_text(caught.exception, self)


_LOCALE = ("LANG", "LC_C", "LC_N", "LC_T", "LC_M")  # how names of the host's own begin


class Acting(unittest.TestCase):
    def test_the_documents_commands(self):
        """Install, latest, version and removal run exactly as documented."""
        rows = [
            ("ccm-hello", "present", INSTALL + "ccm-hello"),
            ("ccm-hello", "latest", INSTALL + "ccm-hello=2.1~rc1-1"),
            ("ccm-hello", "1.1-1", INSTALL + "--allow-downgrades ccm-hello=1.1-1"),
            ("ccm-daemon", "latest", INSTALL + "ccm-daemon=1.1-1"),
            ("bash", "absent", "apt-get -q -y -o Dpkg::Use-Pty=0 remove bash"),
        ]
        for name, ensure, command in rows:
            plan = Plan(recorded_commands(), (name, {"ensure": ensure}))
            plan.carry_out()
            self.assertEqual(plan.commands.asked[-1], command)
            environment = plan.commands.environments[-1]
            self.assertEqual(environment.pop("LC_MESSAGES"), "C")
            self.assertEqual(environment.pop("LC_ALL"), "")
            self.assertEqual(
                {name: text for name, text in environment.items() if name[:4] not in _LOCALE},
                {
                    "DEBIAN_FRONTEND": "noninteractive",
                    "APT_LISTBUGS_FRONTEND": "none",
                    "APT_LISTCHANGES_FRONTEND": "none",
                    "NEEDRESTART_SUSPEND": "1",
                    "NEEDRESTART_MODE": "l",
                },
            )

    def test_a_transaction_is_let_finish(self):
        """A run that is cancelled meanwhile does not end apt, and starts nothing more."""
        plan = Plan(recorded_commands(), ("ccm-hello", {}), ("ccm-epoch", {}))
        self.assertTrue(plan.finishes("apt-get"))

    def test_failures_say_what_to_do(self):
        """Each recorded failure of apt becomes its own kind, with apt's words and a hint."""
        rows = [
            ("broken-postinst", "package.script", "post-installation script", "below"),
            ("full-disk", "package.space", "No space left on device", "free space"),
            ("not-root", "package.root", "are you root", "become: true"),
            ("unknown", "package.unknown", "Unable to locate package nosuch", "update_cache"),
            ("unmet", "package.dependencies", "ccm-does-not-exist", "dependency"),
            ("held", "package.held", "Held packages", "apt-mark unhold"),
            ("dead-repository", "package.download", "Connection refused", "mirror"),
        ]
        for name, kind, words, hint in rows:
            commands = recorded_commands()
            commands.on("apt-get install", failure(name))
            with self.assertRaises(ResourceError) as caught:
                Plan(commands, ("ccm-hello", {})).carry_out()
            error = caught.exception
            self.assertEqual(error.kind, kind, name)
            self.assertTrue(error.message.startswith("installing ccm-hello failed"), error.message)
            self.assertIn(words, error.message + error.output)
            self.assertIn(hint, error.hint)
            self.assertNotIn("Reading database", error.output)

    def test_what_is_on_hold_is_named(self):
        """An error about held packages, or about what is needed, names those that apt mentions."""
        for name, mentioned in (("held", "ccm-pkg01"), ("unmet", "ccm-does-not-exist")):
            commands = recorded_commands()
            commands.on("apt-get install", failure(name))
            selections = "hold %s\nhold ccm-other\ninstall vim\n" % mentioned
            commands.on("dpkg-query -W -f=${db:Status-Want} ${Package}\\n *", selections)
            with self.assertRaises(ResourceError) as caught:
                Plan(commands, ("ccm-hello", {})).carry_out()
            self.assertIn(mentioned, recorded(name + ".out") + recorded(name + ".err"))
            told = "release held packages with `apt-mark unhold %s`" % mentioned
            self.assertEqual(caught.exception.hint, told)

    def test_caches_that_apt_has_no_space_for(self):
        """apt runs again without them, and so does each later command; it fails only if that
        fails."""
        full = Result(
            100,
            "",
            "E: Write error - write (28: No space left on device)\n"
            "E: IO Error saving source cache\n",
        )
        uncached = "-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "
        asking = "apt-cache policy " + uncached
        commands = recorded_commands()
        commands.on("apt-cache policy -- ", full)
        plan = Plan(commands, ("ccm-hello", {"ensure": "2.0-1"}), ("ccm-hello", {}))
        plan.carry_out()
        self.assertEqual(commands.count("apt-cache policy -- "), 1)
        self.assertTrue(any(line.startswith(asking) for line in commands.asked), commands.asked)
        (changing,) = [line for line in commands.asked if " install " in line]
        self.assertTrue(changing.startswith("apt-get %sinstall " % uncached), changing)
        commands.on("apt-get", full)
        with self.assertRaisesRegex(ResourceError, "No space left"):
            plan.carry_out()

    def test_another_broken_package_is_not_this_ones_failure(self):
        """dpkg fails for a package that was broken before; the one that was asked for is there."""
        commands = recorded_commands()
        commands.on("apt-get install", failure("other-broken"))
        after = "ccm-daemon 1.1-1 all installed install\n"
        commands.on("dpkg-query", recorded("dpkg-query.txt"), after)
        commands.on("apt-cache show", "")
        plan = Plan(commands, ("ccm-daemon", {"ensure": "latest"}))
        plan.carry_out()
        ((level, text),) = notices_of(plan.context)
        self.assertEqual(level, "warning")
        self.assertIn("ccm-broken", text)


class Locked(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.lock = os.path.join(self.directory, "lock-frontend")
        self.context = make_context(FakeCommands())

    def look(self):
        return locks.holder([self.lock])

    def hold(self, seconds):
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD, self.lock, str(seconds)], stdout=subprocess.PIPE
        )
        assert holder.stdout is not None
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), b"held\n")
        return holder

    def test_the_holder_is_found_without_taking_the_lock(self):
        """The pid and name of whoever holds a lock are told; a free lock and no file are free."""
        self.assertIsNone(locks.holder([self.lock]))
        holder = self.hold(60)
        found = locks.holder([os.path.join(self.directory, "none"), self.lock])
        assert found is not None
        self.assertEqual((found.path, found.pid), (self.lock, holder.pid))
        self.assertIn("pid %d" % holder.pid, str(found))

    def test_the_unit_of_a_holder(self):
        """It is named beside the process, as apt-daily.service is soon after a boot."""
        shown = str(locks.Holder("/l", 7, "apt-get", "apt-daily.service"))
        self.assertEqual(shown, "/l, held by apt-get (pid 7, apt-daily.service)")

    def test_a_lock_is_waited_for_with_a_message(self):
        """The wait ends with the lock, and one notice names the holder."""
        holder = self.hold(0.7)
        locks.wait(self.context, self.look, time.monotonic() + 30)
        ((level, text),) = notices_of(self.context)
        self.assertEqual(level, "waiting")
        self.assertIn("held by", text)
        self.assertIn("pid %d" % holder.pid, text)

    def test_a_lock_that_stays_is_an_error(self):
        """After the timeout the error names the lock, the holder and the property."""
        self.hold(60)
        with self.assertRaises(ResourceError) as caught:
            locks.wait(self.context, self.look, time.monotonic() + 0.1)
        self.assertEqual(caught.exception.kind, "package.lock")
        self.assertIn(self.lock, caught.exception.message)
        self.assertIn("lock_timeout", caught.exception.hint)

    def test_a_wait_is_cancelled(self):
        """Waiting for a lock ends with the run."""
        self.hold(60)
        self.context.cancellation.set("ctrl-c")
        with self.assertRaises(Cancelled):
            locks.wait(self.context, self.look, time.monotonic() + 30)

    def test_apt_that_loses_the_race_for_a_lock_tries_again(self):
        """A lock taken between our look and apt's own is waited for as well."""
        commands = recorded_commands()
        commands.on("apt-get install", failure("locked"), "")
        Plan(commands, ("ccm-hello", {"lock_timeout": "30s"})).carry_out()
        self.assertEqual(commands.count("apt-get install"), 2)

    def test_the_race_is_lost_for_good_after_the_timeout(self):
        """With no time left a lock is an error of its own kind."""
        commands = recorded_commands()
        commands.on("apt-get install", failure("locked"))
        with self.assertRaises(ResourceError) as caught:
            Plan(commands, ("ccm-hello", {"lock_timeout": "0s"})).carry_out()
        self.assertEqual(caught.exception.kind, "package.lock")


class PackageLists(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        for directory in ("lib/apt/lists", "cache/apt", "lib/dpkg"):
            os.makedirs(os.path.join(self.root, "var", directory))
        os.makedirs(os.path.join(self.root, "etc/apt/sources.list.d"))
        self.write("etc/apt/sources.list", 90000)
        self.write("etc/apt/sources.list.d", 90000)

    def write(self, path, age):
        full = os.path.join(self.root, path)
        if not os.path.isdir(full):
            open(full, "w").close()
        self.date(path, age)

    def date(self, path, age):
        when = time.time() - age
        os.utime(os.path.join(self.root, path), (when, when))

    def fetched(self, age):
        self.write("var/lib/apt/lists/mirror_InRelease", age)
        self.date("var/lib/apt/lists", age)

    def plan(self, **properties):
        plan = Plan(recorded_commands(), ("ccm-hello", properties))
        plan.provider.lists = Lists(self.root)
        return plan

    def test_a_cache_older_than_the_database_is_dropped(self):
        """Before a transaction apt forgets what it knew before dpkg was at work, and only that."""
        for cache, database, stays in ((5.2, 5.1, False), (5.1, 5.2, True), (9000, 5, False)):
            self.write("var/cache/apt/pkgcache.bin", cache)
            self.write("var/lib/dpkg/status", database)
            plan = self.plan()
            plan.messages()
            self.assertIn("pkgcache.bin", os.listdir(os.path.join(self.root, "var/cache/apt")))
            plan.carry_out()
            left = os.listdir(os.path.join(self.root, "var/cache/apt"))
            self.assertEqual(left, ["pkgcache.bin"] if stays else [])

    def test_lists_are_refreshed_when_they_are_older(self):
        """Lists of two hours are refreshed for 1h and not for 3h; without the property never."""
        for properties, count in (
            ({"update_cache": "1h"}, 1),
            ({"update_cache": "3h"}, 0),
            ({}, 0),
        ):
            self.fetched(7200)
            plan = self.plan(**properties)
            plan.carry_out()
            self.assertEqual(
                plan.commands.count("apt-get update -q -o APT::Update::Error-Mode=any"), count
            )

    def test_lists_are_refreshed_once(self):
        """After a refresh the lists count as new, also where apt found nothing to download."""
        self.fetched(7200)
        plan = self.plan(update_cache="1h")
        plan.resources[0].observe()
        plan.resources[0].observe()
        self.assertEqual(plan.commands.count("apt-get update"), 1)
        self.assertEqual(Lists(self.root).outdated(3600), "")

    def test_how_old_lists_are(self) -> None:
        """In the greatest unit of which there are two, seconds else."""
        ages = (0.4, 1.9, 2, 119, 120, 7200, 200000)
        self.assertEqual(
            [in_words(age) for age in ages],
            ["0 seconds", "1 second", "2 seconds", "119 seconds", "2 minutes", "2 hours", "2 days"],
        )

    def test_an_installed_package_needs_no_lists(self):
        """Old lists are left alone while nothing depends on them."""
        self.fetched(7200)
        plan = Plan(recorded_commands(), ("bash", {"update_cache": "1h"}))
        plan.provider.lists = Lists(self.root)
        plan.resources[0].observe()
        self.assertEqual(plan.commands.count("apt-get"), 0)

    def test_lists_of_the_future(self):
        """A date that lies ahead says nothing; the other one, and a refresh of this run, count."""
        self.fetched(-90000)
        expect_text(Lists(self.root).outdated(1e9), self)
        os.makedirs(os.path.join(self.root, "var/lib/apt/periodic"))
        self.write("var/lib/apt/periodic/update-success-stamp", 7200)
        self.assertEqual(Lists(self.root).outdated(10000), "")
        expect_text(Lists(self.root).outdated(60), self)
        lists = Lists(self.root)
        lists.refreshed()
        self.assertEqual(lists.outdated(60), "")

    def test_no_lists_and_changed_sources_are_outdated(self):
        """A host that never had lists, or whose sources are newer than they, has to refresh."""
        expect_text(Lists(self.root).outdated(1e9), self)
        self.fetched(60)
        self.assertEqual(Lists(self.root).outdated(3600), "")
        self.write("etc/apt/sources.list.d/new.list", 1)
        self.assertIn("sources changed", Lists(self.root).outdated(3600))

    def test_noop_refreshes_nothing_and_does_not_know(self):
        """In noop outdated lists make the prediction unknown instead."""
        self.fetched(7200)
        plan = self.plan(ensure="latest", update_cache="1h")
        with plan.noop(), self.assertRaises(Missing) as caught:
            plan.resources[0].observe()
        expect_text(caught.exception.message, self)
        self.assertIsInstance(caught.exception, Unknowable)
        words = [a.message for a in caught.exception.would]
        expect_text(words, self)
        self.assertEqual(plan.commands.count("apt-get"), 0)

    def test_a_preview_says_once_that_lists_are_old(self):
        """One sentence for all packages, the same on each host, also where there are no lists."""
        for age in (7200, None):
            plan = Plan(
                recorded_commands(),
                ("ccm-hello", {"update_cache": "1h"}),
                ("nosuch", {} if age is None else {"update_cache": "1h"}),
            )
            plan.provider.lists = Lists(self.root)
            if age is not None:
                self.fetched(age)
            for resource in plan.resources:
                with plan.noop(), self.assertRaises(Missing):
                    resource.observe()
            self.assertEqual(notices_of(plan.context), [("warning", LISTS_OUTDATED)])
            self.setUp()

    def test_a_preview_refreshes_lists_when_asked(self):
        """With --refresh-lists they are refreshed once, at the first package that needs them."""
        for noop in (True, False):
            self.fetched(60)
            plan = Plan(recorded_commands(), ("bash", {}), ("ccm-hello", {}), ("ccm-pkg01", {}))
            plan.provider.lists = Lists(self.root)
            plan.context.options = plan.context.options._replace(refresh_lists=True)
            for resource in plan.resources:
                with plan.context.for_resource(resource.item, noop=noop):
                    resource.observe()
            self.assertEqual(plan.commands.count("apt-get update"), 1)

    def test_noop_does_not_know_what_pending_sources_bring(self):
        """A source that an earlier file resource would add makes the prediction unknown."""
        self.fetched(60)
        path = "/etc/apt/sources.list.d/new.list"
        items = [Item(0, "file", path, {}), Item(1, "package", "new", {"update_cache": "1h"})]
        context = make_context(recorded_commands(), items, noop=True)
        resource = Registry(context).create(items[1])
        resource.provider.manager.lists = Lists(self.root)
        with self.assertRaises(Missing) as caught:
            resource.observe()
        self.assertNotIsInstance(caught.exception, Unknowable)
        context.expect([PathEffect(path, "file")], Uncertainty(), "file#new")
        with self.assertRaises(Unknowable) as unknown:
            resource.observe()
        self.assertIn(path, unknown.exception.message)

    def test_a_failed_refresh_is_an_error(self):
        """A repository that cannot be reached fails the resource that wanted fresh lists."""
        self.fetched(7200)
        plan = self.plan(update_cache="1h")
        plan.commands.on("apt-get update", failure("dead-repository"))
        with self.assertRaises(ResourceError) as caught:
            plan.resources[0].observe()
        self.assertIn("refreshing the package lists failed", caught.exception.message)
        self.assertEqual(caught.exception.kind, "package.download")


if __name__ == "__main__":
    unittest.main()
