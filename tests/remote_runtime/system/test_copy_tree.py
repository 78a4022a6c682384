"""Directories that are copied."""

import errno
import os
from unittest import mock

from remote_runtime.effects import PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host.preview import files as overlay_files
from remote_runtime.host.preview.preview_host import Overlay
from remote_runtime.system.copy_tree import build, copy
from remote_runtime.system.files import Files
from tests.remote_runtime.fakes import DirectoryTest, context

OURS = {"uid": os.geteuid(), "gid": os.getegid()}


class CopyTreeTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        os.mkdir(self.path("skel"))
        self.write("skel/file", b"x" * 1000)

    def test_short_writes(self) -> None:
        """What the system does not take at once is written later, and all is synced."""
        write = os.write
        short = mock.patch("os.write", lambda to, data: write(to, bytes(data)[:300]))
        with short, mock.patch("os.fsync") as sync:
            copy(Files(), self.path("skel"), path=self.path("new"), mode=0o700, **OURS)
        with open(self.path("new", "file"), "rb") as file:
            self.assertEqual(file.read(), b"x" * 1000)
        self.assertGreaterEqual(sync.call_count, 2)

    def test_another_directory_in_its_place(self) -> None:
        """What a user puts in the place of the new directory is neither given away nor removed."""
        os.makedirs(self.path("home", "theirs"))
        self.write("home/theirs/kept", b"of root")

        def put(staged: str) -> None:
            os.rename(staged, staged + ".away")
            os.rename(self.path("home", "theirs"), staged)

        def fill(directory: int, staged: str) -> None:
            put(staged)
            raise OSError(errno.EIO, "in the middle")

        with self.assertRaises(ResourceError):
            build(Files(), fill, path=self.path("home", "new"), mode=0o755)
        self.assertEqual([names for *_, names in os.walk(self.path("home")) if names], [["kept"]])
        theirs = next(one for one in os.listdir(self.path("home")) if not one.endswith(".away"))
        os.rename(self.path("home", theirs), self.path("home", "theirs"))
        filled = mock.Mock()
        mkdir = os.mkdir

        def replaced(name: str, mode: int, *, dir_fd: int) -> None:
            mkdir(name, mode, dir_fd=dir_fd)
            put(self.path("home", name))

        with mock.patch("os.mkdir", replaced), self.assertRaises(ResourceError):
            build(Files(), filled, path=self.path("home", "new"), mode=0o755)
        filled.assert_not_called()
        self.assertEqual([names for *_, names in os.walk(self.path("home")) if names], [["kept"]])

    def test_a_large_file(self) -> None:
        """A preview knows that it will be there, and not what it holds."""
        with mock.patch.object(overlay_files, "_LIMIT", 999):
            overlay = Overlay(context(noop=True).overlay_with([]), "user#x")
            new = self.path("new")
            overlay.files.copy_tree(self.path("skel"), new, mode=0o700, **OURS)
        effects = [e for e in overlay.record.effects if isinstance(e, PathEffect)]
        kinds = [(effect.path, effect.kind) for effect in effects]
        self.assertEqual(kinds, [(new, "directory"), (new + "/file", "something")])
