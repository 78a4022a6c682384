"""The file system as it will be."""

import contextlib
import os
import struct
import unittest
from typing import Any
from unittest import mock

from remote_runtime.changes import Unknowable
from remote_runtime.content import Text
from remote_runtime.effects import Below, PathEffect, UnknownEffect, everything
from remote_runtime.errors import ResourceError
from remote_runtime.system.walk import Walker
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty
from tests.remote_runtime.fakes import ROOT, DirectoryTest, context, failure_of, item
from tests.texts import expect_text

NOBODY = 65534


def acl(uid: int) -> bytes:
    """An access list by which the owner and another user may do everything."""
    everybody = 0xFFFFFFFF
    entries = [(1, 7, everybody), (2, 7, uid), (4, 5, everybody), (16, 7, everybody)]
    entries.append((32, 5, everybody))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in entries)


class WorldFilesTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.root = os.path.realpath(self.root)
        self.context = context(noop=True)

    def test_names_that_no_directory_holds(self) -> None:
        """They are refused where there will be the directory, as they would be on the host."""
        self.expect("d", "directory")
        name = "é" * 128
        self.assertIsNone(self.context.files.status(self.path("e", name)))
        self.assertIsNone(self.context.files.status(self.path("d", name[1:])))
        error = failure_of(self.context.files.status, self.path("d", name))
        expect_text(error.message, self)

    def test_the_table_of_mounts_is_read_once(self) -> None:
        """A file at which something is mounted cannot be replaced."""
        paths = [self.write(name) for name in ("a", "b", "mounted")]
        table = "1 0 8:1 / / rw - x y rw\n2 1 8:1 /x %s rw - x y rw\n" % paths[-1]
        read = "remote_runtime.overlay.path_aliases.content_of"
        with mock.patch(read, side_effect=[table.encode()]):
            checks = [self.context.planned().files.obstacles(path) for path in paths]
            for check in checks[:2]:
                check.writing(1)
            self.assertIn("it is a mount point", failure_of(checks[2].writing, 1).message)

    def test_nothing_is_resolved_until_something_is_planned(self) -> None:
        """Until then, the host alone reads a path, through links as well."""
        os.mkdir(self.path("d"))
        self.write("d/f", b"x")
        os.symlink("d", self.path("l"))
        overlay = self.context.planned()
        with mock.patch.object(overlay.layer, "find", wraps=overlay.layer.find) as find:
            files = overlay.files
            self.assertEqual(files.read(self.path("l/f"), 9), b"x")
            self.assertEqual(files.real(self.path("l/f")), self.path("d/f"))
            self.assertTrue(files.is_directory(self.path("l")))
            self.assertEqual(find.call_count, 0)
            overlay.lay((PathEffect(self.path("d/f"), "absent"),), Uncertainty(), "t#a")
            self.assertFalse(files.is_there(self.path("l/f")))
        self.assertGreater(find.call_count, 0)

    def test_a_change_of_content_counts_no_names(self) -> None:
        """Hard links only matter to a change of attributes."""
        self.write("f", b"x")
        self.expect("other", "file")
        overlay = self.context.planned()
        shared = mock.Mock(return_value=False)
        with mock.patch.object(overlay.host_files, "in_shared_directory", shared):
            overlay.files.obstacles(self.path("f")).writing(1)
            self.assertEqual(shared.call_count, 0)
            overlay.files.obstacles(self.path("f")).changing(-1, -1)
        self.assertEqual(shared.call_count, 1)

    def test_another_name_of_a_changed_file_is_still_on_the_host(self) -> None:
        """What prevents its removal there, such as a read-only file system, prevents it then."""
        self.write("f", b"x")
        os.link(self.path("f"), self.path("g"))
        self.expect("f", "file", mode=0o600)
        for name in ("f", "g"):
            place = self.context.files.obstacles(self.path(name))
            self.assertEqual(place.spot.there, self.path(name))

    def test_a_reader_is_of_its_turn(self) -> None:
        """It yields what was there when it was made, whatever comes later."""
        self.write("f", b"host")
        files = context(noop=True).files
        early, self.context = files.reader(self.path("f")), context(noop=True)
        self.expect("other", "file", content=Text(""))
        readers = [early, self.context.files.reader(self.path("f"))]
        for text in ("one", "two"):
            self.expect("f", "file", content=Text(text))
            readers.append(self.context.files.reader(self.path("f")))
        self.expect("f", "absent")
        read = [b"".join(reader()) for reader in readers]
        self.assertEqual(read, [b"host", b"host", b"one", b"two"])

    def test_a_file_of_the_host_is_looked_up_once(self) -> None:
        """Its content is read where its status was."""
        path = self.write("f", b"host")
        self.expect("other", "file", content=Text(""))
        files = self.context.files
        status = files.status(path, follow=True)
        with mock.patch.object(Walker, "place") as place:
            self.assertEqual(files.read(path, 100, follow=True, known=status), b"host")
        place.assert_not_called()

    def expect(self, name: str, kind: str, **said: Any) -> None:
        effect = PathEffect(self.path(name), kind, **said)
        self.context.expect([effect], Uncertainty(), "t#a")

    def level_of(self, name: str) -> str:
        """How sure it is what will be at a path."""
        with self.context.for_resource(item("file", "x"), noop=True):
            with contextlib.suppress(Unknowable):
                self.context.files.status(self.path(name))
            return self.context.uncertainty.level

    def may_change(self, name: str) -> None:
        """A command may change what is at a path and below it."""
        fog = UnknownEffect(
            Uncertainty(ASSUMED, "exec#e may change it"), Below(self.path(name), itself=True)
        )
        self.context.expect([fog], Uncertainty(), "exec#e")

    def make(self, name: str, level: str, kind: str = "file") -> None:
        """Lay something of whose prediction that is the level."""
        effect = PathEffect(self.path(name), kind, 0o755)
        self.context.expect([effect], Uncertainty(level, "why"), "file#x")

    def test_a_link_that_may_be_turned(self) -> None:
        """What is found through a link is as sure as the link; what was put through it is there."""
        os.makedirs(self.path("v1"))
        os.symlink("v1", self.path("current"))
        self.may_change("current")
        self.assertEqual(self.level_of("current/a"), ASSUMED)
        self.assertEqual(self.level_of("v1/a"), "")
        self.make("current/b", ASSUMED)
        self.assertEqual(self.level_of("current/b"), "")
        self.assertEqual(self.level_of("current/c"), ASSUMED)

    def test_a_directory_that_may_have_been_there(self) -> None:
        """One that is made for all we know holds what a command may have put there."""
        self.may_change("d")
        self.make("d", ASSUMED, "directory")
        self.assertEqual(self.level_of("d"), "")
        self.assertEqual(self.level_of("d/a"), ASSUMED)
        self.make("d", ASSUMED, "absent")
        self.assertEqual(self.level_of("d/a"), "")

    def test_what_is_done_through_what_may_be_a_link(self) -> None:
        """It may have been done wherever that leads, which is not up to where it stands."""
        os.makedirs(self.path("v1/etc"))
        self.may_change("app/current")
        self.make("app/current", ASSUMED, "directory")
        self.make("app/current/etc/a", ASSUMED)
        self.make("app/current/gone", ASSUMED, "absent")
        for name, level in (
            ("v1/etc/a", ASSUMED),
            ("v1/gone/below", ASSUMED),
            ("v1/a", ""),
            ("v1/etc/a/below", ""),
            ("v1/etc", ""),
            ("app/etc/a", ""),
        ):
            self.assertEqual(self.level_of(name), level, name)
        self.make("v1/etc/a", "")
        self.assertEqual(self.level_of("v1/etc/a"), "")

    def test_what_is_done_below_what_nobody_can_tell(self) -> None:
        """A path that a command makes may be a link."""
        self.make("current", "", "something")
        self.make("current/a", UNKNOWN)
        self.assertEqual(self.level_of("v1/a"), UNKNOWN)
        self.assertEqual(self.level_of("a"), "")

    def test_a_planned_file(self) -> None:
        """It has the content and the attributes that it will have."""
        self.expect("f", "file", mode=0o640, uid=1, gid=2, content=Text("héllo"))
        files, path = self.context.files, self.path("f")
        status = files.status(path)
        assert status is not None
        self.assertEqual(
            (status.kind, status.mode, status.uid, status.gid, status.size),
            ("file", 0o640, 1, 2, 6),
        )
        self.assertEqual(files.read(path, 100), "héllo".encode())
        self.assertEqual(files.sha256(path, status), Text("héllo").sha256)
        self.assertEqual((files.exists(path), files.is_there(path)), (True, True))
        self.assertEqual((files.is_directory(path), os.path.exists(path)), (False, False))
        with self.assertRaises(ResourceError):
            files.read(path, 3)

    def test_a_planned_program_needs_its_x(self) -> None:
        """A command can be started by then if the file will be executable."""
        for mode, found in ((0o644, ""), (0o755, self.path("tool"))):
            self.expect("tool", "file", mode=mode, content=Text("#!/bin/sh\n"))
            self.assertEqual(self.context.user_commands.find(self.path("tool")), found)

    @unittest.skipUnless(ROOT, "only root can become another user")
    def test_what_our_attributes_allow(self) -> None:
        """Without root's rights, planned modes count: of directories, and of files to read."""
        os.chmod(self.root, 0o755)
        for name, mode in (("open", 0o755), ("shut", 0o555), ("hidden", 0)):
            os.mkdir(self.path(name))
            os.chown(self.path(name), NOBODY, NOBODY)
            os.chmod(self.path(name), mode)
        self.write("open/f", b"x")
        self.write("open/g", b"x", 0o600)
        os.chown(self.path("open/f"), NOBODY, NOBODY)
        os.chown(self.path("open/g"), NOBODY, NOBODY)
        os.chmod(self.path("open/g"), 0)
        os.seteuid(NOBODY)
        self.addCleanup(os.seteuid, 0)
        self.expect("open", "directory", mode=0o555)
        self.expect("shut", "directory", mode=0o755)
        self.expect("hidden", "directory", mode=0o755)
        self.expect("shut/new", "directory", mode=0o500)
        self.expect("open/f", "file", mode=0)
        self.expect("open/g", "file", mode=0o600)
        files = self.context.files
        for name, kind in (
            ("open/n", "eacces"),
            ("open/a/b/n", "eacces"),
            ("shut/n", ""),
            ("shut/a/b/n", ""),
            ("shut/new/n", "eacces"),
            ("shut/new/a/b/n", "eacces"),
        ):
            found = ""
            try:
                files.obstacles(self.path(name)).writing(1)
            except ResourceError as error:
                found = error.kind.rpartition(".")[2]
            self.assertEqual(found, kind, name)
        with self.assertRaisesRegex(ResourceError, "permission denied"):
            files.sha256(self.path("open/f"))
        for look in (
            lambda: files.sha256(self.path("open/g")),
            lambda: files.read(self.path("open/g"), 9),
            lambda: files.status(self.path("hidden/n")),
            lambda: files.exists(self.path("hidden/n")),
        ):
            with self.assertRaises(Unknowable):
                look()

    def refused(self, doing: str, name: str, *given: int) -> str:
        """What another user is refused with, who wants to do that."""
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
        try:
            getattr(self.context.files.obstacles(self.path(name)), doing)(*given)
        except ResourceError as error:
            return error.kind.rpartition(".")[2]
        finally:
            os.seteuid(0)
            os.setegid(0)
        return ""

    def own(self, *names: str) -> None:
        """Directories of that user."""
        os.chmod(self.root, 0o755)
        for name in names:
            os.mkdir(self.path(name))
            os.chown(self.path(name), NOBODY, NOBODY)

    @unittest.skipUnless(ROOT, "only root can become another user")
    def test_who_may_change_what_is_planned(self) -> None:
        """The group that it will have by then can be kept, that of today not be taken again."""
        self.own("d")
        self.write("f", b"x")
        os.chown(self.path("f"), NOBODY, 7)
        self.expect("d/new", "file", uid=NOBODY, gid=NOBODY)
        self.expect("d/team", "file", uid=NOBODY, gid=7)
        self.assertEqual(self.refused("changing", "d/new", NOBODY, 7), "eperm")
        self.assertEqual(self.refused("changing", "d/new", NOBODY, NOBODY), "")
        self.assertEqual(self.refused("changing", "d/team", NOBODY, 7), "")
        self.assertEqual(self.refused("changing", "f", NOBODY, 7), "")
        self.expect("f", "file", gid=NOBODY)
        self.assertEqual(self.refused("changing", "f", NOBODY, 7), "eperm")

    @unittest.skipUnless(ROOT, "only root can become another user")
    def test_what_is_planned_in_a_directory_that_is_closed(self) -> None:
        """It cannot be removed any more."""
        self.own("d")
        self.expect("d/f", "file", uid=NOBODY, gid=NOBODY)
        self.assertEqual(self.refused("removing", "d/f"), "")
        self.expect("d", "directory", mode=0o555)
        self.assertEqual(self.refused("removing", "d/f"), "eacces")

    @unittest.skipUnless(ROOT, "only root can become another user")
    def test_access_lists(self) -> None:
        """They say nothing of the owner, whose planned rights count."""
        self.own("d")
        try:
            os.setxattr(self.path("d"), "system.posix_acl_access", acl(NOBODY - 1))
        except OSError as error:
            self.skipTest("no access control lists here: %s" % error)
        self.assertEqual(self.refused("writing", "d/f", 1), "")
        self.expect("d", "directory", mode=0o570)
        self.assertEqual(self.refused("writing", "d/f", 1), "eacces")

    @unittest.skipUnless(ROOT, "only root can become another user")
    def test_names_in_a_directory_that_may_not_be_read(self) -> None:
        """Without root's rights those of one that is closed cannot be listed by then, and those
        of one that is opened cannot be known before."""
        os.chmod(self.root, 0o755)
        for name, mode in (("open", 0o755), ("shut", 0o300)):
            os.mkdir(self.path(name))
            os.chown(self.path(name), NOBODY, NOBODY)
            os.chmod(self.path(name), mode)
        os.seteuid(NOBODY)
        self.addCleanup(os.seteuid, 0)
        self.expect("open", "directory", mode=0o300)
        self.expect("shut", "directory", mode=0o755)
        files = self.context.files
        with self.assertRaisesRegex(ResourceError, "could not list .*: permission denied"):
            files.entries(self.path("open"))
        with self.assertRaisesRegex(Unknowable, "not known until .* makes it accessible"):
            files.entries(self.path("shut"))

    def test_names_in_a_directory(self) -> None:
        """Those that are there, without what goes and with what comes."""
        os.mkdir(self.path("d"))
        for name in ("a", "b"):
            self.write("d/" + name)
        self.expect("d/a", "absent")
        self.expect("d/c", "file")
        files = self.context.files
        self.assertEqual(files.entries(self.path("d")), ["b", "c"])
        self.assertEqual(files.status(self.path("d/a")), None)
        self.assertEqual(
            (files.exists(self.path("d/b")), files.exists(self.path("d/a"))), (True, False)
        )
        self.expect("d", "absent")
        self.expect("d", "directory")
        self.assertEqual(files.entries(self.path("d")), [])

    def test_what_nobody_can_tell(self) -> None:
        """Something is there, and asking for more ends in not knowing."""
        self.expect("made", "something")
        self.expect("file", "file")
        files = self.context.files
        self.assertTrue(files.exists(self.path("made")))
        for ask in (files.status, files.is_directory):
            with self.assertRaises(Unknowable):
                ask(self.path("made"))
        with self.assertRaises(Unknowable):
            files.sha256(self.path("file"))

    def test_what_is_below_something_nobody_can_tell(self) -> None:
        """Nothing is said of what is below a path of which it is not known what it will be."""
        self.expect("made", "something")
        files = self.context.files
        for ask in (files.status, files.is_directory, files.exists, files.is_there, files.entries):
            with self.assertRaises(Unknowable):
                ask(self.path("made/below"))
        self.expect("made/own", "file", content=Text("x"))
        self.expect("made", "absent")
        self.assertFalse(files.exists(self.path("made/own")))

    def test_new_below_setgid(self) -> None:
        """What is made below a directory with setgid has its group, a directory its bit as well."""
        self.expect("team", "directory", mode=0o2775, gid=7)
        self.expect("team/a/b/file", "file", content=Text("x"))
        self.expect("team/exact", "directory", mode=0o755)
        found = {
            name: self.context.files.status(self.path("team/" + name))
            for name in ("a", "a/b", "a/b/file", "exact")
        }
        self.assertEqual(
            {name: (oct(status.mode), status.gid) for name, status in found.items() if status},
            {
                "a": ("0o2755", 7),
                "a/b": ("0o2755", 7),
                "a/b/file": ("0o644", 7),
                "exact": ("0o755", 7),
            },
        )

    def test_what_is_put_after_the_fog_is_known(self) -> None:
        """Reads of unknown paths are recorded, without later files and own directories."""
        fog = UnknownEffect(Uncertainty(ASSUMED, "exec#x may change it"), everything)
        self.context.expect([fog], Uncertainty(), "exec#x")
        self.expect("f", "file", content=Text("x"))
        self.expect("d", "directory")
        ours = self.context.files.private_directory()
        self.addCleanup(self.context.files.remove_private_directory, ours)
        for path, level in (
            (self.path("f"), ""),
            (self.path("d/inside"), ""),
            (ours + "/x", ""),
            (self.path("other"), ASSUMED),
        ):
            with self.context.for_resource(self.file("x"), True):
                self.context.files.status(path)
                self.assertEqual(self.context.uncertainty.level, level, path)

    def test_a_directory_of_ours_goes_with_the_run(self) -> None:
        """Who discards what is temporary discards what is there for the work of the run."""
        self.expect("f", "file")
        ours = self.context.files.private_directory()
        self.context.files.discard_temporary()
        self.assertFalse(os.path.lexists(ours))

    def test_a_run_that_changes_things_sees_the_host(self) -> None:
        """Whatever a child in noop has planned."""
        self.expect("f", "file")
        with self.context.for_resource(self.file("x"), False):
            self.assertFalse(self.context.files.is_there(self.path("f")))


if __name__ == "__main__":
    unittest.main()
