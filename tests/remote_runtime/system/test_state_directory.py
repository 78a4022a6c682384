import os
import unittest

from remote_runtime.system import state_directory
from tests.remote_runtime.fakes import ROOT, DirectoryTest


class StateTest(DirectoryTest):
    @unittest.skipUnless(ROOT, "of root")
    def test_directory_of_root(self) -> None:
        """Root's is the system's, whatever its environment says."""
        os.environ["XDG_STATE_HOME"] = self.root
        self.addCleanup(os.environ.pop, "XDG_STATE_HOME")
        self.assertEqual(state_directory.state_directory("/root"), "/var/lib/ccm")

    def test_journals(self) -> None:
        """Journals are listed by their paths; a host without any has none."""
        self.assertEqual(state_directory.journals(self.root), [])
        os.mkdir(self.path("unfinished"))
        paths = [self.write("unfinished/" + name) for name in "ba"]
        self.assertEqual(state_directory.journals(self.root), sorted(paths))
