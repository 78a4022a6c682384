"""Which processes run as a user; they are made by this test."""

import os
import subprocess
import unittest
from typing import Any, List
from unittest import mock

from remote_runtime.host.machine.accounts import processes
from remote_runtime.system.account_files import User
from remote_runtime.system.paths import content_of
from tests.remote_runtime.fakes import PYTHON, ROOT

UID = 54321
SLEEP = "print(flush=True); import time; time.sleep(60)"
THREAD = """
import ctypes, platform, threading
number = {"x86_64": 117, "aarch64": 147}[platform.machine()]
def other():
    ctypes.CDLL(None).syscall(number, %d, %d, %d)
    print(flush=True)
    time.sleep(60)
import time
threading.Thread(target=other, daemon=True).start()
time.sleep(60)
""" % (UID, UID, UID)


@unittest.skipUnless(ROOT, "needs root")
class ProcessesTest(unittest.TestCase):
    def running(self, script: str) -> int:
        """The number of a process that has begun."""
        process = subprocess.Popen([PYTHON, "-c", script], stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        self.addCleanup(process.stdout.close)
        process.stdout.readline()
        return process.pid

    def found(self) -> List[int]:
        return processes(User("x", UID, UID))

    def test_each_number_of_a_process(self) -> None:
        """The real, the effective and the saved one count."""
        for ids in ((UID, 0, 0), (0, UID, 0), (0, 0, UID)):
            pid = self.running("import os; os.setresuid(%d, %d, %d); " % ids + SLEEP)
            self.assertIn(pid, self.found(), ids)

    def test_threads(self) -> None:
        """A thread may have another user than its process."""
        pid = self.running(THREAD)
        self.assertIn(pid, self.found())

    def test_containers(self) -> None:
        """What has another root directory is not of this host."""
        pid = self.running("import os; os.chroot('/proc'); os.setuid(%d); " % UID + SLEEP)
        self.assertNotIn(pid, self.found())

    def test_another_root_of_a_login(self) -> None:
        """A user who gave a process another root directory still uses the host."""
        pid = self.running("import os; os.chroot('/proc'); os.setuid(%d); " % UID + SLEEP)
        for told in (
            {"cgroup": b"0::/user.slice/user-%d.slice/session-1.scope\n" % UID, "loginuid": b""},
            {"cgroup": b"", "loginuid": b"%d" % UID},
        ):

            def content(path: str, told: Any = told) -> bytes:
                name = os.path.basename(path)
                return bytes(told[name]) if name in told else content_of(path)

            with mock.patch("remote_runtime.host.machine.accounts.content_of", content):
                self.assertIn(pid, self.found(), told)

    def test_roots_that_cannot_be_seen(self) -> None:
        """A root without CAP_SYS_PTRACE judges by the numbers alone."""
        pid, stat = self.running("import os; os.setuid(%d); " % UID + SLEEP), os.stat

        def denied(path: Any, **options: Any) -> Any:
            if str(path).startswith("/proc/"):
                raise PermissionError(13, "Permission denied")
            return stat(path, **options)

        with mock.patch("os.stat", denied):
            self.assertIn(pid, self.found())
