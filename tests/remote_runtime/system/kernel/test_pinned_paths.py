import os
import shutil
import tempfile
import unittest

from remote_runtime.system.kernel.pinned_paths import PinnedPaths
from remote_runtime.system.walk import Walker
from tests.remote_runtime.fakes import ROOT

USER = 61001


class PinnedPathsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        os.makedirs(os.path.join(self.top, "home/data/point"))
        self.pinned = PinnedPaths(Walker())
        self.addCleanup(self.pinned.close)

    def test_what_nobody_else_can_change(self) -> None:
        """Paths of root stay names, and so does one of nothing."""
        for path in ("/", "/proc", self.top, os.path.join(self.top, "none/below")):
            self.assertEqual(self.pinned.of(path), path)
        self.assertEqual(self.pinned.within(self.top), self.top)
        self.assertEqual(self.pinned.within("/"), "/")

    @unittest.skipUnless(ROOT, "only root has files of others")
    def test_a_directory_of_a_user(self) -> None:
        """What was there is found, whatever has its name by then, and texts have the name."""
        data = os.path.join(self.top, "home/data")
        os.chown(os.path.join(self.top, "home"), USER, USER)
        point = os.path.join(data, "point")
        before = [os.stat(path).st_ino for path in (data, data, point)]
        pinned = [self.pinned.of(data), self.pinned.of(data), self.pinned.within(point)]
        os.rename(data, data + ".away")
        os.makedirs(point)
        self.assertEqual([os.stat(path).st_ino for path in pinned], before)
        self.assertEqual(self.pinned.named("x: %s: busy" % pinned[0]), "x: %s: busy" % data)
        self.pinned.close()
        self.assertFalse(os.path.exists(pinned[0]))
