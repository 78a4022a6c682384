"""The port to packages, in a preview and in a push."""

import unittest

from remote_runtime.host.machine.machine_host import machine
from remote_runtime.host.preview.preview_host import Overlay
from remote_runtime.packages.package_info import Answer, Installed, Operation

from .plan import Plan, recorded_commands

ASKING = ("apt-get -s", "apt-get --print-uris", "apt-cache", "apt-config", "dpkg", "apt-get -qq")


class Port(unittest.TestCase):
    def changing(self, noop):
        """Call what changes packages; the commands that may have changed something."""
        commands = recorded_commands()
        for words in ("apt-get -s", "apt-cache show", "apt-mark", "debconf-set-selections"):
            commands.on(words, "")
        plan = Plan(commands, ("ccm-hello", {}))
        context = plan.context
        plan.provider.answer_files = ["/nonexistent"]
        with context.for_resource(plan.resources[0].item, noop):
            host = Overlay(context.planned(), "package#x", context=context) if noop else None
            package = (host or machine(context)).packages.of("apt", "ccm-hello", {})
            package.answer([Answer("ccm-hello/name", "string", "red")])
            package.hold(True)
            package.mark_manual()
            package.refresh_lists()
            package.change(Operation("ccm-hello"), Installed())
            package.change(
                Operation("bash", removal=True), Installed("5", held=True), releases=True
            )
        return [line for line in commands.asked if not line.startswith(ASKING)]

    def test_a_preview_only_asks(self):
        """Each method that changes something runs the package manager in a push alone."""
        self.assertEqual(self.changing(noop=True), [])
        words = [" ".join(line.split()[:2]) for line in self.changing(noop=False)]
        for command in ("apt-mark hold", "apt-mark manual", "apt-get update", "apt-get install"):
            self.assertIn(command, words)


if __name__ == "__main__":
    unittest.main()
