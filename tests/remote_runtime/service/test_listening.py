"""What keeps a socket unit from listening, told before it is started."""

import os
import socket
import unittest
from typing import List

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Doubt, UnitEffect
from remote_runtime.resources.service.listening import Listening

from ..fakes import FolderTest, context
from .fake_units import FakeUnits


class ListeningTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.context = context(noop=True)

    def told(self, *lines: str) -> List[str]:
        text = "[Socket]\n%s\n" % "\n".join(lines)
        unit = FakeUnits({"x.socket": text}).definition("x.socket")
        return [why.partition(": ")[2] for why in Listening(self.context).obstacles(unit)]

    def test_paths(self) -> None:
        """Folders are made and a file is replaced; a folder is not, and a FIFO is left as it is."""
        self.write("file")
        os.mkfifo(self.path("fifo"), 0o600)
        os.chmod(self.path("fifo"), 0o600)
        other = "what is there is not a FIFO of this mode"
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
            taken = ["something else does"]
            for value, expected in (
                ("127.0.0.1:%d", taken), ("%d", taken), ("0.0.0.0:%d", taken), ("[::]:%d", taken),
                ("127.0.0.2:%d", []), ("[::]:%d\nBindIPv6Only=ipv6-only", []),
            ):  # fmt: skip
                self.assertEqual(self.told("ListenStream=" + value % port), expected, value)
            self.assertEqual(self.told("ListenDatagram=%d" % port), [])
            line = "ListenStream=127.0.0.1:%d" % port
            with self.assertRaises(Unknowable):
                self.told(line, "ReusePort=yes")
            self.context.expect([UnitEffect("y.service", active=False)], Doubt(), "t#a")
            with self.assertRaises(Unknowable):
                self.told(line)

    def test_an_address_of_another_host(self) -> None:
        """systemd binds to it only where it is asked to bind to any."""
        line = "ListenStream=203.0.113.9:80"
        self.assertEqual(self.told(line), ["this host has no such address"])
        self.assertEqual(self.told(line, "FreeBind=yes"), [])
        self.assertEqual(self.told("ListenStream=@abstract", "ListenStream=vsock:2:1"), [])


if __name__ == "__main__":
    unittest.main()
