import os
import socket

from remote_runtime.system import system_log
from tests.remote_runtime.fakes import DirectoryTest


class LogTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.server.close)
        self.server.bind(self.path("log"))
        self.server.settimeout(5)

    def received(self, level: int, text: str) -> bytes:
        system_log.write(level, text, self.path("log"))
        return self.server.recv(1 << 16)

    def test_a_line(self) -> None:
        """A line arrives as syslog has it, with the level, our name and the process."""
        expected = "<28>ccm[%d]: caf\u00e9" % os.getpid()
        self.assertEqual(self.received(system_log.WARNING, "caf\u00e9").decode("utf-8"), expected)
        self.assertTrue(self.received(system_log.NOTICE, "x").startswith(b"<29>"))

    def test_one_line(self) -> None:
        """A text cannot make two lines, nor one without an end."""
        self.assertTrue(self.received(system_log.NOTICE, "a\nb\x1b[1m  c").endswith(b": a b [1m c"))
        self.assertLess(len(self.received(system_log.NOTICE, "x" * 5000)), 1024)

    def test_no_log(self) -> None:
        """Where none listens, or none reads, the run is not held up."""
        system_log.write(system_log.NOTICE, "x", self.path("nowhere"))
        for _ in range(5000):
            system_log.write(system_log.NOTICE, "x", self.path("log"))
        self.assertTrue(self.server.recv(1 << 16).endswith(b": x"))
        self.assertEqual(os.listdir(self.root), ["log"])
