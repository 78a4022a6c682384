"""Files of a run of small changes share the wait for the disk."""

import os
import unittest
from typing import Any, Callable, Dict, List, Optional

from remote_runtime.system.files import Files
from remote_runtime.system.temporary_file import Temporary
from tests.remote_runtime.fakes import BlobStore, DirectoryTest, blob, context, item, run_items


class Noting(Temporary):
    """Notes when it is written, synced and put at its place."""

    notes: List[str] = []
    on_put: Callable[[str], None] = staticmethod(lambda name: None)

    def _note(self, what: str) -> None:
        self.notes.append("%s %s" % (what, os.path.basename(self._target)))

    def dress(self, *given: Any) -> None:
        super().dress(*given)
        self._note("write")

    def sync(self) -> None:
        super().sync()
        self._note("sync")

    def commit(self) -> None:
        super().commit()
        self._note("put")
        self.on_put(os.path.basename(self._target))


def noting(on_put: Optional[Callable[[str], None]] = None) -> Any:
    """Files whose temporary ones are noted in ``notes``."""

    class Noted(Noting):
        notes: List[str] = []

    if on_put is not None:
        Noted.on_put = staticmethod(on_put)

    class NotingFiles(Files):
        notes = Noted.notes

        def temporary(self, path: str, beside: Optional[Temporary] = None) -> Temporary:
            name = self.unfinished.name(path)
            place = self.place(path, "write")
            return Noted(path, place, registered=self._temporary, unique=name)

    return NotingFiles()


