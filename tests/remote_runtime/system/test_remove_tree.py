import os
import subprocess
import unittest
from unittest import mock

from remote_runtime.system.files import Files
from remote_runtime.system.remove_tree import clear
from remote_runtime.system.walk import Walker
from tests.remote_runtime import mounting
from tests.remote_runtime.fakes import DirectoryTest, failure_of


class ClearingTest(DirectoryTest):
    def clear(self, name: str) -> None:
        clear(Walker().place(self.path(name)))

    def test_everything_goes_and_nothing_else(self) -> None:
        """Files, directories and links go; what the links lead to stays."""
        os.makedirs(self.path("a/b/c"))
        os.makedirs(self.path("a/d"))
        os.mkdir(self.path("kept"))
        self.write("kept/file")
        self.write("a/b/file")
        for name, target in (("a/b/link", "../../kept"), ("a/broken", "nowhere")):
            os.symlink(target, self.path(name))
        self.clear("a")
        self.assertEqual(os.listdir(self.root), ["kept"])
        self.assertEqual(os.listdir(self.path("kept")), ["file"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_in_a_directory_that_may_be_written_and_not_read(self) -> None:
        """What is removed is listed, the directory that holds it is not."""
        os.chmod(self.root, 0o755)
        for name in ("box", "box/a", "box/a/b"):
            os.mkdir(self.path(name))
            os.chown(self.path(name), 65534, 65534)
        os.chmod(self.path("box"), 0o300)
        os.seteuid(65534)
        self.addCleanup(os.seteuid, 0)
        self.clear("box/a")
        self.assertFalse(os.path.exists(self.path("box/a")))

    @unittest.skipUnless(mounting.possible(), "nothing can be mounted on this machine")
    def test_what_is_mounted(self) -> None:
        """Where something is mounted at the directory or in it, nothing is removed at all."""
        os.makedirs(self.path("a/m"))
        self.write("a/file")
        subprocess.check_call(["mount", "-t", "tmpfs", "ccm-test", self.path("a/m")])
        self.addCleanup(subprocess.check_call, ["umount", self.path("a/m")])
        self.write("a/m/file")
        for name in ("a", "a/m"):
            self.assertIn("a/m: it is a mount point", str(failure_of(self.clear, name)))
        self.assertEqual(sorted(os.listdir(self.path("a"))), ["file", "m"])
        self.assertEqual(os.listdir(self.path("a/m")), ["file"])

    @unittest.skipUnless(mounting.possible(), "nothing can be mounted on this machine")
    def test_of_a_lower_layer(self) -> None:
        """Overlayfs renames no directory of a lower layer; it goes as well, without that."""
        for name in ("lower/a/b", "upper", "work", "host"):
            os.makedirs(self.path(name))
        self.write("lower/a/b/file")
        layers = "lowerdir=%s,upperdir=%s,workdir=%s,redirect_dir=off"
        options = layers % tuple(map(self.path, ("lower", "upper", "work")))
        argv = ["mount", "-t", "overlay", "-o", options, "ccm-test", self.path("host")]
        if subprocess.call(argv, stderr=subprocess.DEVNULL):
            self.skipTest("this file system has no overlays")
        self.addCleanup(subprocess.check_call, ["umount", self.path("host")])
        Files().remove_tree(self.path("host/a"), at_once=True)
        self.assertEqual(os.listdir(self.path("host")), [])

    def test_however_deep(self) -> None:
        """A tree deeper than a path or a stack may be long goes as well."""
        os.mkdir(self.path("a"))
        at = os.open(self.path("a"), os.O_RDONLY)
        for _ in range(3000):
            os.mkdir("dir", dir_fd=at)
            inner = os.open("dir", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = inner
        os.close(at)
        self.clear("a")
        self.assertEqual(os.listdir(self.root), [])

    def test_what_others_remove_meanwhile(self) -> None:
        """It is gone, and the rest goes as well: a directory that is removed may be at work."""
        for name in ("a", "a/b", "a/c", "a/c/d"):
            os.mkdir(self.path(name))
        self.write("a/file")
        self.write("a/c/file")
        listed = os.listdir

        def list_and_remove(descriptor):
            names = listed(descriptor)
            if "file" in names:
                os.unlink("file", dir_fd=descriptor)
            for name in ("b", "d"):
                if name in names:
                    os.rmdir(name, dir_fd=descriptor)
            if "d" in names:
                os.rmdir(self.path("a/c"))
            return names

        with mock.patch.object(os, "listdir", list_and_remove):
            self.clear("a")
            self.clear("a")
        self.assertEqual(os.listdir(self.root), [])

    def test_what_is_no_directory(self) -> None:
        """A link in the place of the directory is not followed, and the error names it."""
        os.mkdir(self.path("kept"))
        os.symlink("kept", self.path("a"))
        self.assertIn(self.path("a"), failure_of(self.clear, "a").message)
        self.assertEqual(sorted(os.listdir(self.root)), ["a", "kept"])
