"""What the package type decides, on a recorded host."""

import unittest

from remote_runtime.changes import Missing
from remote_runtime.effects import PackageEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.resources.package.resource import Resource
from tests.texts import expect_text

from .plan import Plan, recorded_commands

INSTALL = "apt-get install -y -q -o Dpkg::Use-Pty=0 -o DPkg::Options::=--force-confold "


def one(name, **properties):
    return Plan(recorded_commands(), (name, properties))


def missing(case, plan):
    with case.assertRaises(Missing) as caught:
        plan.resources[0].observe()
    return caught.exception


class Wording(unittest.TestCase):
    def test_the_documents_table(self):
        """Each decision is worded as the documents have it."""
        rows = [
            ("ccm-hello", "present", "Would have installed"),
            ("ccm-hello", "latest", "Would have installed latest"),
            ("ccm-hello", "1.1-1", "Would have installed version 1.1-1"),
            ("ccm-daemon", "latest", "Would have upgraded to latest"),
            ("ccm-daemon", "1.1-1", "Would have upgraded to 1.1-1"),
            ("ccm-units", "present", ""),
            ("ccm-units", "1.0-1", ""),
            ("ccm-units", "0:1.0-1", ""),
            ("ccm-units", "absent", "Would have uninstalled"),
            ("ccm-hello", "absent", ""),
        ]
        plan = Plan(recorded_commands(), *[(name, {"ensure": e}) for name, e, _ in rows])
        self.assertEqual(plan.messages(), [message for _, _, message in rows])

    def test_an_older_version_is_a_downgrade(self):
        """A version below the installed one is worded and carried out as a downgrade."""
        commands = recorded_commands()
        commands.on("dpkg-query", "ccm-daemon 1.1-1 all installed install\n")
        plan = Plan(commands, ("ccm-daemon", {"ensure": "1.0-1"}))
        expect_text(plan.messages(), self)
        plan.carry_out()
        self.assertIn(INSTALL + "--allow-downgrades ccm-daemon=1.0-1", commands.asked)

    def test_latest_is_stable_on_the_candidate_and_above_it(self):
        """Installed in the candidate's version or a newer one, latest has nothing to do."""
        for version in ("1.1-1", "1.2-1"):
            commands = recorded_commands()
            commands.on("dpkg-query", "ccm-daemon %s all installed install\n" % version)
            self.assertEqual(Plan(commands, ("ccm-daemon", {"ensure": "latest"})).messages(), [""])


class States(unittest.TestCase):
    def test_what_is_remembered(self):
        """What is remembered of a turn is what it found at its end, without another look."""
        plan = one("ccm-units")
        resource = plan.resources[0]
        found = resource.drift_state()
        resource.state_left = resource.observe()
        plan.context.has_acted()
        asked = len(plan.commands.asked)
        self.assertEqual((resource.drift_state(), found["ensure"]), (found, "1.0-1"))
        self.assertEqual(len(plan.commands.asked), asked)

    def test_only_installed_is_present(self):
        """Of all states of dpkg only `installed` counts; the others are repaired by an install."""
        for status in (
            "not-installed",
            "config-files",
            "half-installed",
            "unpacked",
            "half-configured",
            "triggers-awaited",
            "triggers-pending",
        ):
            commands = recorded_commands()
            commands.on("dpkg-query", "ccm-hello 1.0-1 all %s install\n" % status)
            plan = Plan(commands, ("ccm-hello", {}))
            self.assertEqual(plan.resources[0].observe().ensure, "absent", status)
            expect_text(plan.messages(), self)

    def test_the_state_is_the_installed_version(self):
        """An event reports the version, or absent."""
        self.assertEqual(one("bash").resources[0].observe().ensure, "5.2.15-2+b13")
        self.assertEqual(one("ccm-conf", ensure="absent").resources[0].observe().ensure, "absent")

    def test_what_is_found(self):
        """The state alone has version, architecture, dpkg's word and what an update would bring."""
        found = one("ccm-daemon").resources[0].found()
        self.assertEqual(
            found,
            {
                "ensure": "1.0-1",
                "version": "1.0-1",
                "architecture": "all",
                "status": "installed",
                "candidate": "1.1-1",
            },
        )
        found = one("ccm-pkg01").resources[0].found()
        self.assertEqual((found["held"], found["architecture"]), (True, "all"))
        found = one("ccm-conf").resources[0].found()
        self.assertEqual((found["ensure"], found["status"]), ("absent", "config-files"))
        self.assertNotIn("version", found)

    def test_a_change_names_the_version_that_will_come(self):
        """The record of a change has the candidate where no version was asked for."""
        changes = one("ccm-hello").carry_out()
        self.assertEqual(changes, [{"what": "ensure", "from": "absent", "to": "2.1~rc1-1"}])

    def test_not_settled_says_how_far_dpkg_got(self):
        """After acting in vain the reason holds dpkg's own state of the package."""
        commands = recorded_commands()
        commands.on("dpkg-query", "ccm-hello 1.0-1 all half-configured install\n")
        resource = Plan(commands, ("ccm-hello", {})).resources[0]
        expect_text(resource.unachieved(resource.observe()), self)

    def test_not_settled_where_the_latest_did_not_come(self):
        """A package that is still older than its candidate afterwards has not become the latest."""
        resource = one("ccm-daemon", ensure="latest").resources[0]
        expect_text(resource.unachieved(resource.observe()), self)

    def test_what_a_pending_package_does_is_not_known(self):
        """Nobody can tell all that comes with it, or goes; its version is known."""
        for name, ensure, version, present in (
            ("ccm-hello", "present", "2.1~rc1-1", False),
            ("bash", "absent", "", True),
        ):
            plan = one(name, ensure=ensure)
            plan.commands.on("apt-get -s", "")
            with plan.noop():
                (action,) = plan.rehearsed()
            fog, package = action.effects
            self.assertIsInstance(fog, UnknownEffect)
            self.assertTrue(fog.covers("path", "/usr/bin/x", present))
            self.assertFalse(fog.covers("path", "/usr/bin/x", not present))
            self.assertEqual(package, PackageEffect(name, version))


