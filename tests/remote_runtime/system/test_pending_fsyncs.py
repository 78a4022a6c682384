"""Directories whose renames are made to last."""

import errno
import os
import threading
from typing import Any, List
from unittest import mock

from remote_runtime.system.pending_fsyncs import DirectorySyncs, sync_files, sync_now
from tests.remote_runtime.fakes import DirectoryTest


class DirectorySyncsTest(DirectoryTest):
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

    def test_each_directory_once(self) -> None:
        """Of several renames in one directory the last sync counts; then nothing waits."""
        directories = [self.opened("a"), self.opened("a"), self.opened("b")]
        synced = self.synced()
        syncs = DirectorySyncs()
        for directory in directories:
            syncs.add(directory)
        self.assertEqual(synced, [])
        syncs.sync()
        syncs.sync()
        self.assertEqual(sorted(synced), sorted([self.inode("a"), self.inode("b")]))

    def test_a_file_by_itself(self) -> None:
        """One whose attributes changed is synced, also after its descriptor is closed."""
        descriptor = os.open(self.write("f"), os.O_RDONLY)
        syncs = DirectorySyncs()
        syncs.add(descriptor)
        os.close(descriptor)
        synced = self.synced()
        syncs.sync()
        self.assertEqual(synced, [self.inode("f")])

    def test_a_rename_after_the_sync_waits_for_the_next(self) -> None:
        """A directory that was synced is one again in which something may be lost."""
        directory = self.opened("a")
        synced = self.synced()
        syncs = DirectorySyncs()
        for _ in range(2):
            syncs.add(directory)
            syncs.sync()
        self.assertEqual(synced, [self.inode("a")] * 2)

    def test_a_directory_that_may_be_written_and_not_read(self) -> None:
        """What cannot be opened to be synced, as a drop box, is synced with all that waits."""
        directory = self.opened("a")
        refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        syncs = DirectorySyncs()
        with mock.patch("os.open", side_effect=refused), mock.patch("os.sync") as all_synced:
            sync_now(directory)
            all_synced.assert_called_once_with()
            syncs.add(directory)
            all_synced.assert_called_once_with()
            syncs.sync()
            self.assertEqual(all_synced.call_count, 2)

    def test_no_more_directories_wait_than_descriptors_are_for(self) -> None:
        """A run with a file in each of many directories does not run out of descriptors."""
        directories = [self.opened(str(number)) for number in range(150)]
        synced = self.synced()
        syncs = DirectorySyncs()
        before = len(os.listdir("/proc/self/fd"))
        for directory in directories:
            syncs.add(directory)
            self.assertLess(len(os.listdir("/proc/self/fd")), before + 70)
        syncs.sync()
        self.assertEqual(len(set(synced)), 150)

    def test_a_run_that_never_pauses(self) -> None:
        """What is renamed during a sync waits for the next one: each sync comes to an end."""
        directory = self.opened("a")
        synced: List[int] = []
        syncs = DirectorySyncs()

        def sync(descriptor: int) -> None:
            self.assertEqual(synced, [])
            synced.append(os.fstat(descriptor).st_ino)
            syncs.add(directory)

        syncs.add(directory)
        with mock.patch("os.fsync", sync):
            syncs.sync()
        again = self.synced()
        syncs.sync()
        self.assertEqual((synced, again), ([self.inode("a")],) * 2)

    def test_no_thread_is_to_be_had(self) -> None:
        """It is synced all the same."""
        directory = self.opened("a")
        synced = self.synced()
        syncs = DirectorySyncs()
        syncs.add(directory)
        with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError):
            syncs.sync_while(self.fail, 60)
        self.assertEqual(synced, [self.inode("a")])

    def test_what_fails_is_told_after_all_were_tried(self) -> None:
        """One directory that cannot be synced keeps no other from it."""
        directories = [self.opened("a"), self.opened("b")]
        synced = self.synced(failing=errno.EIO)
        syncs = DirectorySyncs()
        for directory in directories:
            syncs.add(directory)
        with self.assertRaisesRegex(OSError, "Input/output error"):
            syncs.sync()
        self.assertEqual(len(synced), 2)
        syncs.sync()

    def test_a_file_system_that_syncs_no_directories(self) -> None:
        """Where there is nothing to sync, nothing has failed."""
        directory = self.opened("a")
        synced = self.synced(failing=errno.EINVAL)
        sync_now(directory)
        self.assertEqual(len(synced), 1)

    def test_a_slow_disk(self) -> None:
        """While it takes its time the caller is called; whoever else syncs waits as well."""
        directory = self.opened("a")
        going = threading.Event()
        done = []  # type: List[str]

        def sync(descriptor: int) -> None:
            going.wait(60)
            done.append("synced")

        patch = mock.patch("os.fsync", sync)
        patch.start()
        self.addCleanup(patch.stop)
        syncs = DirectorySyncs()
        syncs.add(directory)
        beats = []  # type: List[int]

        def beat() -> None:
            beats.append(len(done))
            if len(beats) == 3:
                going.set()

        syncs.sync_while(beat, 0.01)
        self.assertEqual((beats[:3], done), ([0, 0, 0], ["synced"]))
        syncs.sync_while(self.fail, 0.01)

    def test_files_at_a_time(self) -> None:
        """Each is synced once; the first that cannot be is the error, and nothing goes on then."""
        at = self.opened("a")
        names = ["f%d" % number for number in range(100)]
        made = [self.inode(os.path.relpath(self.write("a/" + name), self.root)) for name in names]
        for count in (0, 1, 100):
            synced = self.synced()
            sync_files(at, names[:count], lambda: None)
            self.assertEqual(sorted(synced), sorted(made[:count]))
        with self.assertRaises(FileNotFoundError):
            sync_files(at, [*names, "gone"], lambda: None)

    def test_files_of_a_run_that_is_ended(self) -> None:
        """What ends the run is raised once nothing is synced any more."""
        at, held = self.opened("a"), threading.Event()
        names = [os.path.basename(self.write("a/f%d" % number)) for number in range(50)]
        begun: List[int] = []
        ended: List[int] = []

        def sync(descriptor: int) -> None:
            begun.append(descriptor)
            held.wait(10)
            ended.append(descriptor)

        def beat() -> None:
            held.set()
            raise KeyboardInterrupt

        with mock.patch("os.fsync", sync), self.assertRaises(KeyboardInterrupt):
            sync_files(at, names, beat)
        self.assertEqual(len(begun), len(ended))
