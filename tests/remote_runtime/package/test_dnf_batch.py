"""Packages of consecutive turns are one transaction of dnf's where that does the same."""

import unittest

from remote_runtime.packages.dnf import batch as dnf_batch
from remote_runtime.packages.package_info import Operation

HEAD = " Package   Architecture   Version   Repository   Size\n====\n"
TAIL = "\nTransaction Summary\n"


def table(**sections):
    """What dnf prints: names by section, in which ``_`` stands for a blank."""
    rows = ""
    for title, names in sections.items():
        rows += title.replace("_", " ") + ":\n"
        rows += "".join(" %s   noarch   1-1   lab   6 k\n" % name for name in names)
    return "\n" + HEAD + rows + TAIL


def shared(names, printed, follows=(), removal=False):
    """The names that each operation changes, None where they cannot be one transaction."""
    operations = [Operation(name, removal=removal) for name in names]
    found = dnf_batch.shares(operations, printed, str, lambda _: set(follows))
    return None if found is None else [[change.name for change in share] for share in found]


class Shares(unittest.TestCase):
    def test_installations(self):
        """Each has its own package; dependencies and upgrades of others may come along."""
        printed = table(Installing=["a", "b"], Installing_dependencies=["libb"], Upgrading=["libc"])
        self.assertEqual(shared("ab", printed), [["a"], ["b"]])

    def test_removals(self):
        """What nothing needs any more may go along, what still needs them may not."""
        printed = table(Removing=["a", "b"], Removing_unused_dependencies=["libb"])
        self.assertEqual(shared("ab", printed, removal=True), [["a"], ["b"]])
        printed = table(Removing=["a", "b"], Removing_dependent_packages=["user"])
        self.assertIsNone(shared("ab", printed, removal=True))

    def test_what_comes_with_another(self):
        """It is left to its turn, with all that stand behind it; as the first it is changed."""
        printed = table(Installing=["a", "b", "c"])
        self.assertEqual(shared("abc", printed, follows="b"), [["a"], [], []])
        self.assertEqual(shared("abc", printed, follows="a"), [["a"], ["b"], ["c"]])

    def test_what_is_no_such_transaction(self):
        """Nothing printed, a name that is not in the table, a removal, a replacement."""
        replacing = table(Installing=["a", "b"]).replace(
            "6 k\n", "6 k\n     replacing  x.noarch 1\n", 1
        )
        for printed in (
            "",
            table(Installing=["a"]),
            table(Installing=["a", "b"], Removing=["x"]),
            replacing,
        ):
            self.assertIsNone(shared("ab", printed), printed)


if __name__ == "__main__":
    unittest.main()
