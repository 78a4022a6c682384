import os
from typing import Any, List
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.system.files import Files
from remote_runtime.system.kernel import parameters
from remote_runtime.system.kernel.parameters import Kernel
from tests.remote_runtime.fakes import DirectoryTest, failure_of


class KernelTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        patches: List[Any] = [
            mock.patch.object(parameters, "PROC", self.path("sys")),
            mock.patch.object(parameters, "ETC", self.path("etc")),
            mock.patch.object(parameters, "BESIDE", (self.path("run"), self.path("lib"))),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.acted = 0
        self.kernel = Kernel(Files(), lambda: self.acted)

    def put(self, name: str, text: str) -> str:
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        return self.write(name, text.encode())

    def test_values(self) -> None:
        """A value is read and written; what is not there has none; a directory is none."""
        path = self.put("sys/net/x", "4096\t1\n")
        self.assertEqual(self.kernel.value("net/x"), "4096\t1")
        self.assertIsNone(self.kernel.value("net/y"))
        self.assertIsNone(self.kernel.value("net/x/y"))
        self.assertIn("name one of: x", failure_of(self.kernel.value, "net").hint)
        self.assertEqual(self.kernel.names_beside("net/y"), ["x"])
        self.kernel.set_value("net/x", "7")
        self.assertEqual(self.read("sys/net/x"), b"7\n")
        os.remove(path)
        os.symlink("elsewhere", path)
        with self.assertRaises(ResourceError):
            self.kernel.set_value("net/x", "7")

    def test_what_cannot_be_set(self) -> None:
        """Why not: by the kernel, in a container, or for want of rights."""
        path = self.put("sys/net/x", "1\n")
        self.kernel.require_settable("net/x")
        with mock.patch("os.access", return_value=False):
            error = failure_of(self.kernel.require_settable, "net/x")
            self.assertIn("only root may set kernel parameters", str(error))
            read_only = mock.Mock(f_flag=os.ST_RDONLY)
            with mock.patch("os.statvfs", return_value=read_only):
                error = failure_of(self.kernel.require_settable, "net/x")
            self.assertIn("read-only here; this host may be a container", str(error))
            self.assertIn("live: false", error.hint)
            os.chmod(path, 0o444)
            error = failure_of(self.kernel.require_settable, "net/x")
            self.assertIn("the kernel does not allow changes to it", str(error))

    def test_order_of_the_files(self) -> None:
        """By name, whatever the directory; one of /etc hides others; sysctl.conf comes last."""
        self.put("etc/sysctl.d/50-a.conf", "a.b = 1\n")
        self.put("run/sysctl.d/10-b.conf", "a.b = 2\n")
        self.put("lib/sysctl.d/50-a.conf", "a.b = 3\n")
        self.put("lib/sysctl.d/60-c.conf", "a.b = 4\n")
        self.put("lib/sysctl.d/70-d.conf", "a.b = 5\n")
        self.put("lib/sysctl.d/README", "a.b = 6\n")
        self.put("etc/sysctl.conf", "a.b = 7\n")
        os.symlink("/dev/null", self.path("etc/sysctl.d/70-d.conf"))
        os.symlink("../sysctl.conf", self.path("etc/sysctl.d/99-sysctl.conf"))
        os.symlink("nowhere", self.path("etc/sysctl.d/98-x.conf"))
        found = self.kernel.settings("a/b")
        self.assertEqual([one.value for one in found], ["2", "1", "4", "7"])

    def test_settings_are_read_once(self) -> None:
        """Until something has changed the machine."""
        self.put("etc/sysctl.d/a.conf", "a.b = 1\na.c = 3\n")
        first = self.kernel.settings("a/b")
        self.put("etc/sysctl.d/a.conf", "a.b = 2\n")
        self.assertIs(self.kernel.settings("a/b"), first)
        self.assertEqual([one.value for one in self.kernel.settings("a/c")], ["3"])
        self.acted += 1
        self.assertEqual([one.value for one in self.kernel.settings("a/b")], ["2"])
        self.assertEqual(self.kernel.settings("a/c"), [])
