import os
import time

from remote_runtime.cancellation import Cancellation
from remote_runtime.errors import HostError
from remote_runtime.system.locks import Lock, folder_of
from tests.remote_runtime.fakes import FolderTest

HOLDER = {"run_id": "R1", "user": "alice@desk", "since": "2026-01-01T00:00:00Z"}


class LockTest(FolderTest):
    def lock(self) -> Lock:
        return Lock(self.path("deep", "ccm.lock"), Cancellation())

    def test_second_waits_and_fails(self) -> None:
        """A second run says whom it waits for, and fails with run, user and since when."""
        first, second, told = self.lock(), self.lock(), []
        first.acquire(HOLDER, 0, told.append)
        self.addCleanup(first.release)
        started = time.time()
        with self.assertRaisesRegex(HostError, "run R1 of alice@desk, since 2026-01-01T00:00:00Z"):
            second.acquire(dict(HOLDER, run_id="R2"), 0.5, told.append)
        self.assertGreaterEqual(time.time() - started, 0.5)
        self.assertEqual(told, ["waiting for run R1 of alice@desk, since 2026-01-01T00:00:00Z"])

    def test_folder_of_a_user(self) -> None:
        """Where a user's lock is does not hang on XDG_RUNTIME_DIR, which cron does not set."""
        uid = os.geteuid()
        home = os.path.join(os.path.expanduser("~"), ".cache")
        self.assertEqual(folder_of(uid, self.root), home)
        os.mkdir(self.path(str(uid)))
        for given in (None, "/elsewhere"):
            saved = os.environ.pop("XDG_RUNTIME_DIR", None)
            try:
                if given:
                    os.environ["XDG_RUNTIME_DIR"] = given
                self.assertEqual(folder_of(uid, self.root), self.path(str(uid)))
            finally:
                os.environ.pop("XDG_RUNTIME_DIR", None)
                if saved is not None:
                    os.environ["XDG_RUNTIME_DIR"] = saved

    def test_released(self) -> None:
        """A lock that was given back, or whose file is left over, is free."""
        first, second = self.lock(), self.lock()
        first.acquire(HOLDER, 0, self.fail)
        first.release()
        second.acquire(HOLDER, 0, self.fail)
        second.release()
