import os
from typing import Any, Dict, List
from unittest import mock

from remote_runtime.effects import AccountEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host.accounts import own_groups
from remote_runtime.resources.group.resource import Resource
from remote_runtime.system import account_files
from tests.remote_runtime.fakes import DirectoryTest, item, one
from tests.remote_runtime.host.kinds import Kinds, run
from tests.texts import expect_text


class GroupTest(DirectoryTest):
    """Refusals are the same in a preview and in a push, and nothing is run before them."""

    def setUp(self) -> None:
        super().setUp()
        self.numbers: Dict[str, int] = {"root": 0, "web": 33, "remote": 5000, "ops": 4200}
        self.write("group", b"root:x:0:\nweb:x:33:\nops:x:4200:\n")
        self.write("passwd", b"root:x:0:33::/root:/bin/sh\n")

        def by_number(number: int) -> Any:
            return {gid: (name, "x", gid, []) for name, gid in self.numbers.items()}[number]

        patches: List[Any] = [
            mock.patch("grp.getgrnam", lambda name: (name, "x", self.numbers[name], [])),
            mock.patch("grp.getgrgid", by_number),
            mock.patch("os.geteuid", return_value=0),
            mock.patch("os.getgroups", return_value=[0, 4200]),
            mock.patch.object(account_files, "ETC", self.root),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def refused(self, name: str, **properties: Any) -> List[str]:
        group = item("group", name, properties=properties)
        events = [one(run(Resource, group, noop=noop)) for noop in (True, False)]
        self.assertEqual(events[0]["error"], events[1]["error"])
        return list(events[0]["error"])

    def test_numbers(self) -> None:
        """A number belongs to one group."""
        expect_text(self.refused("new", gid=33)[0], self)
        self.assertIn("gid 0 belongs to the group root", self.refused("ops", gid=0)[0])

    def test_another_database(self) -> None:
        """A group that is not in the host's file is not changed."""
        expect_text(self.refused("remote", gid=5)[0], self)
        expect_text(self.refused("remote", ensure="absent")[0], self)

    def test_primary(self) -> None:
        """A user's primary group stays, by force too."""
        for force in (True, False):
            error = self.refused("web", ensure="absent", force=force)
            self.assertIn("web is the primary group of the user root", error[0])

    def test_lockout(self) -> None:
        """A group of the run's own user goes only by force."""
        expect_text(self.refused("ops", ensure="absent")[0], self)
        group = item("group", "ops", properties={"ensure": "absent", "force": True})
        with mock.patch("remote_runtime.host.command_ports.CommandReader.require"):
            event = one(run(Resource, group, noop=True))
        expect_text(event["noop_message"], self)

    def test_only_root(self) -> None:
        """Nobody else may."""
        with mock.patch("os.geteuid", return_value=1000):
            self.assertIn("only root may change groups", self.refused("new")[0])
            self.assertIn("only root may change groups", self.refused("ops", gid=1)[0])
            self.assertIn("only root may", self.refused("ops", ensure="absent")[0])

    def test_a_number_that_the_push_gives(self) -> None:
        """Whether a planned group has a number already cannot be told."""
        from tests.remote_runtime.fakes import context

        ctx = context(noop=True)
        world = ctx.overlay_with([AccountEffect("group", "new")])
        resource: Any = Kinds(ctx, Resource).create(item("group", "new", properties={"gid": 1}))
        with self.assertRaises(ResourceError) as raised:
            resource._type.read(resource._reader(world))
        expect_text(raised.exception, self)


class OwnGroupsTest(DirectoryTest):
    def test_sudo(self) -> None:
        """Of whoever logged in, where sudo made it root."""
        with mock.patch.dict(os.environ, {"SUDO_USER": "root"}):
            self.assertIn(0, own_groups())
        with mock.patch.dict(os.environ, {"SUDO_USER": "no such user"}):
            self.assertEqual(own_groups(), {os.getegid(), *os.getgroups()})
