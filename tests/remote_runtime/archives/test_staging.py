import io
import os
import shutil
import unittest
from glob import glob
from typing import Any, List
from unittest import mock

from remote_runtime.archives.member_filter import Member
from remote_runtime.archives.staging import Staging
from remote_runtime.errors import ResourceError
from remote_runtime.system.files import Files
from tests.remote_runtime.archive.making import TIME
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
        self.assertIn("it was replaced by another directory", str(caught.exception))
        self.assertEqual(self.read(".ccm-x/of-root"), b"kept")


def staged(root: str, names: List[str]) -> Staging:
    """A finished directory below ``root`` with files of one byte."""
    staging = Staging(Files().directory(root), ".ccm-x", lambda directory: None)
    for name in names:
        made = Member(name, "file", 1, 0o644, TIME, "", lambda: io.BytesIO(b"x"))
        staging.add(name, made, "", lambda size: None)
    staging.finish(lambda size: None)
    return staging


class MoveTest(DirectoryTest):
    def test_what_is_moved_is_on_the_disk(self) -> None:
        """All files and directories are synced before the first move, what was filled after it."""
        os.makedirs(self.path("a"))
        synced: List[int] = []

        def sync(descriptor: int) -> None:
            synced.append(os.fstat(descriptor).st_ino)

        with mock.patch("os.fsync", sync):
            staging = staged(self.root, ["a/f", "a/b/g", "h"])
        made = [os.stat(path).st_ino for path in glob(self.path(".ccm-x", "**"), recursive=True)]
        self.assertEqual(sorted(synced), sorted(made))
        filled: List[int] = []
        staging.move("", lambda directory: filled.append(os.fstat(directory).st_ino))
        staging.discard()
        self.assertEqual(filled, [os.stat(self.path(name)).st_ino for name in ("a", "")])

    def test_creates_comes_last(self) -> None:
        """Of everything that is moved, what creates names comes last, in whichever directory."""
        os.makedirs(self.path("a/b"))
        names = ["a/b/first", "a/b/marker", "a/b/zzz", "a/y", "z/whole"]
        for last in names[:4]:
            staging = staged(self.root, names)
            moved = staging.move(last, lambda directory: None)
            staging.discard()
            self.assertEqual(moved[-1], last)
            self.assertEqual(sorted(os.listdir(self.root)), ["a", "z"])
            self.assertTrue(all(os.path.exists(self.path(name)) for name in names))
            shutil.rmtree(self.path("z"))

    def test_a_second_name_is_on_the_disk(self) -> None:
        """A hard link keeps the content of a file that a later member replaces."""
        staging = Staging(Files().directory(self.root), ".ccm-x", lambda directory: None)
        for name, kind, linked in (("a", "file", ""), ("b", "hardlink", "a"), ("a", "file", "")):
            made = Member(name, kind, 1, 0o644, TIME, linked, lambda: io.BytesIO(b"x"))
            staging.add(name, made, linked, lambda size: None)
        synced: List[int] = []
        with mock.patch("os.fsync", lambda opened: synced.append(os.fstat(opened).st_ino)):
            staging.finish(lambda size: None)
        names = [os.stat(self.path(".ccm-x", name)).st_ino for name in "ab"]
        self.assertNotEqual(*names)
        self.assertEqual(set(names) - set(synced), set())
