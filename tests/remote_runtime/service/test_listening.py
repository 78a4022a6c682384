"""What keeps a socket unit from listening, told before it is started."""

import os
import socket
import unittest
from typing import List

from remote_runtime.changes import Unknowable
from remote_runtime.effects import UnitEffect
from remote_runtime.uncertainty import Uncertainty
from remote_runtime.units.preview.socket_checks import SocketChecks

from ..fakes import DirectoryTest, context
from .fake_units import FakeUnits


class ListeningTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        self.context = context(noop=True)

    def told(self, *lines: str, **others: str) -> List[str]:
        """``others`` are socket units by the names before their endings."""
        texts = {"%s.socket" % name: "[Socket]\n%s\n" % text for name, text in others.items()}
        texts["x.socket"] = "[Socket]\n%s\n" % "\n".join(lines)
        units = FakeUnits(texts)
        looking = SocketChecks(self.context, units)
        found = looking.obstacles(units.definition("x.socket"))
        return [why.partition(": ")[2] for why in found]

    def test_paths(self) -> None:
        """Directories are made and a file is replaced; a directory is not, and a FIFO is left as it
        is.
        """
        self.write("file")
        os.mkfifo(self.path("fifo"), 0o600)
        os.chmod(self.path("fifo"), 0o600)
        other = "an existing file is not a FIFO with this mode"
        for line, name, expected in (
            ("ListenStream", "new/deep/socket", []),
            ("ListenStream", "file", []),
            ("ListenStream", "file/x", ["%s is not a directory" % self.path("file")]),
            ("ListenDatagram", "", ["it is a directory"]),
            ("ListenFIFO", "new", []),
            ("ListenFIFO", "file", [other]),
            ("ListenFIFO", "fifo", [other]),
            ("SocketMode=0600\nListenFIFO", "fifo", []),
            ("ListenSpecial", "file/x", []),
        ):
            self.assertEqual(self.told("%s=%s" % (line, self.path(name))), expected, (line, name))

    def test_a_port_that_is_taken(self) -> None:
        """At the same address, or where one of the two is any of them."""
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            port = server.getsockname()[1]
            taken = ["the address is in use"]
            for value, expected in (
                ("127.0.0.1:%d", taken), ("%d", taken), ("0.0.0.0:%d", taken), ("[::]:%d", taken),
                ("127.0.0.2:%d", []), ("[::]:%d\nBindIPv6Only=ipv6-only", []),
            ):  # fmt: skip
                self.assertEqual(self.told("ListenStream=" + value % port), expected, value)
            self.assertEqual(self.told("ListenDatagram=%d" % port), [])
            line = "ListenStream=127.0.0.1:%d" % port
            with self.assertRaises(Unknowable):
                self.told(line, "ReusePort=yes")
            self.context.expect([UnitEffect("y.service", active=False)], Uncertainty(), "t#a")
            with self.assertRaises(Unknowable):
                self.told(line)

    def test_a_port_of_a_socket_that_the_run_starts(self) -> None:
        """Who is started first has it."""
        other = "ListenStream=127.0.0.1:1\nListenStream=2"
        before = ["an earlier socket uses the address"]
        self.context.expect([UnitEffect("y.socket", active=True)], Uncertainty(), "t#a")
        for value, expected in (
            ("127.0.0.1:1", before), ("1", before), ("127.0.0.2:1", []), ("3", []),
            ("2", before), ("127.0.0.2:2", before),
        ):  # fmt: skip
            self.assertEqual(self.told("ListenStream=" + value, y=other), expected, value)
        self.assertEqual(self.told("ListenStream=2", z=other, y=""), [])
        with self.assertRaises(Unknowable):
            self.told("ListenStream=2", "ReusePort=yes", y=other)

    def test_an_address_of_another_host(self) -> None:
        """systemd binds to it only where it is asked to bind to any."""
        line = "ListenStream=203.0.113.9:80"
        self.assertEqual(self.told(line), ["this host does not have the address"])
        self.assertEqual(self.told(line, "FreeBind=yes"), [])
        self.assertEqual(self.told("ListenStream=@abstract", "ListenStream=vsock:2:1"), [])


if __name__ == "__main__":
    unittest.main()
