"""Users and groups, as the adapter reports them."""

import grp
import unittest
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.system.account_files import Database
from remote_runtime.system.accounts import Accounts
from tests.remote_runtime.fakes import FakeAccounts

NOBODY = "ccm-test-nobody"


class TestAccounts(unittest.TestCase):
    def test_a_name_becomes_its_number(self) -> None:
        """Digits only are a number already, whether anybody has it or not."""
        accounts = Accounts()
        self.assertEqual((accounts.uid("root"), accounts.gid("4242424")), (0, 4242424))

    def test_a_number_that_no_account_can_have(self) -> None:
        """The last number of 32 bits stands for none, and no text is too long to be refused."""
        self.assertEqual(Accounts().number("group", "4294967294"), 4294967294)
        for text in ("4294967295", "5000000000", "9" * 18, "9" * 5000):
            self.assertIsNone(Accounts().number("user", text), text[:20])

    def test_an_unknown_name_is_an_error(self) -> None:
        """It says which kind of account is not there, and what to do."""
        accounts = Accounts()
        for kind, look_up in (("user", accounts.uid), ("group", accounts.gid)):
            with self.subTest(kind=kind), self.assertRaises(ResourceError) as caught:
                look_up(NOBODY)
            self.assertEqual(caught.exception.message, "%s %r does not exist" % (kind, NOBODY))
            self.assertIn("earlier resource", caught.exception.hint)

    def test_lacking_answers_without_an_error(self) -> None:
        """Nothing for an account that is there; else the words of the error."""
        accounts = FakeAccounts({"alice": 1000})
        self.assertEqual(accounts.lacking("user", "alice"), ("", ""))
        self.assertEqual(accounts.lacking("group", "alice")[0], "group 'alice' does not exist")
        self.assertEqual(accounts.lacking("user", NOBODY)[0], "user %r does not exist" % NOBODY)


class TestDatabase(unittest.TestCase):
    def test_many_names_take_one_scan(self) -> None:
        """The lines of a file are looked at once, however many names are looked up."""
        database = Database()
        with mock.patch.object(Database, "_lines", return_value=[["a"], ["b"]]) as lines:
            found = [database.is_local("group", name) for name in ("a", "b", "c", "a")]
        self.assertEqual(found, [True, True, False, True])
        self.assertEqual(lines.call_count, 1)

    def test_a_list_of_groups_has_their_names_and_members(self) -> None:
        """Once all groups are listed, none is looked up alone, but for one that is not listed."""
        listed = [
            grp.struct_group(("one", "x", 7001, ["anna"])),
            grp.struct_group(("two", "x", 7002, ["berta", "anna"])),
            grp.struct_group(("same", "x", 7001, [])),
        ]
        accounts = Accounts()
        with mock.patch("grp.getgrall", return_value=listed):
            found = [list(accounts.groups_of(name)) for name in ("anna", "berta", "root")]
        gone = mock.patch.multiple("grp", getgrgid=mock.DEFAULT, getgrnam=mock.DEFAULT)
        with gone as asked:
            for each in asked.values():
                each.side_effect = AssertionError
            names = [accounts.group_name(7001), accounts.group_name(7002)]
            self.assertEqual(accounts.number("group", "two"), 7002)
        self.assertEqual(found, [["one", "two"], ["two"], []])
        self.assertEqual(names, ["one", "two"])
        self.assertEqual(accounts.group_name(0), "root")


if __name__ == "__main__":
    unittest.main()
