import errno
import os
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.host.machine.machine_host import machine
from tests.remote_runtime.fakes import DirectoryTest, context


class LinkTest(DirectoryTest):
    def test_a_directory_that_cannot_be_synced(self) -> None:
        """The link is there, and the error says that it may not last."""
        broken = mock.Mock(side_effect=OSError(errno.EIO, "Input/output error"))
        failing = mock.patch("remote_runtime.host.machine.files.sync_now", broken)
        with failing, self.assertRaises(ResourceError) as caught:
            machine(context()).files.symlink("target", self.path("link"))
        self.assertIn("Input/output error", caught.exception.message)
        self.assertEqual(os.readlink(self.path("link")), "target")
        self.assertEqual(os.listdir(self.root), ["link"])
