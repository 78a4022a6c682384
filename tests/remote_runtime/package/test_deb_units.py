"""What becomes of the units of a package that comes."""

import unittest

from remote_runtime.content import Text
from remote_runtime.effects import PathEffect, UnitEffect, UnknownEffect
from remote_runtime.packages.dpkg import package_units as deb_units
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.packages.dpkg.package_units import Units
from remote_runtime.packages.maintainer_scripts import unit_and_account_calls as deb_scripts
from remote_runtime.uncertainty import Uncertainty

from ..fake_commands import FakeCommands, make_context

NAME = "ccm-a.service"
FILE = "/lib/systemd/system/" + NAME
LINK = "/etc/systemd/system/ccm-none.target.wants/" + NAME
MASK = "/etc/systemd/system/" + NAME
HELPED = "/var/lib/systemd/deb-systemd-helper-masked/" + NAME
STATE = "/var/lib/systemd/deb-systemd-helper-enabled/%s.dsh-also" % NAME
TEXT = "[Service]\nExecStart=/bin/a\n[Install]\nWantedBy=ccm-none.target\n"
UNMASK = "deb-systemd-helper unmask %s\n" % NAME
ENABLE = "deb-systemd-helper enable %s\n" % NAME
START = "deb-systemd-invoke start %s\n" % NAME
AGAIN = "if deb-systemd-helper debian-installed %s; then\n%sfi\n" % (NAME, ENABLE)


SHOWN = "Id=%s\nLoadState=not-found\nActiveState=%%s\nSubState=dead\nUnitFileState=\n" % NAME


def at(path, text):
    return PathEffect(path, "file", 0o644, content=Text(text))


LINKED = PathEffect(LINK, "symlink", target=FILE)
MASKED = PathEffect(MASK, "symlink", target="/dev/null")
REMEMBERED = at(STATE, LINK + "\n")


