"""What planned files of accounts say."""

import unittest

from remote_runtime.overlay.account_tables import (
    parsed,
    parsed_groups,
    parsed_passwords,
    parsed_users,
)
from remote_runtime.system.account_files import Group, User


class AccountTablesTest(unittest.TestCase):
    def test_numbers(self) -> None:
        """Only what has a name and a number counts, the first of a name."""
        text = "a:x:1:\na:x:2:\n+:x:3:\n#b:x:4:\nc:x:x:\nshort:x\n\nd:x:5:e\n"
        self.assertEqual(parsed(text), {"a": 1, "d": 5})

    def test_groups(self) -> None:
        """A group has its members."""
        self.assertEqual(parsed_groups("a:x:1:b,c\n"), {"a": Group("a", 1, ("b", "c"))})

    def test_users(self) -> None:
        """A user needs both of its numbers and all fields."""
        text = "a:x:1:2:A:/srv/a:/bin/sh\nb:x:1:x:::\nc:x:3:4\na:x:9:9:::\n"
        user = User("a", 1, gid=2, comment="A", home="/srv/a", shell="/bin/sh")
        self.assertEqual(parsed_users(text), {"a": user})

    def test_passwords(self) -> None:
        """The fields of each line, as they stand there."""
        line = "a:!:1:0:99999:7:::"
        self.assertEqual(parsed_passwords(line + "\nb:x\n"), {"a": line.split(":")})


if __name__ == "__main__":
    unittest.main()
