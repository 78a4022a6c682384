import os
import unittest
from unittest import mock

from remote_runtime.system import walk
from remote_runtime.system.files import Files
from remote_runtime.system.walk import Walker
from tests.remote_runtime.fakes import ROOT, DirectoryTest, failure_of
from tests.texts import expect_text

BOB, EVE = 61001, 61002


@unittest.skipUnless(ROOT, "only root gives files away")
class WalkTest(DirectoryTest):
    """``srv`` is root's, ``home`` is Bob's."""

    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.root, 0o755)
        for name, owner in (("srv", 0), ("srv/real", 0), ("home", BOB), ("home/real", BOB)):
            os.mkdir(self.path(name), 0o755)
            os.chown(self.path(name), owner, owner)
        self.walker = Walker()

    def link(self, name: str, target: str, owner: int) -> str:
        os.symlink(target, self.path(name))
        os.chown(self.path(name), owner, owner, follow_symlinks=False)
        return self.path(name)

    def directory(self, name: str) -> str:
        return self.walker.directory(self.path(name)).path

    def refused(self, name: str) -> str:
        error = failure_of(self.walker.directory, self.path(name))
        self.assertEqual(error.kind, "resource.file.link")
        self.assertTrue(error.hint)
        return error.message

    def test_a_link_of_root_is_followed(self) -> None:
        """A link of root leads on, through others and from a sticky directory too."""
        self.link("srv/a", "real", 0)
        self.link("srv/b", self.path("srv/a"), 0)
        os.mkdir(self.path("tmp"))
        os.chmod(self.path("tmp"), 0o1777)
        self.link("tmp/c", "../srv/./b/", 0)
        for name in ("srv/a", "srv/b", "tmp/c"):
            self.assertEqual(self.directory(name), self.path("srv/real"))

    def test_the_path_behind_a_link(self) -> None:
        """It is told of what is the owner's of the link, but not of what is not there."""
        self.write("srv/real/a", b"")
        link = self.link("home/mine", "real/new", BOB)
        error = failure_of(Files().real, link)
        self.assertEqual(error.kind, "resource.file.link")
        expect_text(error.message, self)
        os.chown(self.write("home/real/new", b""), BOB, BOB)
        self.assertEqual(Files().real(link), self.path("home/real/new"))
        for name in ("a", "new"):
            link = self.link("home/%s" % name, self.path("srv/real/%s" % name), BOB)
            error = failure_of(Files().real, link)
            self.assertEqual(error.kind, "resource.file.link")
            self.assertIn("symlink %s: owned by user %d, points to" % (link, BOB), error.message)

    def test_a_directory_that_is_given_away(self) -> None:
        """It is judged by whose it is now, not by whose it was when the run first came there."""
        self.link("srv/a", "real", 0)
        self.assertEqual(self.directory("srv/a"), self.path("srv/real"))
        before = self.walker.place(self.path("srv/x")).directory
        self.assertFalse(before.shared())
        self.assertIs(self.walker.place(self.path("srv/y")).directory, before)
        os.chown(self.path("srv"), BOB, BOB)
        self.assertTrue(self.walker.place(self.path("srv/x")).directory.shared())
        os.chown(self.path("srv"), 0, 0)
        os.chmod(self.path("srv"), 0o777)
        self.assertTrue(self.walker.place(self.path("srv/x")).directory.shared())

    def test_a_link_of_root_where_others_write(self) -> None:
        """Whoever writes a directory may have moved root's link there: it is not followed."""
        link = self.link("home/a", self.path("srv/real"), 0)
        self.assertIn("symlink %s: owned by root, points to " % link, self.refused("home/a"))
        os.mkdir(self.path("open"))
        self.link("open/a", self.path("srv/real"), 0)
        for mode, gid in ((0o777, 0), (0o775, EVE)):
            os.chown(self.path("open"), 0, gid)
            os.chmod(self.path("open"), mode)
            self.assertIn("in a directory of root that others can write", self.refused("open/a"))
        os.chown(self.path("open"), 0, 0)
        self.assertEqual(self.directory("open/a"), self.path("srv/real"))

    def test_a_link_of_another_to_what_is_theirs(self) -> None:
        """A user's link leads to what is that user's, however it gets there."""
        self.link("home/current", "real", BOB)
        self.link("home/again", self.path("home/current"), BOB)
        os.mkdir(self.path("home/real/inner"))
        os.chown(self.path("home/real/inner"), BOB, BOB)
        self.assertEqual(self.directory("home/again/inner"), self.path("home/real/inner"))

    def test_a_link_of_another_to_what_is_not_theirs(self) -> None:
        """A user's link to a directory of somebody else is refused, named with its owner."""
        link = self.link("home/out", self.path("srv/real"), BOB)
        message = self.refused("home/out")
        self.assertIn("symlink %s: owned by user %d, points to" % (link, BOB), message)
        self.assertIn("%s, which is owned by root" % self.path("srv/real"), message)

    def test_what_is_below_a_link_of_another(self) -> None:
        """Behind a user's link every directory is that user's; one of root is refused."""
        link = self.link("home/current", "real", BOB)
        os.mkdir(self.path("home/real/inner"))
        self.assertIn("symlink %s: owned by" % link, self.refused("home/current/inner"))
        self.assertEqual(self.directory("home/real/inner"), self.path("home/real/inner"))

    def test_a_link_of_a_third_behind_one_of_another(self) -> None:
        """A user's link that leads through the link of yet another user is refused."""
        inner = self.link("home/real/eve", self.path("srv"), EVE)
        outer = self.link("home/current", "real", BOB)
        message = self.refused("home/current/eve")
        self.assertIn("symlink %s: owned by user %d, points to" % (outer, BOB), message)
        self.assertIn("%s, which is owned by user %d" % (inner, EVE), message)

    def test_links_without_end(self) -> None:
        """Links that lead to each other end as they do for everybody."""
        self.link("srv/a", "b", 0)
        self.link("srv/b", "a", 0)
        self.assertRaises(OSError, self.walker.directory, self.path("srv/a"))

    def test_a_place_that_links_stand_for(self) -> None:
        """The links at the end of a path are followed on request, by the same rules."""
        self.write("srv/file", b"x")
        self.write("home/file", b"x")
        os.chown(self.path("home/file"), BOB, BOB)
        self.link("srv/a", "file", 0)
        self.link("home/mine", "file", BOB)
        self.link("home/theirs", self.path("srv/file"), BOB)
        for name, target in (("srv/a", "srv/file"), ("home/mine", "home/file")):
            place = self.walker.place(self.path(name), follow=True)
            self.assertEqual(place.path, self.path(target))
            place.admit(os.stat(place.path))
        place = self.walker.place(self.path("home/theirs"), follow=True)
        failure_of(place.admit, os.stat(place.path))

    def test_a_directory_that_was_opened_is_looked_up_again(self) -> None:
        """What is at a path now counts, not what was there at the first look."""
        self.assertEqual(self.directory("srv/real"), self.path("srv/real"))
        os.rename(self.path("srv/real"), self.path("srv/old"))
        self.link("srv/real", self.path("home"), BOB)
        self.assertEqual(self.directory("srv/real"), self.path("home"))

    def test_a_directory_that_was_missing_is_looked_for_again(self) -> None:
        """It is opened as soon as it is there, and a link of another user in its place is not."""
        for _ in range(2):
            with self.assertRaises(FileNotFoundError):
                self.directory("srv/later/on")
        os.makedirs(self.path("srv/later/on"))
        self.assertEqual(self.directory("srv/later/on"), self.path("srv/later/on"))
        with self.assertRaises(FileNotFoundError):
            self.directory("home/later")
        self.link("home/later", self.path("srv/real"), BOB)
        self.assertIn("owned by user %d" % BOB, self.refused("home/later"))

    def test_a_missing_directory_is_looked_for_in_one_call(self) -> None:
        """Many files may be to come to it."""
        opened = []
        with mock.patch.object(walk, "_open", side_effect=walk._open) as begun:
            for _ in range(9):
                with self.assertRaises(FileNotFoundError):
                    self.directory("srv/later")
                opened.append(begun.call_count)
        self.assertEqual(opened, opened[:1] * 9)

    def test_the_file_that_was_looked_at_last(self) -> None:
        """It is read where it was found, if it is the same still and nobody else may name it."""
        files, inner = Files(), self.path("srv/real")
        path = self.write("srv/real/f", b"content")
        other = self.write("home/real/f", b"content")
        known = files.status(path)
        assert known is not None
        given = (known.size, known.identity)
        self.assertEqual(files.walker.read_latest(path, *given), b"content")
        self.assertIsNone(files.walker.read_latest(other, *given))
        self.assertIsNone(files.walker.read_latest(path, known.size + 1, known.identity))
        os.rename(inner, inner + ".old")
        self.assertEqual(files.walker.read_latest(path, *given), b"content")
        self.write("srv/real.old/f", b"changed")
        self.assertIsNone(files.walker.read_latest(path, *given))
        files.walker.forget()
        self.assertIsNone(files.walker.read_latest(path, *given))
        known = files.status(other)
        assert known is not None
        self.assertIsNone(files.walker.read_latest(other, known.size, known.identity))

    def test_what_is_created_behind_a_link_of_another(self) -> None:
        """What is created behind a user's link is theirs, so that it is followed again."""
        self.link("home/current", "real", BOB)
        for _ in range(2):
            found = self.walker.directory(self.path("home/current/a/b"), 0o755)
            self.assertEqual(found.found.st_uid, BOB)

    def test_directories_are_closed(self) -> None:
        """However many directories are walked, few stay open."""
        before = len(os.listdir("/proc/self/fd"))
        for number in range(200):
            self.walker.directory(self.path("srv/%d" % number), 0o755)
        self.assertLess(len(os.listdir("/proc/self/fd")) - before, 50)


class GroupTest(DirectoryTest):
    def test_a_group_that_a_user_is_alone_in(self) -> None:
        """Group bits do not make our own directory shared; bits for others do."""
        os.chmod(self.root, 0o775)
        if os.getegid() == 0:
            self.assertFalse(Walker().directory(self.root).shared())
        os.chmod(self.root, 0o777)
        self.assertTrue(Walker().directory(self.root).shared())