class AheadTest(DirectoryTest):
    def run_all(self, items: List[Any], **settings: Any) -> List[str]:
        return [event["status"] for event in run_items(items, **settings)]

    def hidden(self) -> List[str]:
        return [name for name in os.listdir(self.root) if name.startswith(".")]

    def test_files_in_a_row_share_a_sync(self) -> None:
        """All are written before the first is synced, each is synced before it is at its place."""
        files = noting()
        items = [self.file("f%d" % n, n, content="text %d" % n, mode="0640") for n in range(3)]
        self.assertEqual(self.run_all(items, files=files), ["changed"] * 3)
        written, synced, put = (
            ["%s f%d" % (what, n) for n in range(3)] for what in ("write", "sync", "put")
        )
        self.assertEqual(files.notes, written + synced + put)
        self.assertEqual(
            [self.read("f%d" % n) for n in range(3)], [b"text 0", b"text 1", b"text 2"]
        )
        self.assertEqual({os.stat(self.path("f%d" % n)).st_mode & 0o777 for n in range(3)}, {0o640})
        self.assertEqual(self.hidden(), [])

    def test_blobs_are_asked_for_once(self) -> None:
        """What is written before its turn is shown at its turn, and fetched with the others."""
        contents = [b"text %d\n" % n for n in range(3)]
        store = BlobStore(*contents)
        items = [self.file("f%d" % n, n, content=blob(c)) for n, c in enumerate(contents)]
        files = noting()
        ctx = context(items, store, files=files, diff=True)
        for one in items:
            ctx.blobs.announce(one.properties["content"]["$blob"], 7)
        events = run_items(items, shared=ctx)
        self.assertEqual(len(store.asked), 1)
        self.assertEqual([note.split()[0] for note in files.notes[:3]], ["write"] * 3)
        self.assertIn("+text 2", events[2]["changes"][-1]["diff"])
        self.assertEqual(self.read("f2"), b"text 2\n")

    def test_what_is_as_desired_stands_in_no_ones_way(self) -> None:
        """Files that need no change are passed over, and are not written."""
        self.write("f1", b"x")
        files = noting()
        items = [self.file("f%d" % n, n, content="x") for n in range(3)]
        self.assertEqual(self.run_all(items, files=files), ["changed", "stable", "changed"])
        self.assertEqual(files.notes[:2], ["write f0", "write f2"])

    def test_others_see_nothing_of_it(self) -> None:
        """What is behind a command, a check, a requirement or another type is not written yet."""
        listing = self.path("listing")
        look = {"command": "ls -A %s > %s" % (self.root, listing)}
        between: Dict[str, Any] = {
            "exec": item("exec", "ls", 1, provider="shell", properties=look),
            "validate": self.file("v", 1, content="x", validate="sh -c 'ls -A %s>%s' {}"),
            "require": self.file("r", 1, content="x", require=("file#" + self.path("a"),)),
            "directory": self.file("d", 1, ensure="directory"),
        }
        for name, second in between.items():
            with self.subTest(name):
                files = noting()
                items = [self.file("a", 0, content=name), second, self.file("b", 2, content=name)]
                self.run_all(items, files=files)
                self.assertNotIn("write b", files.notes[: files.notes.index("put a")])
        with open(listing) as file:
            self.assertNotIn("ccm-", file.read())

    def test_another_one_was_there_first(self) -> None:
        """What is not as it was when the file was written is looked at and replaced anew."""

        def meddle(name: str) -> None:
            if name == "f0":
                self.write("f1", b"theirs")
                os.setxattr(self.path("f1"), "user.theirs", b"kept")

        files = noting(meddle)
        items = [self.file("f%d" % n, n, content="ours") for n in range(3)]
        try:
            os.setxattr(self.root, "user.probe", b"")
        except OSError:
            self.skipTest("this file system has no attributes of users")
        self.assertEqual(self.run_all(items, files=files), ["changed"] * 3)
        self.assertEqual(self.read("f1"), b"ours")
        self.assertEqual(os.getxattr(self.path("f1"), "user.theirs"), b"kept")
        self.assertEqual(files.notes.count("write f1"), 2)
        self.assertEqual(files.notes.count("write f2"), 1)
        self.assertEqual(self.hidden(), [])

    def test_another_one_laid_hands_on_what_is_on_its_way(self) -> None:
        """What was written for a turn to come and is gone or not as it was is written anew."""

        def meddle(name: str) -> None:
            if name != "f0":
                return
            for hidden in self.hidden():
                if ".f1." in hidden:
                    os.unlink(self.path(hidden))
                elif ".f2." in hidden:
                    self.write(hidden, b"theirs")
                elif ".f3." in hidden:
                    os.chmod(self.path(hidden), 0o666)

        files = noting(meddle)
        items = [self.file("f%d" % n, n, content="ours") for n in range(5)]
        self.assertEqual(self.run_all(items, files=files), ["changed"] * 5)
        self.assertEqual({self.read("f%d" % n) for n in range(5)}, {b"ours"})
        self.assertEqual([files.notes.count("write f%d" % n) for n in range(5)], [1, 2, 2, 2, 1])
        self.assertEqual(self.hidden(), [])

    def test_the_directory_was_replaced(self) -> None:
        """A file that was written in a directory that is elsewhere by now is written anew."""
        os.mkdir(self.path("d"))

        def meddle(name: str) -> None:
            if name == "f0":
                os.rename(self.path("d"), self.path("old"))
                os.mkdir(self.path("d"))

        names = ("f0", "d/f1")
        items = [self.file(name, n, content="x") for n, name in enumerate(names)]
        self.assertEqual(self.run_all(items, files=noting(meddle)), ["changed"] * 2)
        self.assertEqual(os.listdir(self.path("d")), ["f1"])
        self.assertEqual(os.listdir(self.path("old")), [])

    def test_one_that_was_not_needed_is_gone_for_who_comes_next(self) -> None:
        """A file that is as desired by its turn leaves nothing behind for the turn after."""

        def put(name: str) -> None:
            if name == "f1":
                self.write("d/f2", b"x")

        os.mkdir(self.path("d"))
        look = {"command": "ls -A %s" % self.path("d")}
        items = [
            self.file("d/f1", 0, content="x"),
            self.file("d/f2", 1, content="x"),
            item("exec", "ls", 2, provider="shell", properties=look),
        ]
        events = run_items(items, files=noting(put))
        self.assertEqual([e["status"] for e in events], ["changed", "stable", "changed"])
        self.assertEqual(events[2]["output"].split(), ["f1", "f2"])

    def test_one_that_cannot_be_written(self) -> None:
        """The trouble of a turn to come is told at that turn, and nobody else's."""
        items = [
            self.file("f0", 0, content="x"),
            self.file("n" * 300, 1, content="x"),
            self.file("gone/f2", 2, content="x"),
            self.file("f3", 3, content="x"),
        ]
        self.assertEqual(self.run_all(items), ["changed", "failed", "failed", "changed"])
        self.assertEqual(self.hidden(), [])

    def test_a_preview_writes_nothing(self) -> None:
        """Neither at its place nor beside it."""
        items = [self.file("f%d" % n, n, content="x") for n in range(2)]
        self.run_all(items, noop=True)
        self.assertEqual(os.listdir(self.root), [])

    def test_many(self) -> None:
        """A long run is written in parts, which hold few descriptors."""
        files = noting()
        items = [self.file("f%d" % n, n, content="x") for n in range(150)]
        self.assertEqual(self.run_all(items, files=files), ["changed"] * 150)
        heads = [n for n, note in enumerate(files.notes) if note == "put f0"]
        self.assertLess(files.notes[: heads[0]].count("write f100"), 1)
        self.assertEqual(len(os.listdir(self.root)), 150)


if __name__ == "__main__":
    unittest.main()
