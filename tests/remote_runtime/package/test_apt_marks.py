"""A package that is there for another only is marked as installed for its own sake."""

from remote_runtime.packages.apt import auto_marks as apt_marks

from ..fakes import DirectoryTest
from .plan import Plan, recorded_commands

STATES = """Package: ccm-units
Architecture: amd64
Auto-Installed: 1

Package: ccm-daemon
Architecture: amd64
Auto-Installed: 0
"""


class Marks(DirectoryTest):
    def plan(self, *packages):
        commands = recorded_commands()
        commands.on("apt-mark manual", "")
        plan = Plan(commands, *packages)
        plan.provider.extended_states = self.write("states", STATES.encode())
        return plan

    def test_present_marks(self):
        """One that is there for another is marked, which is a change; others are left alone."""
        plan = self.plan(("ccm-units", {}), ("ccm-daemon", {}), ("ccm-units", {"ensure": "1.0-1"}))
        worded = "Would have marked as installed manually"
        self.assertEqual(plan.messages(), [worded, "", ""])
        (change,) = plan.carry_out(0)
        self.assertEqual(
            (change["what"], change["from"], change["to"]), ("marked as", "automatic", "manual")
        )
        self.assertEqual(plan.commands.asked[-1], "apt-mark manual ccm-units")

    def test_absent_does_not_mark(self):
        """One that is to go is removed, whatever it is marked as."""
        plan = self.plan(("ccm-units", {"ensure": "absent"}))
        self.assertEqual(plan.messages(), ["Would have uninstalled"])

    def test_it_is_looked_whether_it_is_marked(self):
        """One that is marked as before is not as desired."""
        plan = self.plan(("ccm-units", {}))
        resource = plan.resources[0]
        self.assertIn("marked as installed automatically", resource.unachieved(resource.observe()))

    def test_the_file(self):
        """A host whose apt keeps no marks has none."""
        self.assertEqual(apt_marks.automatic(self.write("states", STATES.encode())), {"ccm-units"})
        self.assertEqual(apt_marks.automatic(self.path("none")), set())
