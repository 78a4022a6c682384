"""Commands that apt's settings run around a change of packages are named in previews."""

import unittest
from typing import List

from remote_runtime.packages.apt import hooks as apt_hooks
from tests.texts import expect_text

from ..fake_commands import FakeCommands, make_context, notices_of
from .plan import Plan, recorded_commands

STOCK = r"""APT "";
DPkg "";
DPkg::Pre-Install-Pkgs "";
DPkg::Pre-Install-Pkgs:: "/usr/sbin/dpkg-preconfigure --apt || true";
DPkg::Pre-Install-Pkgs:: "/usr/bin/apt-listchanges --apt || test $? -lt 10";
DPkg::Pre-Invoke "";
DPkg::Pre-Invoke:: "if [ -x /usr/bin/etckeeper ]; then etckeeper pre-install; fi";
DPkg::Post-Invoke "";
DPkg::Post-Invoke:: "if [ -x /usr/bin/etckeeper ]; then etckeeper post-install; fi";
DPkg::Post-Invoke:: "test -x /usr/lib/needrestart/apt-pinvoke && /usr/lib/needrestart/apt-pinvoke -m u || true";
DPkg::Post-Invoke:: "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true";
DPkg::Post-Invoke:: "/usr/bin/test -e /usr/share/dbus-1/system-services/org.freedesktop.PackageKit.service && /usr/bin/test -S /var/run/dbus/system_bus_socket && /usr/bin/gdbus call --system --dest org.freedesktop.PackageKit --object-path /org/freedesktop/PackageKit --timeout 4 --method org.freedesktop.PackageKit.StateHasChanged cache-update > /dev/null; /bin/echo > /dev/null";
DPkg::Post-Invoke:: "if [ -d /var/lib/update-notifier ]; then touch /var/lib/update-notifier/dpkg-run-stamp; fi; /usr/lib/update-notifier/update-motd-updates-available 2>/dev/null || true";
DPkg::Options "";
DPkg::Options:: "--force-confold";
"""  # noqa: E501 - the lines are as apt-config prints them


class Hooks(unittest.TestCase):
    def test_known_hooks_are_not_named(self):
        """What Debian, Ubuntu and their images come with needs no warning."""
        self.assertEqual(apt_hooks.unknown(STOCK), [])

    def test_others_are_named(self):
        """Any other command is named with its setting, also behind a known one."""
        for command in (
            "systemctl restart app",
            "true; systemctl restart app",
            "test -x /usr/lib/needrestart/apt-pinvoke && systemctl restart app",
            "/usr/lib/needrestart/apt-pinvoke $(systemctl restart app)",
            "test -e /x & systemctl restart app",
            "if true; then systemctl restart app; fi",
            "test -n `systemctl restart app`",
            "test -e /x > /etc/x",
            "rm -f /var/cache/apt/../../../etc/x",
            'sh -c "systemctl restart app"',
            "true\nsystemctl restart app",
        ):
            for name in ("DPkg::Post-Invoke", "DPkg::Pre-Invoke", "dpkg::post-invoke"):
                dump = STOCK + '%s:: "%s";\nDPkg::Last "x";\n' % (name, command)
                shown = "%s: %s" % (name, " ".join(command.split()))
                self.assertEqual(apt_hooks.unknown(dump), [shown])

    def test_hooks_of_a_refresh(self):
        """They are told apart from those of a change, and what distributions bring is known."""
        stock = (
            'APT::Update::Post-Invoke-Success:: "if /usr/bin/test -w /var/lib/command-not-found/ '
            '-a -e /usr/lib/cnf-update-db; then /usr/lib/cnf-update-db > /dev/null; fi";\n'
            'APT::Update::Post-Invoke-Stats:: "[ ! -f /usr/lib/ubuntu-advantage/apt-esm-hook ] || '
            '/usr/lib/ubuntu-advantage/apt-esm-hook || true";\n'
            'APT::Update::Post-Invoke:: "rm -f /var/cache/apt/archives/*.deb || true";\n'
            'DPkg::Post-Invoke:: "/bin/other";\n'
        )
        self.assertEqual(apt_hooks.unknown(stock, "apt::update::"), [])
        for name in ("APT::Update::Pre-Invoke", "APT::Update::Post-Invoke-Success"):
            told: List[str] = []
            context = make_context(FakeCommands())
            apt_hooks.warn_of_refresh(context, stock + '%s:: "/bin/mine";\n' % name, told)
            self.assertEqual(told, [name + ": /bin/mine"])
            ((_, notice),) = notices_of(context)
            expect_text(notice, self)

    def test_named_and_binary_entries(self):
        """An entry may have a name, and may be for apt-get alone."""
        dump = 'DPkg::Post-Invoke::mine "a";\nBinary::apt-get::DPkg::Post-Invoke:: "b";\n'
        expected = ["DPkg::Post-Invoke: a", "DPkg::Post-Invoke: b"]
        self.assertEqual(apt_hooks.unknown(dump), expected)

    def test_a_long_command_is_cut(self):
        """The start of a long command is enough to find it."""
        (shown,) = apt_hooks.unknown('DPkg::Post-Invoke:: "%s";\n' % ("x" * 500))
        self.assertEqual(shown, "DPkg::Post-Invoke: " + "x" * 100 + "...")

    def test_each_is_named_once(self):
        """However many packages a preview changes, a hook is named once."""
        context = make_context(FakeCommands(), [])
        told: List[str] = []
        for _ in range(2):
            apt_hooks.warn(context, 'DPkg::Post-Invoke:: "systemctl restart app";\n', told)
        (notice,) = notices_of(context)
        self.assertIn("DPkg::Post-Invoke: systemctl restart app", str(notice))

    def test_a_preview_reads_the_settings(self):
        """A preview of a change names the host's hooks; one without a change does not ask."""
        commands = recorded_commands()
        commands.on("apt-config dump", 'DPkg::Post-Invoke:: "systemctl restart app";\n')
        commands.on("apt-cache show", "")
        commands.on("apt-get -s", "Inst ccm-hello (2.1~rc1-1 ccm:1 [all])\n")
        settled = Plan(commands, ("bash", {}))
        settled.messages()
        self.assertEqual(commands.count("apt-config"), 0)
        plan = Plan(commands, ("ccm-hello", {}))
        plan.messages()
        texts = [text for level, text in notices_of(plan.context) if level == "warning"]
        self.assertEqual(len(texts), 1)
        self.assertIn("DPkg::Post-Invoke: systemctl restart app", texts[0])


if __name__ == "__main__":
    unittest.main()
