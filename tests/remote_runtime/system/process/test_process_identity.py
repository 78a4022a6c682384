import os
import subprocess
import unittest
from typing import Any

from remote_runtime.system.process import process_identity
from tests.remote_runtime.controller import within


def there(pid: int) -> process_identity.Process:
    """What is found of a process that runs."""
    found = process_identity.find(pid)
    assert found is not None
    return found


class ProcessesTest(unittest.TestCase):
    def start(self, *argv: str, **options: Any) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(argv, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_find(self) -> None:
        """A running process has a start, a session and a program; a zombie does not run."""
        process = self.start("sleep", "3600", start_new_session=True)
        self.assertTrue(within(10, lambda: there(process.pid).program == "sleep"))
        found = there(process.pid)
        self.assertEqual((found.session, found.start), (process.pid, found.start))
        self.assertGreaterEqual(found.start, there(os.getpid()).start)
        process.kill()
        self.assertTrue(within(10, lambda: process_identity.find(process.pid) is None))

    def test_name_that_looks_like_more(self) -> None:
        """A program may be called what it likes; its name is read to its end."""
        script = "open('/proc/self/comm', 'w').write('a) Z (b'); import time; time.sleep(3600)"
        process = self.start("python3", "-c", script)
        wanted = "a) Z (b"
        self.assertTrue(within(10, lambda: there(process.pid).program == wanted))

    def test_leader_at_pipes(self) -> None:
        """The leader of a session is found by its outputs, one of its children is not."""
        reading, writing = os.pipe()
        inode = os.fstat(writing).st_ino
        self.addCleanup(os.close, reading)
        leader = self.start("sh", "-c", "sleep 3600 & wait", stderr=writing, start_new_session=True)
        os.close(writing)
        found = process_identity.leader_at([inode])
        self.assertEqual(found.pid if found else 0, leader.pid)
        os.killpg(leader.pid, 9)
        leader.wait()
        self.assertIsNone(process_identity.leader_at([inode]))
