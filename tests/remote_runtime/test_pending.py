import unittest

from remote_runtime.changes import Condition
from remote_runtime.pending import Pending


class PendingTest(unittest.TestCase):
    def test_certain(self) -> None:
        """What a certain action provides is planned and known."""
        pending = Pending()
        pending.add([Condition("directory", "/a")])
        self.assertTrue(pending.holds(Condition("directory", "/a")))
        self.assertTrue(pending.holds(Condition("path", "/a")))
        self.assertFalse(pending.may_hold(Condition("directory", "/b")))

    def test_anything(self) -> None:
        """A pending package or command may satisfy every condition and makes none certain."""
        pending = Pending()
        pending.add([Condition("anything")])
        self.assertTrue(pending.may_hold(Condition("user", "www")))
        self.assertFalse(pending.holds(Condition("user", "www")))

    def test_uncertain(self) -> None:
        """What an action of unknown prediction provides is possible only."""
        pending = Pending()
        pending.add([Condition("path", "/a")], certain=False)
        self.assertFalse(pending.holds(Condition("path", "/a")))
        self.assertTrue(pending.may_hold(Condition("path", "/a")))

    def test_program(self) -> None:
        """A planned file is the program of that path, and may be the one of that name."""
        pending = Pending()
        pending.add([Condition("path", "/usr/local/bin/tool")])
        self.assertTrue(pending.holds(Condition("program", "/usr/local/bin/tool")))
        self.assertTrue(pending.may_hold(Condition("program", "tool")))
        self.assertFalse(pending.may_hold(Condition("program", "other")))
