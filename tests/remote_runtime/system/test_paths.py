import os
import sys
import unittest
from typing import List

from remote_runtime.system.paths import MAX_LINKS, is_within, links, resolved, walk
from tests.remote_runtime.fakes import DirectoryTest


class PathsTest(unittest.TestCase):
    def test_what_is_within_a_directory(self) -> None:
        """The directory itself and what is below it, not what begins with the same letters."""
        for path, directory, expected in (
            ("/srv", "/srv", True),
            ("/srv/a/b", "/srv", True),
            ("/srv/a", "/srv/", True),
            ("/srv", "/", True),
            ("/", "/", True),
            ("/srv2", "/srv", False),
            ("/", "/srv", False),
        ):
            self.assertIs(is_within(path, directory), expected, (path, directory))


class ResolvedTest(DirectoryTest):
    def test_links_in_a_path(self) -> None:
        """A path is resolved as Python does it, and each link on the way is listed once."""
        os.makedirs(self.path("real/below"))
        for name, target in (
            ("relative", "real"),
            ("absolute", self.path("relative/below")),
            ("real/below/up", "../../real/./below"),
            ("dangling", "nowhere/else"),
        ):
            os.symlink(target, self.path(name))

        def target_of(path: str) -> str:
            return os.readlink(path) if os.path.islink(path) else ""

        for name, passed in (
            ("real/below", []),
            ("relative/below/..", ["relative"]),
            ("absolute/up/none", ["absolute", "relative", "real/below/up"]),
            ("dangling/more", ["dangling"]),
        ):
            path = self.path(name)
            self.assertEqual(resolved(path, target_of), os.path.realpath(path))
            self.assertEqual(links(path), [self.path(each) for each in passed])

    def test_links_in_a_circle(self) -> None:
        """As many are followed as Linux follows."""
        os.symlink("circle", self.path("circle"))
        self.assertEqual(links(self.path("circle/x")), [self.path("circle")] * MAX_LINKS)


class WalkTest(DirectoryTest):
    def test_it_is_as_the_one_of_python(self) -> None:
        """Directories, files and links come as ``os.walk`` has them; no link is followed."""
        for name in ("a/b/c", "a/d", "e"):
            os.makedirs(self.path(name))
        for name in ("a/b/c/f", "a/f", "g"):
            self.write(name)
        for name, target in (("a/up", ".."), ("a/circle", "circle"), ("e/none", "nothing")):
            os.symlink(target, self.path(name))
        found, expected = (
            sorted(
                (directory, sorted(directories), sorted(files))
                for directory, directories, files in each
            )
            for each in (walk(self.root), os.walk(self.root))
        )
        self.assertEqual(found, expected)
        self.assertEqual(len(found), 6)

    def test_what_cannot_be_listed(self) -> None:
        """It is told to who asks, and else left out."""
        errors: List[OSError] = []
        self.assertEqual(list(walk(self.path("none"), errors.append)), [])
        self.assertIsInstance(errors[0], FileNotFoundError)
        self.assertEqual(list(walk(self.path("none"))), [])

    def test_directories_as_deep_as_somebody_likes(self) -> None:
        """However many levels there are, it ends well, with those that a path leads to."""
        depth, before = 2 * sys.getrecursionlimit() + 1000, os.getcwd()
        os.chdir(self.root)
        try:
            for _ in range(depth):
                os.mkdir("d")
                os.chdir("d")
            seen = sum(1 for _ in walk(self.root))
        finally:
            for _ in range(depth):
                os.chdir("..")
                os.rmdir("d")
            os.chdir(before)
        self.assertGreater(seen, sys.getrecursionlimit())
