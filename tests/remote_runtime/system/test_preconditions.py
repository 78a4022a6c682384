"""What would keep something from being done, found without trying."""

import errno
import os
import shutil
import unittest
from typing import Any, Callable
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.system.files import Files
from remote_runtime.system.preconditions import (
    Preconditions,
    UncheckedError,
    at,
    flags,
    mount_points,
)
from tests.remote_runtime.fakes import ROOT, DirectoryTest

from .flags import flag

NOBODY = 65534


class ObstaclesTest(DirectoryTest):
    def refused(self, call: Callable[..., None], *arguments: Any) -> str:
        """The kind of the error, "" for none."""
        try:
            call(*arguments)
        except ResourceError as error:
            return error.kind.rpartition(".")[2]
        return ""

    def of(self, name: str) -> Preconditions:
        return Files().obstacles(self.path(name))

    def test_names_that_are_too_long(self) -> None:
        """A name of 255 bytes can be made, a longer one or a path of 4096 cannot."""
        self.assertEqual(self.refused(self.of("a/" + "n" * 255).making), "")
        for name in ("a/" + "n" * 256, "a/" + "\u00e9" * 128, "/".join(["n" * 200] * 21)):
            self.assertEqual(self.refused(self.of(name).making), "enametoolong")
            self.assertEqual(self.refused(self.of(name).writing, 1), "enametoolong")

    def test_nothing_is_in_the_way(self) -> None:
        """Of what can be done nothing is said."""
        self.write("f", b"x")
        for call in (
            lambda: self.of("f").writing(10),
            lambda: self.of("new").writing(10, os.geteuid(), os.getegid()),
            lambda: self.of("new").making(),
            lambda: self.of("f").changing(-1, -1),
            lambda: self.of("f").removing(),
            lambda: self.of("not-there").removing(),
        ):
            self.assertEqual(self.refused(call), "")

    def test_space(self) -> None:
        """What does not fit, with what is to be written before, is refused."""
        spot = self.path("new")
        self.assertEqual(self.refused(at(spot, spot).writing, 1 << 60), "enospc")
        self.assertEqual(self.refused(at(spot, spot, planned=(1 << 60, 0)).writing, 1), "enospc")
        self.assertEqual(self.refused(at(spot, spot, planned=(-(1 << 60), 0)).writing, 1), "")

    def test_directories_on_the_way(self) -> None:
        """Each that is made first is a file of its own on its file system."""
        system = os.statvfs(self.root)
        if not system.f_files:
            self.skipTest("this file system counts no files")
        spare, spot = system.f_ffree, self.path("a/b/new")
        # Others make files on this file system meanwhile.
        with mock.patch.object(os, "statvfs", return_value=system):
            for left, kind in ((3, ""), (2, "enospc")):
                taken = at(spot, spot, planned=(0, spare - left))
                self.assertEqual(self.refused(taken.making), kind)
            taken = at(spot, spot, planned=(0, spare - 2), within=self.path("a"))
            self.assertEqual(self.refused(taken.making), "")

    def test_mount_points(self) -> None:
        """What is mounted there can neither be replaced nor removed, nor what holds it."""
        inner = next(path for path in sorted(mount_points()) if path.count("/") == 2)
        self.assertEqual(self.refused(at(inner, inner).removing), "ebusy")
        outer = os.path.dirname(inner)
        self.assertEqual(self.refused(at(outer, outer).removing, True), "ebusy")

    def test_what_is_taken_away_meanwhile_has_no_flags(self) -> None:
        """Whose directory it is may swap what is in it at any time."""
        self.write("f", b"x")
        self.assertEqual(flags(self.path("none")), 0)
        self.assertEqual(flags(self.path("f/none")), 0)

    def taken_away(self, name: str, moment: str) -> Any:
        """Somebody removes a directory just as that function of the system is asked of it."""
        original, left = getattr(os, moment), [self.path(name)]

        def take_away(path: Any, *more: Any, **how: Any) -> Any:
            if path in left:
                shutil.rmtree(left.pop())
            return original(path, *more, **how)

        return mock.patch.object(os, moment, take_away)

    def test_what_is_taken_away_meanwhile_is_not_in_the_way(self) -> None:
        """A directory that is at work may be removed, at whatever moment something in it goes."""
        for moment in ("access", "lstat", "scandir"):
            os.makedirs(self.path("d/e/f"))
            with self.taken_away("d/e", moment):
                self.assertEqual(self.refused(self.of("d").removing, True), "")
            os.rmdir(self.path("d"))

    def test_a_directory_that_goes_during_the_check(self) -> None:
        """The loss of the directory is an error of the resource, and no statement on the path."""
        os.mkdir(self.path("d"))
        self.write("d/f", b"x")
        found = self.of("d/f")
        shutil.rmtree(self.path("d"))
        for call in (
            lambda: found.writing(1),
            found.making,
            lambda: found.changing(0, 0),
            lambda: found.changing_link(0, 0),
            found.removing,
            found.spare,
        ):
            with self.assertRaises(UncheckedError) as caught:
                call()
            self.assertEqual(caught.exception.kind, "resource.file.enoent")

    def test_a_link_that_goes_while_it_is_read(self) -> None:
        """Its loss is an error of the resource as well."""
        os.symlink("d", self.path("link"))
        error = FileNotFoundError(errno.ENOENT, "")
        gone = mock.patch.object(os.path, "realpath", side_effect=error)
        with gone, self.assertRaises(UncheckedError) as caught:
            self.of("link/f")
        self.assertEqual(caught.exception.kind, "resource.file.enoent")

    @unittest.skipUnless(ROOT, "only root may set flags")
    def test_flags(self) -> None:
        """An immutable file stays, and so does what an immutable directory holds."""
        os.mkdir(self.path("d"))
        self.write("d/f", b"x")
        self.write("f", b"x")
        for name in ("f", "d"):
            flag(self.path(name), 0x10)
            self.addCleanup(flag, self.path(name), 0)
        for call in (
            lambda: self.of("f").writing(1),
            lambda: self.of("f").changing(-1, -1),
            lambda: self.of("f").removing(),
            lambda: self.of("d/new").writing(1),
            lambda: self.of("d/new").making(),
            lambda: self.of("d/new/on/the/way").making(),
            lambda: self.of("d/new/f").writing(1),
            lambda: self.of("d/f").removing(),
        ):
            self.assertEqual(self.refused(call), "eperm")
        self.assertEqual(self.refused(self.of("d/f").changing, -1, -1), "")

    def test_other_names(self) -> None:
        """A file with other names where somebody else can write keeps its attributes."""
        self.write("f", b"x")
        os.link(self.path("f"), self.path("g"))
        self.assertEqual(self.refused(self.of("f").changing, -1, -1), "")
        os.chmod(self.root, 0o777)
        self.assertEqual(self.refused(self.of("f").changing, -1, -1), "names")
        os.unlink(self.path("g"))
        self.assertEqual(self.refused(self.of("f").changing, -1, -1), "")

    @unittest.skipUnless(ROOT, "only root may set flags")
    def test_flags_in_a_tree(self) -> None:
        """One file that cannot be removed keeps all its parents; links are not followed."""
        os.makedirs(self.path("d/sub/deep"))
        self.write("d/sub/deep/f", b"x")
        self.write("kept", b"x")
        os.symlink(self.path("kept"), self.path("d/link"))
        flag(self.path("kept"), 0x10)
        self.addCleanup(flag, self.path("kept"), 0)
        self.assertEqual(self.refused(self.of("d").removing, True), "")
        for name in ("d/sub/deep/f", "d/sub/deep"):
            flag(self.path(name), 0x10)
            self.assertEqual(self.refused(self.of("d").removing, True), "eperm")
            self.assertEqual(self.refused(self.of("d").removing), "")
            flag(self.path(name), 0)

    @unittest.skipUnless(ROOT, "only root can become another user")
    def test_another_user(self) -> None:
        """Who may not write a directory makes and removes nothing there, and gives nothing away."""
        os.chmod(self.root, 0o755)
        self.write("f", b"x")
        os.mkdir(self.path("own"))
        os.chown(self.path("own"), NOBODY, -1)
        os.seteuid(NOBODY)
        try:
            found = [
                self.refused(self.of("f").writing, 1),
                self.refused(self.of("f").removing),
                self.refused(self.of("f").changing, -1, -1),
                self.refused(self.of("new/on/the/way").making),
                self.refused(self.of("own/new/on/the/way").making),
                self.refused(self.of("own/f").writing, 1),
                self.refused(self.of("own/f").writing, 1, 0),
            ]
        finally:
            os.seteuid(0)
        self.assertEqual(found, ["eacces", "eacces", "eperm", "eacces", "", "", "eperm"])

    @unittest.skipUnless(ROOT, "only root can become another user")
    def test_groups_of_another_user(self) -> None:
        """What is new has the group of a directory with setgid, and can keep it; setgid it loses
        where the user is not in the group."""
        os.chmod(self.root, 0o755)
        for name, gid, mode in (("own", NOBODY, 0o755), ("team", 7, 0o2777)):
            os.mkdir(self.path(name))
            os.chown(self.path(name), NOBODY, gid)
            os.chmod(self.path(name), mode)
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
        try:
            found = [
                self.refused(getattr(self.of(name), doing), *size, NOBODY, gid, mode)
                for doing, size in (("making", ()), ("writing", (1,)))
                for name, gid, mode in (
                    ("own/n", NOBODY, 0o2755),
                    ("own/n", 7, 0o755),
                    ("team/n", 7, 0o755),
                    ("team/n/n", 7, 0o755),
                    ("team/n", NOBODY, 0o2755),
                    ("team/n", 7, 0o2755),
                )
            ]
            found.append(self.refused(self.of("own/n").making, 0, NOBODY))
        finally:
            os.seteuid(0)
            os.setegid(0)
        self.assertEqual(found, ["", "eperm", "", "", "", "unsettled"] * 2 + ["eperm"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_directories_on_the_way_that_close_themselves(self) -> None:
        """They get the permissions of the last one: by some, nothing can be made in them."""
        os.chmod(self.root, 0o755)
        os.mkdir(self.path("own"))
        os.chown(self.path("own"), NOBODY, NOBODY)
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
        try:
            found = [
                self.refused(self.of(name).making, NOBODY, NOBODY, mode)
                for name in ("own/a", "own/a/b")
                for mode in (0o300, 0o500, 0)
            ]
        finally:
            os.seteuid(0)
            os.setegid(0)
        self.assertEqual(found, ["", "", "", "", "eacces", "eacces"])


if __name__ == "__main__":
    unittest.main()