class Obstacles(unittest.TestCase):
    def test_an_unknown_package(self):
        """A package that no list has is missing, with what noop would have said."""
        error = missing(self, one("nosuch"))
        expect_text(str(error), self)
        self.assertIn("update_cache", error.hint)
        expect_text([a.message for a in error.would], self)

    def test_names_that_apt_would_read_as_something_else(self):
        """Patterns and the suffixes - and + never reach apt: they are unknown packages."""
        for name in ("bash-", "ccm-hell.", "~nbash", "ccm-hello+"):
            plan = one(name)
            expect_text(str(missing(self, plan)), self)
            self.assertEqual(plan.commands.count("apt-get"), 0)

    def test_a_version_that_is_not_there_names_those_that_are(self):
        """The hint lists the versions that can be had."""
        error = missing(self, one("ccm-hello", ensure="9.0"))
        expect_text(error.message, self)
        self.assertEqual(error.hint, "available: 2.1~rc1-1, 2.0-1, 1.1-1, 1.0-1")

    def test_a_virtual_package_names_its_providers(self):
        """A virtual package is refused with the packages to choose from."""
        error = missing(self, one("awk"))
        expect_text(error.message, self)
        self.assertIn("mawk", error.hint)

    def test_a_held_package(self):
        """A hold stops a change of version and a removal, and leaves present alone."""
        self.assertEqual(one("ccm-pkg01").messages(), [""])
        commands = recorded_commands()
        commands.on("dpkg-query", "ccm-daemon 1.0-1 all installed hold\n")
        error = missing(self, Plan(commands, ("ccm-daemon", {"ensure": "latest"})))
        expect_text(error.message, self)
        self.assertIn("apt-mark unhold ccm-daemon", error.hint)
        with self.assertRaises(ResourceError) as caught:
            one("ccm-pkg01", ensure="absent").messages()
        expect_text(caught.exception, self)


class Check(unittest.TestCase):
    def problems(self, name="nginx", **properties):
        return [key for key, _ in Resource.check(name, properties)]

    def test_names(self):
        """The documents' characters are allowed, all others and a leading hyphen are refused."""
        for name in ("nginx", "g++", "libc6:i386", "a.b_c~d-e+f"):
            self.assertEqual(self.problems(name), [], name)
        for name in ("a;b", "a b", "a/b", "$(x)", "`x`", "a'b", "-oDir", "", "a\n", "é"):
            self.assertEqual(self.problems(name), ["name"], name)

    def test_versions(self):
        """A version has no dangerous characters and at least one digit."""
        for ensure in (
            "present",
            "absent",
            "latest",
            "1.10",
            "1:2.0-3~bpo+1",
            "5.8-9.el9",
            "1^git",
        ):
            self.assertEqual(self.problems(ensure=ensure), [], ensure)
        for ensure in ("1;reboot", "1 2", "-1", "../1", "prsent", "", "1\n", "1=2"):
            self.assertEqual(self.problems(ensure=ensure), ["ensure"], ensure)

    def test_a_number_is_not_guessed_at(self):
        """An unquoted version says to quote it."""
        ((key, message),) = Resource.check("nginx", {"ensure": 1.1})
        self.assertEqual((key, message), ("ensure", 'quote the version: ensure: "1.1"'))

    def test_durations(self):
        """update_cache and lock_timeout are durations."""
        self.assertEqual(self.problems(update_cache="1h", lock_timeout="5m"), [])
        self.assertEqual(self.problems(update_cache="often"), ["update_cache"])
        self.assertEqual(self.problems(lock_timeout=True), ["lock_timeout"])


if __name__ == "__main__":
    unittest.main()
