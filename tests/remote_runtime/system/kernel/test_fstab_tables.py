"""Round trips of 54 tables as installers and administrators write them."""

import os
import unittest
from typing import Iterator, List, Tuple

from remote_runtime.system.kernel import fstab
from remote_runtime.system.kernel.fstab import Entry

_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables.txt")
_NEW = Entry("LABEL=a b", "/srv/new point", "ext4", "ro,nofail", "0", "2")


def tables() -> List[str]:
    """The tables; one whose last line ends with a backslash has no newline there."""
    with open(_DATA, encoding="utf-8") as file:
        parts = file.read().split("=== ")[1:]
    found = [part.split("\n", 1)[1] for part in parts]
    return [text[:-2] if text.endswith("\\\n") else text for text in found]


def entries(text: str) -> Iterator[Tuple[str, str, Entry]]:
    """The line, the name and the entry of each file system."""
    for line in text.split("\n"):
        entry = fstab.entry_of(line)
        if entry is not None:
            yield line, entry.device if entry.type == fstab.SWAP else entry.point, entry


class TablesTest(unittest.TestCase):
    def test_number(self):
        """There are enough of them, with entries to change."""
        self.assertGreaterEqual(len(tables()), 50)
        self.assertGreater(sum(len(list(entries(text))) for text in tables()), 150)

    def test_what_stays(self):
        """An entry as it is changes no byte; another one and then this one again neither."""
        for text in tables():
            for line, name, entry in entries(text):
                self.assertEqual(fstab.find(text, name), entry, line)
                self.assertEqual(fstab.with_entry(text, entry, name), text)
                other = fstab.with_entry(text, entry._replace(options="x,y"), name)
                self.assertNotEqual(other, text)
                before, after = text.split("\n"), other.split("\n")
                self.assertEqual([old for old in before if old not in after], [line])
                self.assertEqual(len(before), len(after))
                if len(line.split()) >= len(entry):
                    self.assertEqual(fstab.with_entry(other, entry, name), text)

    def test_what_comes_and_goes(self):
        """A new entry is a line at the end; a removed one is its line, and nothing else."""
        for text in tables():
            whole = text if text.endswith("\n") else text + "\n"
            longer = fstab.with_entry(text, _NEW, _NEW.point)
            self.assertTrue(longer.startswith(whole))
            self.assertEqual(fstab.find(longer, _NEW.point), _NEW)
            self.assertEqual(fstab.without_entry(longer, _NEW.point), whole)
            for line, name, _ in entries(text):
                lines = text.split("\n")
                lines.remove(line)
                self.assertEqual(fstab.without_entry(text, name), "\n".join(lines))


if __name__ == "__main__":
    unittest.main()
