"""The flags with which a file or directory is kept from being changed, and what they keep from."""

import os
import unittest

from remote_runtime.errors import ResourceError
from remote_runtime.system.files import Files
from remote_runtime.system.inode_flags import APPEND, IMMUTABLE, read
from tests.remote_runtime.fakes import ROOT, DirectoryTest

from .flags import flag


class InodeFlagsTest(DirectoryTest):
    def test_none(self) -> None:
        """A file without flags, and what is no file, have none."""
        self.write("f", b"x")
        os.symlink("f", self.path("link"))
        for path in (self.path("f"), self.path("link"), self.path("gone"), "/proc/self/maps"):
            self.assertEqual(read(path), 0)

    @unittest.skipUnless(ROOT, "only root sets them")
    def test_flags(self) -> None:
        """They are read by path, and from an open directory."""
        os.mkdir(self.path("d"))
        self.addCleanup(flag, self.path("d"), 0)
        directory = os.open(self.path("d"), getattr(os, "O_PATH", os.O_RDONLY))
        self.addCleanup(os.close, directory)
        for bits in (IMMUTABLE, APPEND):
            flag(self.path("d"), bits)
            self.assertEqual((read(self.path("d")), read(".", directory)), (bits, bits))

    @unittest.skipUnless(ROOT, "only root sets them")
    def test_nothing_is_begun_where_nothing_can_be_renamed(self) -> None:
        """A directory that only grows would keep the temporary file for ever."""
        os.mkdir(self.path("d"))
        self.addCleanup(flag, self.path("d"), 0)
        flag(self.path("d"), APPEND)
        with self.assertRaisesRegex(ResourceError, "could not write .*: operation not permitted"):
            Files().temporary(self.path("d/f"))
        self.assertEqual(os.listdir(self.path("d")), [])
        before = Files().temporary(self.path("f"))
        self.addCleanup(before.discard)
        with self.assertRaisesRegex(ResourceError, "could not write .*: operation not permitted"):
            Files().temporary(self.path("d/f"), before)  # which tells nothing of this directory
        self.assertEqual(os.listdir(self.path("d")), [])


if __name__ == "__main__":
    unittest.main()
