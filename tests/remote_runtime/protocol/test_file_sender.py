import os
from typing import Any, Callable, Dict, List, Tuple

from tests.remote_runtime.controller import RuntimeTest
from tests.texts import expect_text

Sent = List[Tuple[int, str, bool]]


class FetchingTest(RuntimeTest):
    def setUp(self) -> None:
        super().setUp()
        os.makedirs(self.path("d/sub"))

    def fetch(self, *paths: str, **bounds: Any) -> Tuple[Dict[str, Any], Sent, bytes]:
        """The event, each file that was announced and whether it came whole, and all bytes."""
        target = self.target()
        given = dict({"max_size": 1 << 30, "max_total": 1 << 30}, paths=list(paths), **bounds)
        item = {"type": "fetch", "name": "x", "properties": given}
        (event,) = target.push(item, adhoc=True)
        begun = [(f["path"], "/".join(f["name"])) for f in target.of("file")]
        ends = [f["whole"] for f in target.of("file_end")]
        self.assertEqual(len(begun), len(ends))
        return event, [(*one, end) for one, end in zip(begun, ends)], b"".join(target.raw)

    def test_files(self) -> None:
        """Files are sent whole and in order, large ones in pieces."""
        data = os.urandom(700000)
        self.write("a", data)
        self.write("b", b"")
        event, sent, raw = self.fetch(self.path("a"), self.path("b"))
        self.assertEqual(sent, [(0, "", True), (1, "", True)])
        self.assertEqual(raw, data)
        self.assertEqual((event["status"], event["error"]), ("stable", []))
        lines = event["output"].splitlines()
        self.assertEqual(lines[0], "%s: 1 file, 700000 bytes" % self.path("a"))
        self.assertEqual(os.listdir(self.state), [])

    def test_a_directory_needs_the_option(self) -> None:
        """With it all files below are sent by their names; links and the like are left out."""
        self.write("d/x", b"1")
        self.write("d/sub/y", b"2")
        os.symlink("/etc", self.path("d/link"))
        os.mkfifo(self.path("d/fifo"))
        event, sent, _ = self.fetch(self.path("d"))
        self.assertEqual((sent, event["status"]), ([], "failed"))
        self.assertIn("--recursive", event["output"])
        event, sent, raw = self.fetch(self.path("d"), recursive=True)
        self.assertEqual(sent, [(0, "x", True), (0, "sub/y", True)])
        self.assertEqual(raw, b"12")
        expect_text(event["output"], self)

    def test_what_is_not_there_fails_its_path_only(self) -> None:
        """A link, a device and nothing at all are told; the other paths are fetched."""
        self.write("a", b"1")
        os.symlink("a", self.path("link"))
        event, sent, _ = self.fetch(self.path("no"), self.path("link"), "/dev/null", self.path("a"))
        self.assertEqual(sent, [(3, "", True)])
        whole, each = event["error"]
        self.assertEqual(whole, "3 of 4 paths could not be fetched")
        for words in ("does not exist", "is a symlink to a", "/dev/null is not a regular"):
            self.assertIn(words, event["output"])
            self.assertIn(words, each)

    def test_bounds(self) -> None:
        """What would be too much is not begun, and what has no size is cut off as not whole."""
        self.write("d/a", b"x" * 600)
        self.write("d/b", b"x" * 600)
        self.write("d/c", b"x" * 2000)
        event, sent, raw = self.fetch(self.path("d"), recursive=True, max_size=1000, max_total=1000)
        self.assertEqual((sent, len(raw)), ([(0, "a", True)], 600))
        self.assertIn("has 2000 bytes, more than the limit of 1000 (--max-size)", event["output"])
        self.assertIn(
            "has 600 bytes, more than the 400 that --max-total still allows", event["output"]
        )
        event, sent, _ = self.fetch("/proc/self/maps", max_size=10)
        self.assertEqual((sent, event["status"]), ([(0, "", False)], "failed"))

    def fetch_during(self, change: Callable[[str], None]) -> Tuple[Dict[str, Any], List[bool], int]:
        """The event of the fetch of 32 MiB that are changed once it has begun, whether each file
        came whole, and how many bytes."""
        self.write("a", b"")
        os.truncate(self.path("a"), 32 << 20)
        target = self.target()
        given = {"max_size": 1 << 30, "max_total": 1 << 30, "paths": [self.path("a")]}
        target.start({"type": "fetch", "name": "x", "properties": given}, adhoc=True)
        target.until("file")
        change(self.path("a"))
        target.until("done")
        ends = [end["whole"] for end in target.of("file_end")]
        return target.events[0], ends, sum(map(len, target.raw))

    def test_a_file_that_shrinks(self) -> None:
        """It is not whole, and the event says from what to what it shrank."""
        event, ends, _ = self.fetch_during(lambda path: os.truncate(path, 5))
        self.assertEqual((event["status"], ends), ("failed", [False]))
        self.assertIn("it shrank from 33554432 bytes to 5 while it was read", event["output"])

    def test_a_file_that_grows(self) -> None:
        """It is fetched as long as it was when it was opened, so it ends."""
        event, ends, count = self.fetch_during(lambda path: os.truncate(path, 64 << 20))
        self.assertEqual((event["status"], ends, count), ("stable", [True], 32 << 20))

    def test_a_name_that_cannot_be_shown_is_left_out(self) -> None:
        """Such a file is told, in words that can be shown, and its neighbours are fetched."""
        self.write("d/a", b"1")
        for name in (b"e\x1bvil", b"\xff"):
            with open(os.path.join(os.fsencode(self.path("d")), name), "wb"):
                pass
        event, sent, _ = self.fetch(self.path("d"), recursive=True)
        self.assertEqual((sent, event["status"]), ([(0, "a", True)], "failed"))
        self.assertIn("not a printable name", event["output"])
        self.assertNotIn("\x1b", event["output"])
