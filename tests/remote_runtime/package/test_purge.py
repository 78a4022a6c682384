"""Removals that take configuration files along."""

import unittest

from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt import commands
from remote_runtime.packages.package_info import Operation

from .plan import Plan, recorded, recorded_commands

PURGE = {"ensure": "absent", "purge": True}
REMOVED = "ccm-hello 1.0-1 all config-files deinstall\n"


def plan(more="", name="ccm-hello", **properties):
    made = recorded_commands()
    made.on("dpkg-query", recorded("dpkg-query.txt") + more)
    return Plan(made, (name, {**PURGE, **properties}))


class Purge(unittest.TestCase):
    def test_what_is_installed(self):
        """An installed package is purged in one transaction."""
        found = plan(name="ccm-units")
        self.assertEqual(found.messages(), ["Would have purged"])
        changes = found.carry_out()
        self.assertEqual([(c["what"], c["to"]) for c in changes], [("ensure", "absent")])
        self.assertIn("apt-get -q -y -o Dpkg::Use-Pty=0 purge ccm-units", found.commands.asked)

    def test_what_was_removed(self):
        """Configuration files that an earlier removal left are removed, if that is asked for."""
        found = plan(REMOVED)
        self.assertEqual(found.messages(), ["Would have purged"])
        (change,) = found.carry_out()
        self.assertEqual(change, {"what": "configuration files", "from": "present", "to": "absent"})
        self.assertEqual(plan(REMOVED, purge=False).messages(), [""])
        self.assertEqual(plan().messages(), [""])

    def test_not_at_once(self):
        """Removals and purges are never one transaction."""
        kept, purged = Operation("a", removal=True), Operation("a", removal=True, purge=True)
        provider = plan().provider
        self.assertNotEqual(provider.kind(kept), provider.kind(purged))
        self.assertEqual(commands.words([kept])[-2:], ["remove", "a"])
        self.assertEqual(commands.words([purged])[-2:], ["purge", "a"])
        self.assertEqual(str(purged), "purging a")

    def test_reached(self):
        """A purge is done once nothing is left."""
        for more, reached in ((REMOVED, False), ("", True)):
            provider = plan(more).provider
            operation = Operation("ccm-hello", removal=True, purge=True)
            self.assertEqual(provider.has_reached(operation), reached)

    def test_dnf(self):
        """dnf has no such removal, and says so."""
        made = recorded_commands()
        made.on("rpm -q", recorded("rpm-query.txt"))
        found = Plan(made, ("ccm-hello", PURGE), provider="dnf")
        with self.assertRaisesRegex(ResourceError, "dnf cannot purge"):
            found.resources[0].observe()


if __name__ == "__main__":
    unittest.main()
