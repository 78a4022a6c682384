"""Units of users, on a recorded host: the user is whom the tests run as, with a home of its own."""

import os
import unittest
from typing import Any, Dict, List, Optional
from unittest import mock

from remote_runtime.changes import Missing
from remote_runtime.effects import PathEffect, UnitEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.resources.service.resource import Resource
from remote_runtime.system.account_files import User
from remote_runtime.system.accounts import Accounts, Identity
from remote_runtime.system.process.commands import Result
from remote_runtime.units import user_systemd
from remote_runtime.units.user_systemd import UserManagers, UserSystemd
from tests.texts import expect_text

from ..fakes import ROOT, DirectoryTest
from .plan import Plan, RecordedHost

UID, GID = os.geteuid(), os.getegid()
RUN = "[Service]\nExecStart=/bin/sleep 9\n"
WANTED = RUN + "[Install]\nWantedBy=default.target\n"
OWN = ".config/systemd/user"


class UsersHost(RecordedHost):
    """Keeps the options of each command, too."""

    def __init__(self) -> None:
        super().__init__()
        self.options: List[Dict[str, Any]] = []
        self.now("nosuch.service", NeedDaemonReload="no")

    def run(self, argv: Any, **options: Any) -> Result:
        self.options.append(options)
        return super().run(argv, **options)


class UserUnitsTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.uid = UID
        os.mkdir(self.path("home"))
        self.private = self.path("run/%d/systemd/private" % UID)
        os.makedirs(os.path.dirname(self.private))
        self.write(self.private)
        os.mkdir(self.path("linger"))
        identity = Accounts.identity

        def known(accounts: Accounts, name: Optional[str] = None, group: Any = None) -> Identity:
            if name != "alice":
                return identity(accounts, name, group)
            return Identity(
                self.uid, GID, groups=(GID,), name="alice", home=self.path("home"),
                shell="/bin/sh", current=self.uid == UID,
            )  # fmt: skip

        def user(_: Accounts, name: str) -> Optional[User]:
            home = self.path("home")
            return User("alice", self.uid, GID, home=home) if name == "alice" else None

        for where, name, value in (
            (user_systemd, "RUNTIME", self.path("run")),
            (user_systemd, "LINGERING", self.path("linger")),
            (user_systemd, "_START_TIMEOUT", 0.3),
            (Accounts, "identity", known),
            (Accounts, "user", user),
        ):
            patched = mock.patch.object(where, name, value)
            patched.start()
            self.addCleanup(patched.stop)
        self.host = UsersHost()

    def plan(self, name: str = "ccm-daemon", user: str = "alice", **properties: Any) -> Plan:
        return Plan(self.host, (name, dict(properties, user=user)))

    def managed(self, plan: Plan) -> UserSystemd:
        found: UserSystemd = plan.context.one(UserManagers).of("alice")
        return found

    def test_a_unit_of_its_own(self) -> None:
        """Its files are below the home, with the directories, and systemctl is that of the user."""
        plan = self.plan("nosuch", unit=WANTED, settings={"Service": {"Nice": 5}}, enable=True)
        told = plan.messages()
        expect_text(told, self)
        self.assertEqual(os.listdir(self.path("home")), [])
        (resource,) = plan.resources
        actions = resource.actions(resource.observe(), False)
        for action in actions[:2]:
            action.call()
            plan.context.acted += 1
        self.host.now("nosuch.service", LoadState="loaded", ActiveState="active")
        for action in actions[2:]:
            action.call()
            plan.context.acted += 1
        changing = [line for line in self.host.asked if " show " not in line]
        self.assertEqual(
            changing,
            ["systemctl daemon-reload --user", "systemctl start --user nosuch.service",
             "systemctl enable --user nosuch.service"],
        )  # fmt: skip
        runtime = self.path("run/%d" % UID)
        for environment in self.host.environments:
            self.assertEqual(environment["XDG_RUNTIME_DIR"], runtime)
        self.assertEqual(self.read("home/%s/nosuch.service" % OWN).decode(), WANTED)
        drop_in = "home/%s/nosuch.service.d/ccm.conf" % OWN
        self.assertEqual(self.read(drop_in), b"[Service]\nNice=5\n")
        for name in (".config", ".config/systemd", OWN, OWN + "/nosuch.service.d"):
            self.assertEqual(os.stat(self.path("home", name)).st_mode & 0o777, 0o755, name)

    def test_one_query_for_each_manager(self) -> None:
        """Whatever the number of units, and those of the system are not mixed with those."""
        plan = Plan(
            self.host,
            ("ccm-daemon", {"user": "alice"}),
            ("ccm-app@1", {"ensure": "stopped"}),
            ("ccm-static", {"user": "alice", "ensure": "stopped"}),
        )
        self.assertEqual(plan.messages(), ["", "", ""])
        self.assertEqual(self.host.count("systemctl show --user"), 1)
        self.assertEqual(self.host.count("systemctl show --system"), 1)

    def test_a_user_in_the_name(self) -> None:
        """Units of one name are told apart by their users, also where nothing else names these."""
        plan = Plan(
            self.host,
            ("alice/nosuch", {"unit": WANTED}),
            ("nosuch", {"unit": RUN}),
            ("alice/ccm-daemon", {}),
        )
        paths = [Resource.managed_paths(r.item.name, r.item.properties) for r in plan.resources]
        self.assertEqual(paths, [[], [("/etc/systemd/system/nosuch.service", True)], []])
        self.assertEqual(
            plan.messages(),
            ["Would have written the unit file, would have started"] * 2 + [""],
        )
        self.assertEqual(self.host.count("systemctl show --user"), 1)
        self.assertEqual(
            Resource.check("alice/app", {"user": "bob"}),
            [("user", "the name says that the unit is one of alice: omit `user`")],
        )
        self.assertEqual(Resource.check("alice/app", {"user": "alice"}), [])

    def test_commands_run_as_the_user(self) -> None:
        """Root becomes the user for each; looks end after a while."""
        self.uid = UID + 1
        path = "run/%d/systemd" % self.uid
        os.makedirs(self.path(path))
        self.write(path + "/private")
        self.assertEqual(self.plan().messages(), [""])
        self.assertEqual({each["user"] for each in self.host.options}, {"alice"})
        self.assertEqual({each["timeout"] for each in self.host.options}, {60.0})

    def test_no_manager(self) -> None:
        """It fails in previews, too, with what to do; once lingering is on, a push waits."""
        os.remove(self.private)
        plan = self.plan()
        for noop in (True, False):
            with self.assertRaises(ResourceError) as caught:
                plan.messages() if noop else plan.resources[0].observe()
            expect_text(caught.exception.message, self)
            self.assertIn("loginctl enable-linger alice", caught.exception.hint)
        self.write("linger/alice")
        slept: List[float] = []

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            if len(slept) == 2:
                self.write(self.private)

        with mock.patch.object(plan.context, "sleep", sleep):
            self.assertEqual(plan.resources[0].observe().ensure, "running")
            self.assertEqual(len(slept), 2)
            os.remove(self.private)
            with self.assertRaises(ResourceError):
                plan.resources[0].observe()

    def test_a_manager_that_is_to_come(self) -> None:
        """A preview takes the unit from its files, and assumes that the manager starts."""
        os.remove(self.private)
        self.write("linger/alice")
        plan = self.plan("nosuch", unit=WANTED)
        expect_text(plan.messages(), self)
        self.assertEqual(self.host.asked, [])

    def test_an_unknown_user(self) -> None:
        """It is missing, so an earlier resource may bring it."""
        with self.assertRaises(Missing) as caught:
            self.plan(user="nobody-of-that-name").resources[0].observe()
        expect_text(caught.exception.message, self)

    def test_effects(self) -> None:
        """They name the user, so that a unit of the system of that name is another one."""
        plan = self.plan("ccm-daemon", ensure="stopped", enable=True)
        with plan.noop():
            systemd = self.managed(plan)
            stop = systemd.consequences("stop", "ccm-daemon")
            mask = systemd.consequences("mask", "ccm-daemon")
            unfinished = systemd.unfinished("restart", "ccm-daemon", stop)
        names = [each.name for each in stop if isinstance(each, UnitEffect)]
        self.assertEqual(names, ["alice/ccm-daemon.service"])
        place = [each.path for each in mask if isinstance(each, PathEffect)]
        self.assertEqual(place, [self.path("home/%s/ccm-daemon.service" % OWN)])
        (unknown,) = [each for each in unfinished if isinstance(each, UnknownEffect)]
        self.assertTrue(unknown.covers("unit", "alice/ccm-daemon.service", True))
        self.assertFalse(unknown.covers("unit", "ccm-daemon.service", True))

    def test_links_that_are_not_followed(self) -> None:
        """A mask and an alias of the user lead to files of root, and tell all by their names."""
        directory = self.path("home", OWN)
        os.makedirs(directory)
        os.symlink("/dev/null", directory + "/masked.service")
        os.symlink("/usr/lib/systemd/user/own.service", directory + "/alias.service")
        plan = self.plan()
        with plan.noop():
            units = self.managed(plan)._planned_units()
            self.assertTrue(units.definition("masked.service").masked)
            alias = units.definition("alias.service")
            self.assertEqual((alias.name, alias.masked), ("own.service", False))

    @unittest.skipUnless(ROOT, "only root may give links away")
    def test_a_link_of_another_user(self) -> None:
        """Nothing is written through it."""
        os.mkdir(self.path("theirs"))
        os.symlink(self.path("theirs"), self.path("home/.config"))
        os.chown(self.path("home"), 40001, 40001)
        os.lchown(self.path("home/.config"), 40002, 40002)
        plan = self.plan("nosuch", unit=WANTED)
        with self.assertRaises(ResourceError) as caught:
            plan.resources[0].observe()
        self.assertIn("refusing to follow symlink", caught.exception.message)
        self.assertEqual(os.listdir(self.path("theirs")), [])

    def test_who_may_change_them(self) -> None:
        """Root and the user; and systemctl has to be able to write where links are made."""
        plan = self.plan()
        with plan.noop():
            systemd = self.managed(plan)
            other = mock.patch.object(os, "geteuid", return_value=40002)
            with other, self.assertRaises(ResourceError) as caught:
                systemd.preflight("stop", "ccm-daemon")
            self.assertIn("become: true", caught.exception.hint)
            os.remove(self.private)  # which others do not see
            self.write("linger/alice")
            with other, self.assertRaises(ResourceError) as caught:
                systemd.status("ccm-daemon")
            self.assertIn("only root and alice can change", caught.exception.message)
            if ROOT:
                self.uid = 40003
                os.makedirs(self.path("home/.config"))
                with self.assertRaises(ResourceError) as caught:
                    systemd._require_writable()
                self.assertIn("alice cannot write to", caught.exception.message)

    def test_what_the_manager_may_be_denied(self) -> None:
        """Only starting it shows whether it may use such a setting."""
        for line, known in (
            ("Nice=-5", False),
            ("Nice=5", True),
            ("PrivateTmp=yes", False),
            ("Restart=always", True),
        ):
            plan = self.plan("nosuch", unit=RUN + line + "\n")
            (resource,) = plan.resources
            with plan.noop():
                try:
                    for action in resource.actions(resource.observe(), False):
                        assert action.preflight is not None
                        action.preflight()
                except Missing as missing:
                    self.assertFalse(known, line)
                    expect_text(missing.message, self)
                else:
                    self.assertTrue(known, line)

    def test_paths_that_only_the_host_tells(self) -> None:
        """A purge keeps nothing for them, as nobody knows where the home is."""
        self.assertEqual(Resource.managed_paths("app", {"user": "alice", "unit": RUN}), [])


if __name__ == "__main__":
    unittest.main()
