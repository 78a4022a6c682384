"""What keeps the files of packages from their places: directories, flags, mounts and room."""

import os
import unittest
from typing import Any

from remote_runtime.changes import Unknowable
from remote_runtime.effects import MountEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.destination_checks import DestinationChecks
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.system.inode_flags import IMMUTABLE
from remote_runtime.uncertainty import Uncertainty
from tests.remote_runtime.fakes import ROOT, DirectoryTest, context
from tests.remote_runtime.system.flags import flag


class ReachTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.context = context(noop=True)
        for name in ("m", "d"):
            os.mkdir(self.path(name))

    def mount(self, **fields: Any) -> None:
        effect = MountEffect(self.path("m"), **fields)
        self.context.expect([effect], Uncertainty(), "service#m.mount")

    def package(self, *members: "tuple[str, int]", conffiles: "tuple[str, ...]" = ()) -> Contents:
        found = [Member(self.path(n), "file", 0o644, uid=0, gid=0, size=s) for n, s in members]
        return Contents(found, [self.path(name) for name in conffiles], {})

    def refused(self, **upcoming: Contents) -> str:
        """The kind of the error, "" for none."""
        try:
            DestinationChecks(self.context.files).refuse(upcoming)
        except ResourceError as error:
            return error.kind.rpartition(".")[2]
        return ""

    def test_nothing_is_in_the_way(self) -> None:
        """New files, old files and directories that come along have their places."""
        self.write("d/old")
        more = Member(self.path("new"), "directory", 0o755, uid=0, gid=0)
        package = self.package(("d/old", 10), ("d/new", 1 << 20), ("new/file", 1))
        self.assertEqual(self.refused(a=package._replace(members=[more, *package.members])), "")

    def test_a_planned_mount(self) -> None:
        """One that is only read takes nothing, one that is small what fits with all of it."""
        self.mount(read_only=True)
        self.assertEqual(self.refused(a=self.package(("m/x", 1))), "erofs")
        self.assertEqual(self.refused(a=self.package(("d/x", 1))), "")
        self.mount(size=4 * 4096)
        two = self.package(("m/x", 4097), ("m/y", 4097))
        self.assertEqual(self.refused(a=two), "")
        self.assertEqual(self.refused(a=self.package(("m/x", 4 * 4096), ("m/y", 1))), "space")
        self.mount(inodes=2)
        self.assertEqual(self.refused(a=self.package(("m/x", 1))), "")
        self.assertEqual(self.refused(a=two), "space")

    def test_room_for_some_of_several(self) -> None:
        """Where it is up to their order whether there is room nobody can tell."""
        self.mount(size=4 * 4096)
        package = self.package(("m/x", 3 * 4096))
        with self.assertRaises(Unknowable):
            DestinationChecks(self.context.files).refuse({"a": package, "b": package})

    @unittest.skipUnless(ROOT, "only root may set flags")
    def test_flags(self) -> None:
        """What is immutable is not replaced; a conffile gets its new version beside it."""
        self.write("d/file")
        flag(self.path("d/file"), IMMUTABLE)
        self.addCleanup(flag, self.path("d/file"), 0)
        package = self.package(("d/file", 1))
        self.assertEqual(self.refused(a=package), "eperm")
        self.assertEqual(self.refused(a=self.package(("d/file", 1), conffiles=("d/file",))), "")
        self.assertEqual(self.refused(a=self.package(("d/other", 1))), "")
        reach = DestinationChecks(self.context.files)
        self.assertTrue(reach.stays(self.path("d/file")))
        self.assertFalse(reach.stays(self.path("d")))
        reach.refuse_removal(self.path("d/file"))
        flag(self.path("m"), IMMUTABLE)
        self.addCleanup(flag, self.path("m"), 0)
        self.assertEqual(self.refused(a=self.package(("m/new", 1))), "eperm")

    def test_what_is_not_removed(self) -> None:
        """dpkg stops at a file system that is only read, and leaves a mount point."""
        self.mount(read_only=True)
        self.context.expect([], Uncertainty(), "")
        with self.assertRaises(ResourceError) as caught:
            DestinationChecks(self.context.files).refuse_removal(self.path("m/x"))
        self.assertTrue(caught.exception.kind.endswith("erofs"))
        self.assertTrue(DestinationChecks(self.context.files).stays("/proc"))


if __name__ == "__main__":
    unittest.main()
