"""What is seen inside of a host on which things come and go."""

import os
import sys
import unittest
from unittest import mock

from remote_runtime.overlay import sandbox
from tests.remote_runtime.fakes import DirectoryTest


class BindTest(DirectoryTest):
    def bound(self, source: str, *answers: object) -> int:
        """How often it is tried; each answer is an error or None."""
        target = os.fsencode(self.root)
        with mock.patch.object(sandbox, "mount", side_effect=answers) as mount:
            sandbox.bind(os.fsencode(source), target, False)
        return mount.call_count

    def test_what_is_there_again(self) -> None:
        """What was gone for a moment is bound once it is there."""
        self.assertEqual(self.bound(self.root, None), 1)
        self.assertEqual(self.bound(self.root, OSError("gone"), None), 2)

    def test_what_stays_away(self) -> None:
        """What is gone is left out; what is there and cannot be bound is an error."""
        self.assertEqual(self.bound(self.path("gone"), OSError("gone")), 1)
        with self.assertRaises(OSError):
            self.bound(self.root, *[OSError("no")] * 100)


class MountTest(unittest.TestCase):
    def test_a_python_without_ctypes(self) -> None:
        """The reason is one line, not a traceback."""
        missing = mock.patch.dict(sys.modules, {"ctypes": None})
        with missing, self.assertRaisesRegex(OSError, "^import of ctypes halted"):
            sandbox.mount(b"a", b"b", kind=b"", flags=0, options=b"")