class Host(unittest.TestCase):
    def effects(self, script, *there, commands=None, text=TEXT):
        """What comes of the unit where a script runs on a host that has this."""
        context = make_context(commands or FakeCommands(["systemctl"]), noop=True)
        booted = PathEffect("/run/systemd/system", "directory")
        policy = PathEffect("/usr/sbin/policy-rc.d", "absent")
        context.expect([booted, policy, *there], Uncertainty(), "file#x")
        calls = deb_scripts.read(script)
        started = {unit: unit in calls.forced for unit in calls.started}
        member = Member(FILE, "file", 0o644, 0, 0, text=text)
        units = Units(context, started, {NAME})
        effects = units.brought(Contents([member], [], {}), calls)
        return effects + units.begun([at(FILE, text), *effects])

    def outcome(self, script, *there):
        """Whether it is started and enabled, and the links that are made and taken away."""
        effects = self.effects(script, *there)
        said = [e for e in effects if isinstance(e, UnitEffect)]
        active, enabled = (
            next((getattr(e, key) for e in said if getattr(e, key) is not None), None)
            for key in ("active", "enabled")
        )
        changed = [e.path for e in effects if isinstance(e, PathEffect) and e.kind != "directory"]
        return active, enabled, changed

    def test_what_is_left_of_it_counts(self):
        """What scripts leave alone is as the links and processes of an earlier one have it."""
        for script in ("", AGAIN, START):
            self.assertEqual(self.effects(script), [], script)

    def test_links_that_are_there(self):
        """It is enabled, and so started, also where its package does not enable it."""
        self.assertEqual(self.outcome(START, LINKED), (True, None, []))
        self.assertEqual(self.outcome(ENABLE, LINKED), (None, True, []))

    def test_what_was_installed_before(self):
        """It is enabled again where it was, not where somebody disabled it."""
        self.assertEqual(self.outcome(AGAIN + START, LINKED, REMEMBERED), (True, True, []))
        for script in (AGAIN + START, ENABLE + START):
            self.assertEqual(self.outcome(script, REMEMBERED), (None, None, []), script)

    def test_masks(self):
        """A removal's own is taken away by scripts that do so, somebody else's stays."""
        script = ENABLE + START
        helped = at(HELPED, "")
        gone = [MASK, HELPED]
        self.assertEqual(self.outcome(UNMASK + script, MASKED, helped), (True, True, [*gone, LINK]))
        self.assertEqual(
            self.outcome(UNMASK + script, MASKED, helped, REMEMBERED), (None, None, gone)
        )
        self.assertEqual(self.outcome(UNMASK + script, MASKED, LINKED), (None, None, []))
        self.assertEqual(self.outcome(script, MASKED, helped), (None, None, []))

    def test_a_unit_that_the_host_has_itself(self):
        """Its text says what enabling links."""
        own = at(MASK, TEXT.replace("none", "other"))
        other = LINK.replace("none", "other")
        self.assertEqual(self.outcome(ENABLE, own), (None, True, [other]))
        self.assertEqual(self.outcome(ENABLE, at(MASK, "[Service]\n")), (None, None, []))

    def test_who_starts_it(self):
        """systemctl starts it enabled or not, Debian's helper what is enabled only."""
        self.assertEqual(self.outcome("systemctl start %s\n" % NAME), (True, None, []))
        self.assertEqual(self.outcome("invoke-rc.d ccm-a start\n"), (None, None, []))

    def begun(self, lines, state="inactive", unit="", script="systemctl start %s\n" % NAME):
        """What is known of the units once the script has started one with these lines."""
        commands = FakeCommands()
        commands.on("systemctl show", SHOWN % state)
        text = "[Unit]\n%s\n[Service]\nExecStart=/bin/sleep 9\n%s\n" % (unit, lines)
        return self.effects(script, commands=commands, text=text)

    def test_what_a_start_leaves(self):
        """The unit runs and has its directories, and stays as it is where it cannot run."""
        active = UnitEffect(NAME, active=True)
        self.assertEqual(self.begun(""), [active])
        unit, directory = self.begun("RuntimeDirectory=ccm-a\n")
        self.assertEqual((unit, directory.path), (active, "/run/ccm-a"))
        for lines, unit in (
            ("User=ccm-nobody", ""),
            ("Type=oneshot", ""),
            ("ExecStartPre=/no/such", ""),
            ("", "ConditionPathExists=/no/such"),
        ):
            self.assertEqual(self.begun(lines, unit=unit), [], lines)

    def test_what_ran_before(self):
        """It runs again, which is not known of one that could not be started."""
        self.assertEqual(self.begun("", "active"), [UnitEffect(NAME, active=True)])
        (fog,) = self.begun("User=ccm-nobody", "active")
        self.assertTrue(fog.covers("unit", NAME, True))
        self.assertFalse(fog.covers("unit", "b.service", True))

    def test_what_is_stopped(self):
        """Only what runs ends; what nobody can tell of is taken to run."""
        for state, ended in (("active", True), ("inactive", False)):
            commands = FakeCommands()
            commands.on("systemctl show", SHOWN % state)
            context = make_context(commands, noop=True)
            booted = PathEffect("/run/systemd/system", "directory")
            context.expect([booted], Uncertainty(), "file#x")
            units = Units(context, {}, set())
            self.assertEqual(units.stop(NAME), UnitEffect(NAME, active=False, ended=ended))
        nowhere = Units(make_context(FakeCommands(["systemctl"]), noop=True), {}, set())
        self.assertEqual(nowhere.stop(NAME), UnitEffect(NAME, active=False))

    def test_units_of_others_that_restart(self):
        """A script restarts what runs; beyond the bound it is not known whether it does."""
        script = "".join("systemctl try-restart u%02d.service\n" % n for n in range(21))
        for state, restarted in (("active", 20), ("inactive", 0)):
            commands = FakeCommands()
            commands.on("systemctl show", "ActiveState=%s\n" % state)
            units = Units(make_context(commands, noop=True), {}, set())
            *known, last = units.of_others("a", deb_scripts.read(script))
            expected = [UnitEffect("u%02d.service" % n, True, ended=True) for n in range(restarted)]
            self.assertEqual(known, expected)
            assert isinstance(last, UnknownEffect)
            self.assertIn("may restart u20.service", last.uncertainty.reason)
            self.assertFalse(last.covers("unit", "u20.service", True))

    def test_instances_of_a_template(self):
        """One that a script enables and starts has its links, to the template, and runs."""
        commands = FakeCommands()
        context = make_context(commands, noop=True)
        context.expect([PathEffect("/run/systemd/system", "directory")], Uncertainty(), "file#x")
        template = FILE.replace("ccm-a", "ccm-a@")
        member = Member(template, "file", 0o644, 0, 0, text=TEXT)
        calls = deb_scripts.read("systemctl enable --now ccm-a@one.service ccm-b@two.service\n")
        units = Units(context, dict.fromkeys(calls.started, True), set())
        effects = units.brought(Contents([member], [], {}), calls)
        paths = [e for e in effects if isinstance(e, PathEffect) and e.kind == "symlink"]
        self.assertEqual(
            [(e.path, e.target) for e in paths], [(LINK.replace("ccm-a", "ccm-a@one"), template)]
        )
        enabled = [e.name for e in effects if isinstance(e, UnitEffect) and e.enabled]
        self.assertEqual((enabled, units._begins), (["ccm-a@one.service"], enabled))
        calls.started, calls.enabled = set(enabled), set()
        self.assertEqual(units.of_others("a", calls), [])

    def test_what_is_enabled_along(self):
        """A unit that another names goes with it, where the package brings both."""
        context = make_context(FakeCommands(["systemctl"]), noop=True)
        other = FILE.replace("ccm-a", "ccm-b")
        members = [
            Member(FILE, "file", 0o644, 0, 0, text=TEXT + "Also=ccm-b.service ccm-c.service\n"),
            Member(other, "file", 0o644, 0, 0, text=TEXT),
        ]
        units = Units(context, {}, {NAME})
        effects = units.brought(Contents(members, [], {}), deb_scripts.read(ENABLE))
        links = [e.path for e in effects if isinstance(e, PathEffect) and e.kind == "symlink"]
        self.assertEqual(links, [LINK, LINK.replace("ccm-a", "ccm-b")])
        enabled = [e.name for e in effects if isinstance(e, UnitEffect) and e.enabled]
        self.assertEqual(enabled, [NAME, "ccm-b.service"])

    def test_what_a_script_stops(self):
        """What runs may have been stopped then, unless it is started as well."""
        calls = deb_scripts.read("systemctl stop x.service\n")
        for state, unclear in (("active", True), ("inactive", False)):
            commands = FakeCommands()
            commands.on("systemctl show", "ActiveState=%s\n" % state)
            units = Units(make_context(commands, noop=True), {}, set())
            fogs = units.stopped("a", calls)
            covered = [
                isinstance(e, UnknownEffect) and e.covers("unit", "x.service", True) for e in fogs
            ]
            self.assertEqual(covered, [True] * unclear)

    def test_what_is_stopped_before_an_upgrade(self):
        """What the script of the old version stops, whatever it is called for."""
        stop = "  deb-systemd-invoke stop a.service >/dev/null || true\n"
        for script, stopped in (
            (stop, True),
            ("if [ -d /run/systemd/system ]; then\n%sfi\n" % stop, True),
            ('if [ -d /run ] && [ "$1" = remove ]; then\n%sfi\n' % stop, False),
            ('if [ "$1" != upgrade ]; then\n%sfi\n' % stop, False),
            ("case $1 in\nremove)\n%s;;\nesac\n" % stop, False),
        ):
            found = deb_units.stopped_for_upgrade("a", script, "2")
            self.assertEqual(found, {"a.service"} if stopped else set(), script)

    def test_a_policy_is_read_in_bounded_time(self):
        """However many lines there are before what it says."""
        self.assertIsNone(deb_units._REFUSES.match("#!/bin/sh\n" + "\n" * 4000 + "exit 0\n"))
        self.assertTrue(deb_units._REFUSES.match("#!/bin/sh\n\n \n# no\n  exit 101;\n\n"))

    def test_a_script_is_read_in_bounded_memory(self):
        """A variable with very many values in very many commands does not multiply them."""
        text = "".join("a=%040d\n" % number for number in range(10_000))
        found = deb_scripts.read(text + "systemctl start $a x.service\n" * 10_000)
        self.assertIn("x.service", found.started)
        self.assertEqual(
            deb_scripts.read("a=b.service\n" * 2 + "systemctl start $a\n").started, {"b.service"}
        )

    def test_presets(self):
        """What the host's presets leave out is not enabled; the first line that fits counts."""
        for text, enabled in (
            ("disable *\n", None),
            ("# disable *\nenable ccm-a.*\ndisable *\n", True),
            ("disable b.service\n", True),
        ):
            preset = at("/etc/systemd/system-preset/00.preset", text)
            self.assertEqual(self.outcome(ENABLE, preset)[1], enabled, text)


if __name__ == "__main__":
    unittest.main()
