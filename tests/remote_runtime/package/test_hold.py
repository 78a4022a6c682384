"""Holds, and which versions a resource lets a package have."""

import unittest
from unittest import mock

from remote_runtime.changes import Missing
from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt import simulation
from remote_runtime.packages.dnf import exclusions
from remote_runtime.resources.package import rules
from remote_runtime.system.process.commands import Result
from tests.texts import expect_text

from .plan import INSTALLED, Plan, recorded, recorded_commands

STATUS = """\
Package: a
Status: install ok installed
Architecture: all
Version: 1

Package: b
Status: hold ok installed
Architecture: all
Version: 1

Package: c
Status: deinstall ok config-files
Architecture: all
Version: 1

"""


def on_hold(**properties):
    """ccm-hello on hold at 1.0-1."""
    commands = recorded_commands()
    line = (INSTALLED % ("ccm-hello", "1.0-1")).replace(" install\n", " hold\n")
    commands.on("dpkg-query", recorded("dpkg-query.txt") + line)
    commands.on("apt-mark", "")
    return Plan(commands, ("ccm-hello", properties))


def act(plan):
    """Carry out what is to be done; the changing commands that were run."""
    resource = plan.resources[0]
    for action in resource.actions(resource.observe(), False):
        action.call()
    return changing(plan)


def changing(plan):
    return [
        " ".join(line.split()[:2] + line.split()[-1:])
        for line in plan.commands.asked
        if line.startswith(("apt-mark", "apt-get install"))
    ]


class Holds(unittest.TestCase):
    def test_left_alone(self):
        """Without the property, a hold prevents another version, as ever."""
        plan = on_hold(ensure="1.1-1")
        with self.assertRaisesRegex(Missing, "held at version 1.0-1"):
            plan.resources[0].observe()

    def test_put_on_hold(self):
        """A package is put on hold behind its installation, and once it is there."""
        commands = recorded_commands()
        commands.on("apt-mark", "")
        plan = Plan(commands, ("ccm-hello", {"ensure": "1.1-1", "hold": True}))
        expect_text(plan.messages(), self)
        self.assertEqual(act(plan), ["apt-get install ccm-hello=1.1-1", "apt-mark hold ccm-hello"])
        self.assertEqual(on_hold(hold=True).messages(), [""])

    def test_released(self):
        """A hold that is not wanted is released, before another version comes."""
        plan = on_hold(hold=False)
        expect_text(plan.messages(), self)
        self.assertEqual(act(plan), ["apt-mark unhold ccm-hello"])
        self.assertEqual(
            act(on_hold(ensure="1.1-1", hold=False)),
            ["apt-mark unhold ccm-hello", "apt-get install ccm-hello=1.1-1"],
        )

    def test_another_version(self):
        """A package that is to be on hold gets the version, and is on hold again."""
        plan = on_hold(ensure="1.1-1", hold=True)
        expect_text(plan.messages(), self)
        self.assertEqual(
            act(plan),
            [
                "apt-mark unhold ccm-hello",
                "apt-get install ccm-hello=1.1-1",
                "apt-mark hold ccm-hello",
            ],
        )

    def test_another_version_that_fails(self):
        """The hold is back, whatever the package manager says."""
        plan = on_hold(ensure="1.1-1", hold=True)
        plan.commands.on("apt-get install", Result(100, "", "E: no luck\n"))
        with self.assertRaisesRegex(ResourceError, "no luck"):
            act(plan)
        self.assertEqual(changing(plan)[-1], "apt-mark hold ccm-hello")

    def test_what_apt_would_see(self):
        """A simulation begins with the holds that are planned."""
        changed = simulation.with_holds(STATUS, {"a": True, "b": False, "c": True}, "amd64")
        words = [line for line in changed.splitlines() if line.startswith("Status")]
        self.assertEqual(
            words,
            [
                "Status: hold ok installed",
                "Status: install ok installed",
                "Status: deinstall ok config-files",
            ],
        )
        self.assertEqual(simulation.with_holds(STATUS, {}, "amd64"), STATUS)

    def test_dnf(self):
        """dnf locks the version with its plugin, which has to be there."""
        commands = recorded_commands()
        commands.on("rpm -q", recorded("rpm-query.txt"))
        commands.on("dnf versionlock", "")
        plan = Plan(commands, ("ccm-shell", {"hold": True}), provider="dnf")
        missing = mock.patch.object(exclusions, "can_lock", return_value=False)
        with missing, self.assertRaisesRegex(ResourceError, "versionlock"):
            plan.carry_out()
        with mock.patch.object(exclusions, "can_lock", return_value=True):
            plan.carry_out()
        expect_text(plan.commands.asked, self)


class Versions(unittest.TestCase):
    def test_only_upgrade(self):
        """What is not installed stays so, without a look at the lists."""
        plan = Plan(recorded_commands(), ("ccm-hello", {"ensure": "latest", "only_upgrade": True}),
                    ("ccm-daemon", {"ensure": "latest", "only_upgrade": True}))  # fmt: skip
        self.assertEqual(plan.messages(), ["", "Would have upgraded to latest"])
        self.assertEqual(
            [key for key, _ in rules.problems("x", {"only_upgrade": True})], ["only_upgrade"]
        )

    def test_no_downgrade(self):
        """An older version than the installed one is an error, where that is asked for."""
        commands = recorded_commands()
        line = INSTALLED % ("ccm-hello", "2.0-1")
        commands.on("dpkg-query", recorded("dpkg-query.txt") + line)
        wanted = {"ensure": "1.1-1", "allow_downgrade": False}
        plan = Plan(commands, ("ccm-hello", wanted))
        with self.assertRaisesRegex(Missing, r"is installed \(2.0-1\)"):
            plan.resources[0].observe()
        wanted["allow_downgrade"] = True
        plan = Plan(commands, ("ccm-hello", wanted))
        expect_text(plan.messages(), self)


if __name__ == "__main__":
    unittest.main()
