"""Folders whose renames are made to last."""

import errno
import os
import threading
from typing import Any, List
from unittest import mock

from remote_runtime.system.folder_syncs import FolderSyncs, sync_now
from tests.remote_runtime.fakes import FolderTest


class FolderSyncsTest(FolderTest):
    def opened(self, name: str) -> int:
        os.makedirs(self.path(name), exist_ok=True)
        descriptor = os.open(self.path(name), os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        return descriptor

    def synced(self, failing: int = 0) -> Any:
        """The inodes that are synced from now on; each fails with the error number."""
        found = []  # type: List[int]

        def sync(descriptor: int) -> None:
            found.append(os.fstat(descriptor).st_ino)
            if failing:
                raise OSError(failing, os.strerror(failing))

        patch = mock.patch("os.fsync", sync)
        patch.start()
        self.addCleanup(patch.stop)
        return found

    def inode(self, name: str) -> int:
        return os.stat(self.path(name)).st_ino

    def test_each_folder_once(self) -> None:
        """Of several renames in one folder the last sync counts; then nothing waits."""
        folders = [self.opened("a"), self.opened("a"), self.opened("b")]
        synced = self.synced()
        syncs = FolderSyncs()
        for folder in folders:
            syncs.add(folder)
        self.assertEqual(synced, [])
        syncs.sync()
        syncs.sync()
        self.assertEqual(sorted(synced), sorted([self.inode("a"), self.inode("b")]))

    def test_a_rename_after_the_sync_waits_for_the_next(self) -> None:
        """A folder that was synced is one again in which something may be lost."""
        folder = self.opened("a")
        synced = self.synced()
        syncs = FolderSyncs()
        for _ in range(2):
            syncs.add(folder)
            syncs.sync()
        self.assertEqual(synced, [self.inode("a")] * 2)

    def test_a_folder_that_may_be_written_and_not_read(self) -> None:
        """What cannot be opened to be synced, as a drop box, is synced with all that waits."""
        folder = self.opened("a")
        refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        syncs = FolderSyncs()
        with mock.patch("os.open", side_effect=refused), mock.patch("os.sync") as all_synced:
            sync_now(folder)
            all_synced.assert_called_once_with()
            syncs.add(folder)
            all_synced.assert_called_once_with()
            syncs.sync()
            self.assertEqual(all_synced.call_count, 2)

    def test_no_more_folders_wait_than_descriptors_are_for(self) -> None:
        """A run with a file in each of many folders does not run out of descriptors."""
        folders = [self.opened(str(number)) for number in range(150)]
        synced = self.synced()
        syncs = FolderSyncs()
        before = len(os.listdir("/proc/self/fd"))
        for folder in folders:
            syncs.add(folder)
            self.assertLess(len(os.listdir("/proc/self/fd")), before + 70)
        syncs.sync()
        self.assertEqual(len(set(synced)), 150)

    def test_a_run_that_never_pauses(self) -> None:
        """What is renamed during a sync waits for the next one: each sync comes to an end."""
        folder = self.opened("a")
        synced: List[int] = []
        syncs = FolderSyncs()

        def sync(descriptor: int) -> None:
            self.assertEqual(synced, [])
            synced.append(os.fstat(descriptor).st_ino)
            syncs.add(folder)

        syncs.add(folder)
        with mock.patch("os.fsync", sync):
            syncs.sync()
        again = self.synced()
        syncs.sync()
        self.assertEqual((synced, again), ([self.inode("a")],) * 2)

    def test_no_thread_is_to_be_had(self) -> None:
        """It is synced all the same."""
        folder = self.opened("a")
        synced = self.synced()
        syncs = FolderSyncs()
        syncs.add(folder)
        with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError):
            syncs.sync_while(self.fail, 60)
        self.assertEqual(synced, [self.inode("a")])

    def test_what_fails_is_told_after_all_were_tried(self) -> None:
        """One folder that cannot be synced keeps no other from it."""
        folders = [self.opened("a"), self.opened("b")]
        synced = self.synced(failing=errno.EIO)
        syncs = FolderSyncs()
        for folder in folders:
            syncs.add(folder)
        with self.assertRaisesRegex(OSError, "Input/output error"):
            syncs.sync()
        self.assertEqual(len(synced), 2)
        syncs.sync()

    def test_a_file_system_that_syncs_no_folders(self) -> None:
        """Where there is nothing to sync, nothing has failed."""
        folder = self.opened("a")
        synced = self.synced(failing=errno.EINVAL)
        sync_now(folder)
        self.assertEqual(len(synced), 1)

    def test_a_slow_disk(self) -> None:
        """While it takes its time the caller is called; whoever else syncs waits as well."""
        folder = self.opened("a")
        going = threading.Event()
        done = []  # type: List[str]

        def sync(descriptor: int) -> None:
            going.wait(60)
            done.append("synced")

        patch = mock.patch("os.fsync", sync)
        patch.start()
        self.addCleanup(patch.stop)
        syncs = FolderSyncs()
        syncs.add(folder)
        beats = []  # type: List[int]

        def beat() -> None:
            beats.append(len(done))
            if len(beats) == 3:
                going.set()

        syncs.sync_while(beat, 0.01)
        self.assertEqual((beats[:3], done), ([0, 0, 0], ["synced"]))
        syncs.sync_while(self.fail, 0.01)
