"""File systems that are planned to be mounted: what is seen on them, and what fits."""

import os
import tempfile
import unittest
from unittest import mock

from remote_runtime.content import Text
from remote_runtime.effects import Below, MountEffect, PathEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.system.files import Files
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

from .. import fakes


class OnMountTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = os.path.realpath(directory.name)
        for name in ("m/d", "from/d"):
            os.makedirs(os.path.join(self.root, name))
        self.write("m/hidden")
        self.write("from/seen")
        self.context = fakes.context(noop=True)

    def at(self, name):
        return os.path.join(self.root, name)

    def write(self, name):
        with open(self.at(name), "w") as file:
            file.write("on disk\n")

    def lay(self, *effects):
        self.context.expect(list(effects), Uncertainty(), "service#m.mount")
        return self.context.files

    def file(self, name, size, mode=0o644):
        return PathEffect(self.at(name), "file", mode, 0, 0, content=Text("x" * size))

    def refused(self, function, *arguments):
        with self.assertRaises(ResourceError) as caught:
            function(*arguments)
        return caught.exception.kind.rpartition(".")[2]

    def test_it_hides_what_is_there(self):
        """An empty one has what is planned on it, and nothing else."""
        files = self.lay(MountEffect(self.at("m"), mode=0o750, uid=7), self.file("m/new", 3))
        self.assertEqual(files.entries(self.at("m")), ["new"])
        self.assertFalse(files.exists(self.at("m/d")))
        found = files.status(self.at("m"))
        self.assertEqual((found.mode, found.uid), (0o750, 7))

    def test_directories_on_the_way(self):
        """Those that are made first are files there, too."""
        files = self.lay(MountEffect(self.at("m"), inodes=3))
        files.obstacles(self.at("m/d/e")).making()
        self.assertEqual(self.refused(files.obstacles(self.at("m/d/e/f")).making), "enospc")

    def test_room(self):
        """Whole pages count, of all that is planned on it and of nothing of the host."""
        files = self.lay(MountEffect(self.at("m"), size=4 * 4096), self.file("m/hidden", 4097))
        obstacles = files.obstacles(self.at("m/more"))
        obstacles.writing(2 * 4096)
        self.assertEqual(self.refused(obstacles.writing, 2 * 4096 + 1), "enospc")
        files.obstacles(self.at("from/more")).writing(3 * 4096)
        self.lay(PathEffect(self.at("m/hidden"), "absent"))
        self.context.files.obstacles(self.at("m/more")).writing(4 * 4096)

    def test_numbers_of_files(self):
        """Its root counts, and so does a file that takes another's place, until it has."""
        files = self.lay(MountEffect(self.at("m"), inodes=3), self.file("m/a", 1))
        files.obstacles(self.at("m/b")).writing(1)
        self.lay(self.file("m/b", 1))
        for doing in ("making", "writing"):
            obstacles = self.context.files.obstacles(self.at("m/a"))
            arguments = [1] if doing == "writing" else []
            self.assertEqual(self.refused(getattr(obstacles, doing), *arguments), "enospc")

    def test_read_only(self):
        """Nothing is changed on one that is only read."""
        files = self.lay(MountEffect(self.at("m"), read_only=True))
        inside, itself = files.obstacles(self.at("m/a")), files.obstacles(self.at("m"))
        for refused in (
            self.refused(inside.writing, 1),
            self.refused(inside.making),
            self.refused(inside.removing),
            self.refused(itself.changing, 0, 0),
        ):
            self.assertEqual(refused, "erofs")

    def test_programs(self):
        """One that nothing is executed on has none."""
        for no_execution in (False, True):
            self.context = fakes.context(noop=True)
            files = self.lay(
                MountEffect(self.at("m"), no_execution=no_execution), self.file("m/p", 1, 0o755)
            )
            self.assertEqual(files.is_program(self.at("m/p")), not no_execution)

    def test_mount_points_stay(self):
        """Neither one nor a directory around it can be removed."""
        for effect in (
            MountEffect(self.at("m")),
            MountEffect(self.at("m"), source=self.at("from")),
        ):
            self.context = fakes.context(noop=True)
            files = self.lay(effect)
            for path in (self.root, self.at("m")):
                self.assertEqual(self.refused(files.obstacles(path).removing, True), "ebusy")
            files.obstacles(self.at("from/seen")).removing(True)

    def test_a_directory_seen_twice(self):
        """What is planned in one place is planned in the other, whatever is laid first."""
        files = self.lay(
            self.file("from/early", 1), MountEffect(self.at("m"), source=self.at("from"))
        )
        self.lay(self.file("m/late", 2), PathEffect(self.at("from/d"), "absent"))
        names = ["early", "late", "seen"]
        for directory in ("m", "from"):
            self.assertEqual(files.entries(self.at(directory)), names)
        self.assertEqual(files.read(self.at("m/seen"), 99), b"on disk\n")
        self.assertEqual(files.status(self.at("m")).kind, "directory")

    def test_a_second_place_with_options(self):
        """Options hold in the place where the directory is mounted, and not behind a link out."""
        mount = MountEffect(self.at("m"), source=self.at("from"), read_only=True, no_execution=True)
        out = PathEffect(self.at("from/out"), "symlink", target=self.root)
        files = self.lay(self.file("from/p", 1, 0o755), out, mount)
        self.assertEqual(self.refused(files.obstacles(self.at("m/p")).writing, 1), "erofs")
        for path, runs in (("m/p", False), ("from/p", True), ("m/out/from/p", True)):
            self.assertEqual(files.is_program(self.at(path)), runs, path)
        for path in ("from/p", "m/out/x"):
            files.obstacles(self.at(path)).writing(1)

    def test_other_options(self):
        """A mount of the host that is mounted with different options has them."""
        options = MountEffect("/", remounts=True, read_only=True, no_execution=True)
        files = self.lay(self.file("p", 1, 0o755), options)
        with mock.patch.object(Files, "mount_points", return_value={"/"}):
            self.assertEqual(self.refused(files.obstacles(self.at("x")).writing, 1), "erofs")
            self.assertFalse(files.is_program(self.at("p")))
        with mock.patch.object(Files, "mount_points", return_value={"/", self.root}):
            files.obstacles(self.at("x")).writing(1)
            self.assertTrue(files.is_program(self.at("p")))

    def test_one_that_goes(self):
        """What it hid comes to light, and what was planned on it is gone with it."""
        for effect in (
            MountEffect(self.at("m")),
            MountEffect(self.at("m"), source=self.at("from")),
        ):
            self.context = fakes.context(noop=True)
            uncertainty = Uncertainty(UNKNOWN, "nobody knows")
            files = self.lay(effect, self.file("m/new", 1))
            self.lay(
                MountEffect(self.at("m"), present=False),
                UnknownEffect(uncertainty, Below(self.at("m"))),
            )
            self.assertEqual(files.entries(self.at("m")), ["d", "hidden"])
            self.assertEqual(files.obstacles(self.at("m")).removing(), None)


if __name__ == "__main__":
    unittest.main()
