"""Which packages dnf installed for others only, and how they are marked."""

import os
import unittest
from typing import Any

from remote_runtime.errors import ResourceError
from remote_runtime.packages.dnf import install_reasons as dnf_marks

from ..fake_commands import FakeCommands
from ..fakes import DirectoryTest

SCHEMA = """
CREATE TABLE trans (id INTEGER PRIMARY KEY, state INTEGER);
CREATE TABLE trans_item (id INTEGER PRIMARY KEY, trans_id INTEGER, item_id INTEGER,
    action INTEGER, reason INTEGER, state INTEGER);
CREATE TABLE rpm (item_id INTEGER, name TEXT, arch TEXT);
INSERT INTO rpm VALUES (1, 'app', 'noarch'), (2, 'lib', 'noarch'), (3, 'lib', 'noarch'),
    (4, 'weak', 'x86_64'), (5, 'wanted', 'noarch'), (6, 'failed', 'noarch');
INSERT INTO trans VALUES (1, 1), (2, 1), (3, 1), (4, 2);
INSERT INTO trans_item (trans_id, item_id, action, reason) VALUES
    (1, 1, 1, 2), (1, 2, 1, 1), (1, 4, 1, 4), (1, 5, 1, 1),
    (2, 3, 6, 1), (2, 2, 7, 2),
    (3, 5, 11, 2),
    (4, 6, 1, 1);
"""
AUTOMATIC = {("lib", "noarch"), ("weak", "x86_64")}
PRINTED = (
    "app\tnoarch\tUser\nlib\tnoarch\tDependency\nweak\tx86_64\tWeak Dependency\n"
    "wanted\tnoarch\tuser\nold\tnoarch\tgroup\nnot an answer\n"
)


class Dnf(FakeCommands):
    """The command door of a host whose dnf is this file."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def find(self, program, path=None, cwd=None):
        return self.path


def host(dnf: str) -> Any:
    """The command door of a host with that dnf."""
    return Dnf(dnf)


class Marks(DirectoryTest):
    def test_the_history_of_dnf_4(self):
        """The last reason counts, also a weak one; a change by hand and a failed run are heeded."""
        import sqlite3

        history = self.path("history.sqlite")
        connection = sqlite3.connect(history)
        connection.executescript(SCHEMA)
        connection.close()
        before = os.listdir(self.path(""))
        found = dnf_marks.automatic(host("/usr/bin/dnf-3"), self.fail, history)
        self.assertEqual(found, AUTOMATIC)
        self.assertEqual(os.listdir(self.path("")), before)

    def test_no_history(self):
        """Where dnf has installed nothing yet, nothing is there for others."""
        found = dnf_marks.automatic(host("/usr/bin/dnf-3"), self.fail, self.path("none"))
        self.assertEqual(found, set())

    def test_a_history_that_cannot_be_read(self):
        """It is an error that names the file."""
        history = self.write("history.sqlite", b"not a database, and long enough to be looked at")
        with self.assertRaises(ResourceError) as caught:
            dnf_marks.automatic(host("/usr/bin/dnf-3"), self.fail, history)
        self.assertIn(history, caught.exception.message)

    def test_dnf_5(self):
        """It is asked, and has another word for the command."""
        new = host("/usr/bin/dnf5")
        self.assertEqual(dnf_marks.automatic(new, lambda: PRINTED), AUTOMATIC)
        self.assertEqual(dnf_marks.mark(new, "lib"), ("dnf", "mark", "user", "-y", "lib"))
        old = host("/usr/bin/dnf-3")
        self.assertEqual(dnf_marks.mark(old, "lib"), ("dnf", "mark", "install", "-y", "lib"))


if __name__ == "__main__":
    unittest.main()
