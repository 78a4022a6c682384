import os
import shutil
import unittest
from typing import Any
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.resources.archive.staging import Staging
from remote_runtime.system.files import Files
from tests.remote_runtime.fakes import DirectoryTest


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class ReplacedTest(DirectoryTest):
    """Somebody else owns the directory to extract into, and replaces the one that is made in it."""

    def setUp(self) -> None:
        super().setUp()
        os.chown(self.root, 61001, 61001)

    def replace(self, owner: int, mode: int = 0o755) -> None:
        os.rename(self.path(".ccm-x"), self.path("away"))
        os.mkdir(self.path(".ccm-x"))
        os.chmod(self.path(".ccm-x"), mode)
        os.chown(self.path(".ccm-x"), owner, owner)

    def test_before_it_is_opened(self) -> None:
        """Nothing is written into a directory that another user may write, however it got there."""
        make = os.mkdir
        for owner, mode in ((61001, 0o755), (0, 0o777)):

            def made(*args: Any, owner: int = owner, mode: int = mode, dir_fd: Any = None) -> None:
                make(*args, dir_fd=dir_fd)
                with mock.patch("os.mkdir", make):
                    self.replace(owner, mode)

            with mock.patch("os.mkdir", made), self.assertRaises(OSError) as caught:
                Staging(Files().directory(self.root), ".ccm-x", lambda directory: None)
            self.assertIn("a new directory was replaced", str(caught.exception))
            shutil.rmtree(self.path("away"))
            shutil.rmtree(self.path(".ccm-x"))

    def test_before_it_is_removed(self) -> None:
        """What stands in its place in the end is not removed with what is in it."""
        staging = Staging(Files().directory(self.root), ".ccm-x", lambda directory: None)
        self.replace(0)
        self.write(".ccm-x/of-root", b"kept")
        with self.assertRaises(ResourceError) as caught:
            staging.discard()
        self.assertIn("another directory was put in its place", str(caught.exception))
        self.assertEqual(self.read(".ccm-x/of-root"), b"kept")
