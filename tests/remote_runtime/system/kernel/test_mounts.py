import os
import subprocess
from typing import Any, List
from unittest import mock

from remote_runtime.system.files import Files
from remote_runtime.system.kernel import mounts
from remote_runtime.system.kernel.fstab import Entry
from remote_runtime.system.kernel.mounts import MountEntry, MountTable
from tests.remote_runtime.fakes import DirectoryTest

INFO = """\
1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
2 1 0:5 / /srv/my\\040tmp rw,nosuid - tmpfs tmpfs rw,size=1024k
3 1 8:1 /srv/from /srv/bound rw,relatime shared:1 - ext4 /dev/sda1 rw
4 1 0:9 / /srv/nfs rw - nfs4 server:/a rw
5 1 0:15 / /srv/two rw - tmpfs one rw
6 5 0:6 / /srv/two rw - tmpfs two rw
7 1 7:0 / /srv/loop rw - ext4 /dev/loop7 rw
8 4 0:8 / /srv/nfs/in rw - tmpfs in rw
9 1 0:8 /part /srv/part rw - tmpfs in rw
10 1 0:10 / /srv/over/deep rw - tmpfs deep rw
11 1 0:11 / /srv/over rw - tmpfs over rw
"""


class MountTableTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        for name in ("self", "etc", "disk/by-uuid", "disk/by-label", "sys/loop7/loop"):
            os.makedirs(self.path(name))
        patches: List[Any] = [
            mock.patch.object(mounts, "PROC", self.root),
            mock.patch.object(mounts, "ETC", self.path("etc")),
            mock.patch.object(mounts, "DISKS", self.path("disk")),
            mock.patch.object(mounts, "BLOCKS", self.path("sys")),
            mock.patch.object(mounts, "LOADED", self.path("loaded")),
            mock.patch.object(mounts, "FILESYSTEMS", self.path("filesystems")),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.write("filesystems", b"nodev\ttmpfs\nnodev\tnfs4\n\text4\n")
        self.write("self/mountinfo", INFO.encode())
        self.write("swaps", b"Filename Type Size Used Priority\n/dev/sda5 partition 1 0 -2\n")
        self.write("sys/loop7/loop/backing_file", (self.path("image") + "\n").encode())
        self.write("image")
        self.acted = 0
        self.table = MountTable(Files(), lambda: self.acted)

    def entry(self, device: str, kind: str = "auto", options: str = "defaults") -> Entry:
        return Entry(device, "/x", kind, options, "0", "0")

    def at(self, point: str) -> MountEntry:
        found = self.table.at(point)
        assert found is not None
        return found

    def test_what_is_mounted(self) -> None:
        """By mount point, the last on top; escapes are undone; it is read once."""
        self.assertEqual(self.at("/srv/my tmp").options, ("rw", "nosuid"))
        self.assertEqual(self.at("/srv/two").source, "two")
        self.assertEqual(len(self.table.stack("/srv/two")), 2)
        self.assertIsNone(self.table.at("/srv"))
        self.assertIsNone(self.table.at("/srv/over/deep"))  # behind what is mounted above it
        self.assertTrue(self.table.is_swap("/dev/sda5"))
        self.assertFalse(self.table.is_swap("/dev/sda6"))
        self.write("self/mountinfo", b"")
        self.assertIsNotNone(self.table.at("/"))
        self.acted += 1
        self.assertIsNone(self.table.at("/"))

    def test_many_mounts(self) -> None:
        """A mount is found by its point, without a comparison with each of the others."""
        with mock.patch.object(mounts, "is_within", side_effect=AssertionError):
            self.assertEqual(self.at("/srv/bound").root, "/srv/from")
            around = [self.table.around(path) for path in ("/srv/two/a/b", "/srv", "/srv/over/x")]
        points = [one.point for one in around if one is not None]
        self.assertEqual(points, ["/srv/two", "/", "/srv/over"])

    def test_sources(self) -> None:
        """A bind mount by what is seen, a device by its names, others by text."""
        bound = self.at("/srv/bound")
        for device, same in (("/srv/from", True), ("/srv/other", False), ("/srv/my tmp", False)):
            self.assertEqual(
                self.table.is_source(bound, self.entry(device, "none", "bind")), same, device
            )
        root, loop = self.at("/"), self.at("/srv/loop")
        os.symlink("/dev/sda1", self.path("disk/by-uuid/0a"))
        os.symlink("/dev/sdb1", self.path("disk/by-label/a\\x20b"))
        self.assertTrue(self.table.is_source(root, self.entry("UUID=0a", "ext4")))
        self.assertTrue(self.table.is_source(root, self.entry("/dev/sda1")))
        for device in ("UUID=0b", "LABEL=a b", "/dev/sdb1"):
            self.assertFalse(self.table.is_source(root, self.entry(device)), device)
        self.assertFalse(self.table.is_source(root, self.entry("/dev/sda1", "xfs")))
        self.assertTrue(self.table.is_source(loop, self.entry(self.path("image"))))
        self.assertFalse(self.table.is_source(loop, self.entry(self.path("swaps"))))
        nfs = self.at("/srv/nfs")
        self.assertTrue(self.table.is_source(nfs, self.entry("server:/a/", "nfs")))
        self.assertFalse(self.table.is_source(nfs, self.entry("server:/b", "nfs")))
        for point, same in (("/srv/two", True), ("/srv/nfs/in", True), ("/srv/part", False)):
            self.assertEqual(self.table.is_source(self.at(point), self.entry("x", "tmpfs")), same)

    def test_stale(self) -> None:
        """A table that is newer than what systemd has read."""
        self.assertFalse(self.table.is_stale())
        self.write("etc/fstab")
        self.write("loaded")
        os.utime(self.path("loaded"), (1000, 1000))
        self.assertTrue(self.table.is_stale())
        os.utime(self.path("etc/fstab"), (999, 999))
        self.assertFalse(self.table.is_stale())

    def test_the_table(self) -> None:
        """It is read once until something changes; without one it is empty."""
        self.assertEqual(self.table.table(), "")
        self.write("etc/fstab", b"a /b\n")
        self.assertEqual(self.table.table(), "")
        self.acted += 1
        self.assertEqual(self.table.table(), "a /b\n")

    def test_types(self) -> None:
        """A type that is not there may come with a module."""
        self.assertTrue(mounts.is_known_type("ext4"))
        self.assertTrue(mounts.is_known_type("auto"))
        self.assertIsNone(mounts.is_known_type("nowhere"))


class UsersTest(DirectoryTest):
    def test_who_uses_it(self) -> None:
        """A process by its working directory or an open file, with its name."""
        with open(self.write("open")):  # the process that asks does not count
            self.assertEqual(list(mounts.users(self.root)), [])
        child = subprocess.Popen(["sleep", "60"], cwd=self.root)
        try:
            self.assertEqual(list(mounts.users(self.root)), [child.pid])
            self.assertIn("(%d)" % child.pid, " ".join(mounts.described([child.pid])))
        finally:
            child.kill()
            child.wait()
        self.assertEqual(list(mounts.users(self.path("nothing"))), [])
