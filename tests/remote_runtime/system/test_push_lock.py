import json
import os
import signal
import subprocess
import time
import unittest
from typing import Any, List

from remote_runtime.cancellation import Cancellation
from remote_runtime.errors import HostError
from remote_runtime.system.push_lock import Lock, directory_of
from tests.remote_runtime.fakes import ROOT, DirectoryTest
from tests.remote_runtime.system.process.test_process_identity import there
from tests.texts import expect_text

HOLDER = {"run_id": "R1", "user": "alice@desk", "since": "2026-01-01T00:00:00.250000Z"}


class LockTest(DirectoryTest):
    def lock(self) -> Lock:
        return Lock(self.path("deep", "ccm.lock"), Cancellation())

    def test_second_waits_and_fails(self) -> None:
        """A second run says whom it waits for, and fails with run, user and since when."""
        first, second = self.lock(), self.lock()
        told: List[str] = []
        first.acquire(HOLDER, 0, told.append)
        self.addCleanup(first.release)
        started = time.time()
        with self.assertRaisesRegex(HostError, "run R1, started by alice@desk at 2026-01-01T00:00"):
            second.acquire(dict(HOLDER, run_id="R2"), 0.5, told.append)
        self.assertGreaterEqual(time.time() - started, 0.5)
        expect_text(told, self)

    def test_directory_of_a_user(self) -> None:
        """Where a user's lock is does not hang on XDG_RUNTIME_DIR, which cron does not set."""
        uid = os.geteuid()
        home = os.path.join(os.path.expanduser("~"), ".cache")
        self.assertEqual(directory_of(uid, self.root), home)
        os.mkdir(self.path(str(uid)))
        for given in (None, "/elsewhere"):
            saved = os.environ.pop("XDG_RUNTIME_DIR", None)
            try:
                if given:
                    os.environ["XDG_RUNTIME_DIR"] = given
                self.assertEqual(directory_of(uid, self.root), self.path(str(uid)))
            finally:
                os.environ.pop("XDG_RUNTIME_DIR", None)
                if saved is not None:
                    os.environ["XDG_RUNTIME_DIR"] = saved

    def test_released(self) -> None:
        """A lock that was given back, or whose file is left over, is free."""
        first, second = self.lock(), self.lock()
        holders: List[str] = []
        first.acquire(HOLDER, 0, holders.append)
        first.release()
        second.acquire(HOLDER, 0, holders.append)
        second.release()
        self.assertEqual(holders, [])

    def test_something_else_in_its_place(self) -> None:
        """A pipe or a directory where the lock's file belongs is told, with what to do."""
        os.mkdir(self.path("deep"))
        os.mkfifo(self.path("deep", "ccm.lock"))
        with self.assertRaisesRegex(HostError, "it is not a regular file .remove it") as caught:
            self.lock().acquire(HOLDER, 0, self.fail)
        self.assertEqual(caught.exception.kind, "host.lock")
        os.unlink(self.path("deep", "ccm.lock"))
        os.mkdir(self.path("deep", "ccm.lock"))
        with self.assertRaisesRegex(HostError, "could not open the lock"):
            self.lock().acquire(HOLDER, 0, self.fail)

    @unittest.skipUnless(ROOT, "only root gives files away")
    def test_file_of_somebody_else(self) -> None:
        """A lock's file that another user made, who could hold it for ever, is not used."""
        os.mkdir(self.path("deep"))
        os.chown(self.write("deep/ccm.lock"), 65534, 65534)
        with self.assertRaisesRegex(HostError, "belongs to user 65534"):
            self.lock().acquire(HOLDER, 0, self.fail)

    def test_unreadable_text(self) -> None:
        """A lock that nobody holds is free, whatever its file contains."""
        os.mkdir(self.path("deep"))
        holders: List[str] = []
        for text in (b"", b"{", b"[" * 4096, b"\xff\x00", b'{"command": {"pid": "x"}}', b"[1]"):
            self.write("deep/ccm.lock", text)
            lock = self.lock()
            lock.acquire(HOLDER, 0, holders.append)
            lock.release()
        self.assertEqual(holders, [])

    def left_behind(self, command: "subprocess.Popen[bytes]", **told: Any) -> None:
        """A free lock whose file says that a run was killed while this command was in flight."""
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        first = self.lock()
        first.acquire(HOLDER, 0, self.fail)
        if told:
            first.starting(list(told["pipes"]))
        else:
            first.started(command.pid)
        first.release()

    def sleeper(self, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(["sleep", "3600"], start_new_session=True, **options)

    def test_command_left_behind_is_waited_for(self) -> None:
        """A command that outlived its run is named, then waited for, then the lock is free."""
        command = self.sleeper()
        self.left_behind(command)
        name = "process %d .sleep. of run R1, started by alice@desk at " % command.pid
        with self.assertRaisesRegex(HostError, "a command is in progress: " + name) as caught:
            self.lock().acquire(dict(HOLDER, run_id="R2"), 0.1, lambda text: None)
        self.assertEqual(caught.exception.kind, "host.locked")
        third = self.lock()
        told = []

        def end(text: str) -> None:
            told.append(text)
            command.send_signal(signal.SIGKILL)

        third.acquire(dict(HOLDER, run_id="R3"), 60, end)
        third.release()
        self.assertRegex(told[0], "^waiting for " + name)

    def test_command_that_was_just_being_started(self) -> None:
        """A run that was killed before it could note a command's number has noted its pipes."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        command = self.sleeper(stdout=writing, stderr=writing)
        inode = os.fstat(writing).st_ino
        os.close(writing)
        self.left_behind(command, pipes=[inode, inode])
        with self.assertRaisesRegex(HostError, "process %d .sleep." % command.pid):
            self.lock().acquire(HOLDER, 0, self.fail)

    def test_another_process_of_that_number(self) -> None:
        """A process that began at another time, or before a restart, is not that command."""
        command = self.sleeper()
        self.left_behind(command)
        path = self.path("deep", "ccm.lock")
        record = json.loads(self.read("deep/ccm.lock").decode())
        self.assertEqual(record["command"]["start"], there(command.pid).start)
        other = dict(record["command"], start=record["command"]["start"] + 1)
        for text in (dict(record, command=other), dict(record, boot="another")):
            self.write("deep/ccm.lock", json.dumps(text).encode())
            lock = self.lock()
            lock.acquire(HOLDER, 0, self.fail)
            lock.release()
        self.assertEqual(os.stat(path).st_size, 4096)
