"""Who is there once files of accounts are planned."""

import unittest
from typing import Optional, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import AccountEffect, Below, PathEffect, UnknownEffect
from remote_runtime.system.account_files import Group, User
from remote_runtime.system.accounts import Accounts
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty
from tests.remote_runtime.fakes import context, item, run_items


class AccountsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.context = context(noop=True)

    def plan(self, text: Optional[str], path: str = "/etc/group") -> None:
        content = None if text is None else Text(text)
        kind = "something" if text is None else "file"
        effect = PathEffect(path, kind, 0o644, 0, 0, content=content)
        self.context.expect([effect], Uncertainty(), "file#" + path)

    def found(self, name: str) -> "tuple[Optional[int], str]":
        """The number, and how sure it is not."""
        with self.context.for_resource(item("t", "a"), True):
            return self.context.accounts.number("group", name), self.context.uncertainty.level

    def test_what_the_file_says(self) -> None:
        """A name has the number that stands there; one that does not may be elsewhere."""
        self.plan("root:x:0:\ndaemon:x:77:\nnew:x:4711:\n")
        self.assertEqual(self.found("new"), (4711, ""))
        self.assertEqual(self.found("daemon"), (77, ""))
        self.assertEqual(self.found("root"), (0, ""))
        self.assertEqual(self.found("adm"), (None, UNKNOWN))
        self.assertEqual(self.found("nobody-has-it"), (None, ""))
        accounts = self.context.accounts
        self.assertEqual([accounts.group_name(n) for n in (77, 4711, 1)], ["daemon", "new", "1"])
        with self.assertRaises(Unknowable):
            accounts.identity(group="daemon")
        self.assertEqual(accounts.identity(group="root").gid, 0)

    def test_what_comes_later(self) -> None:
        """An account that is made after the file counts, and one that was made before does not."""
        made = AccountEffect("group", "late", 5000)
        self.context.expect([made], Uncertainty(), "package#a")
        self.plan("root:x:0:\n")
        self.assertEqual(self.found("late"), (None, ""))
        self.assertEqual(self.context.accounts.group_name(5000), "5000")
        self.context.expect([made], Uncertainty(), "package#a")
        self.assertEqual(self.found("late"), (5000, ""))
        self.assertEqual(self.context.accounts.group_name(5000), "late")

    def test_a_group_that_an_edit_adds(self) -> None:
        """The resource of a group that is in the planned file is unchanged, and no failure."""
        edit = item("edit", "/etc/group", 0, properties={"line": "ccm-new:x:64711:"})
        events = run_items(
            [edit, item("group", "ccm-new", 1, properties={"gid": 64711})], noop=True
        )
        self.assertEqual([event["error"] for event in events], [[], []])
        self.assertEqual([event["status"] for event in events], ["changed", "stable"])

    def test_the_groups_of_a_user_on_the_host(self) -> None:
        """While no group is planned, the host has them by user."""

        class ByUser(Accounts):
            def groups_of(self, user: str) -> Sequence[str]:
                return ["of " + user]

        accounts = context(noop=True, accounts=ByUser()).planned().accounts
        self.assertEqual(accounts.groups_of("anna"), ["of anna"])

    def test_the_members_of_groups(self) -> None:
        """Groups of the planned file have its members; those that it lacks are gone."""
        self.plan("root:x:0:\nnew:x:4711:ann,joe\nother:x:4712:ann\n")
        accounts = self.context.accounts
        with self.context.for_resource(item("t", "a"), True):
            self.assertEqual(accounts.group("new"), Group("new", 4711, ("ann", "joe")))
            self.assertEqual(accounts.groups_of("ann"), ["new", "other"])
            self.assertEqual(self.context.uncertainty.level, "")
            self.assertNotIn("daemon", [group.name for group in accounts.groups()])
            self.assertTrue(accounts.is_local("group", "new"))
            self.assertFalse(accounts.is_local("group", "daemon"))
        late = Group("new", 4711, ("joe",))
        self.context.expect(
            [AccountEffect("group", "new", 4711, entry=late)], Uncertainty(), "group#new"
        )
        self.assertEqual(accounts.groups_of("ann"), ["other"])

    def test_groups_that_a_file_may_not_have(self) -> None:
        """A file that is planned after a change of groups leaves open who is in them."""
        made = AccountEffect("group", "made", 5000, entry=Group("made", 5000, ("ann",)))
        self.context.expect([made], Uncertainty(), "group#made")
        self.plan("root:x:0:\nnew:x:4711:ann\n")
        with self.assertRaises(Unknowable):
            self.context.accounts.groups_of("ann")
        with self.assertRaises(Unknowable):
            self.context.accounts.group("new")

    def test_users_of_a_planned_file(self) -> None:
        """A user has all that its planned line says, and its password from the host or a plan."""
        self.plan(
            "root:x:0:0:root:/root:/bin/sh\nnew:x:4711:4712:N:/srv/new:/bin/bash\n", "/etc/passwd"
        )
        accounts = self.context.accounts
        new = User("new", 4711, gid=4712, comment="N", home="/srv/new", shell="/bin/bash")
        with self.context.for_resource(item("t", "a"), True):
            self.assertEqual(accounts.user("new"), new)
            self.assertEqual([user.name for user in accounts.users()], ["root", "new"])
            self.assertIsNone(accounts.user("nobody-has-it"))
            self.assertEqual(self.context.uncertainty.level, "")
            self.assertIsNone(accounts.user("daemon"))
            self.assertEqual(self.context.uncertainty.level, UNKNOWN)
        self.plan("new:!hash:1:0:99999:7::20000:\n", "/etc/shadow")
        expired = new._replace(shadow="!hash", expires=20000)
        self.assertEqual((accounts.user("new"), accounts.users()[1]), (expired, expired))
        identity = accounts.identity("new")
        self.assertEqual(
            (identity.uid, identity.home, identity.groups), (4711, "/srv/new", (4712,))
        )

    def test_passwords_of_a_planned_file(self) -> None:
        """A user of the host has the password of the planned /etc/shadow, if that is known."""
        self.plan("root:secret:1:0:99999:7:::\n", "/etc/shadow")
        accounts = self.context.accounts
        with self.context.for_resource(item("t", "a"), True):
            self.assertEqual(getattr(accounts.user("root"), "shadow", None), "secret")
            self.assertEqual(getattr(accounts.user("daemon"), "shadow", ""), None)
        self.plan(None, "/etc/shadow")
        with self.assertRaises(Unknowable):
            accounts.user("root")

    def test_a_command_that_may_change_passwords(self) -> None:
        """A command that affects /etc/shadow leaves the password of a user open."""
        changes = UnknownEffect(Uncertainty(ASSUMED, "x"), Below("/etc/shadow", itself=True))
        self.context.expect([changes], Uncertainty(), "exec#a")
        with self.context.for_resource(item("t", "a"), True):
            self.context.accounts.user("daemon")
            self.assertEqual(self.context.uncertainty.level, ASSUMED)

    def test_a_file_that_cannot_be_read(self) -> None:
        """Whoever is there may go; root is root."""
        self.plan(None)
        self.assertEqual(self.found("daemon")[1], UNKNOWN)
        self.assertEqual(self.found("root")[1], "")


if __name__ == "__main__":
    unittest.main()
