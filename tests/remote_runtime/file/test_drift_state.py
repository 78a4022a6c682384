import os
from typing import Any, List
from unittest import mock

from remote_runtime.managed_resources.managed_resource import ManagedResource
from remote_runtime.registry import Registry
from remote_runtime.system.files import Files
from tests.remote_runtime.fakes import BlobStore, DirectoryTest, blob, context, item, one, run_items

HUGE = 1 << 40  # bytes, of which none is on the disk


def refusing(files: Files, path: str, known: Any = None, follow: bool = False) -> str:
    """The hash of a file that is not huge."""
    known = known or files.status(path, follow)
    assert known is None or known.size < HUGE, "a huge file is hashed"
    return ORIGINAL(files, path, known, follow)


ORIGINAL = Files.sha256


class LargeTest(DirectoryTest):
    """A file that has become huge is not hashed where its size says that it is another one."""

    def setUp(self) -> None:
        super().setUp()
        patch = mock.patch.object(Files, "sha256", refusing)
        patch.start()
        self.addCleanup(patch.stop)

    def huge(self, name: str, more: int = 0) -> str:
        path = self.write(name)
        os.truncate(path, HUGE + more)
        return path

    def resource(self, **properties: Any) -> ManagedResource:
        return Registry(context()).create(self.file("a", **properties))

    def test_content(self) -> None:
        """It is replaced, and told by its size in changes, with and without a diff."""
        for private in (False, True):
            for noop in (True, False):
                self.huge("a")
                event = one(
                    run_items([self.file("a", content="x")], noop=noop, diff_private=private)
                )
                self.assertEqual((event["changed"], event["error"]), (True, []))
                change = event["changes"][0]
                self.assertEqual((change["what"], change["from"]), ("content", "%d bytes" % HUGE))
                self.assertTrue(change["to"].startswith("sha256:"))
                self.assertIn(
                    "too large for a diff: %d bytes before, 1 bytes" % HUGE, change["diff"]
                )
        self.assertEqual(self.read("a"), b"x")

    def test_scaffold(self) -> None:
        """So it is in a scaffold."""
        os.mkdir(self.path("s"))
        self.huge("s/big")
        tree = {"$tree": "x", "files": [{"path": "big", **blob(b"x")}], "directories": []}
        resource = item("scaffold", self.path("s"), properties={"source": tree})
        for noop in (True, False):
            event = one(run_items([resource], noop=noop, store=BlobStore(b"x")))
            self.assertEqual((event["changed"], event["error"]), (True, []))
            self.assertEqual(event["changes"][0]["from"], "%d bytes" % HUGE)
        self.assertEqual(self.read("s/big"), b"x")

    def test_what_a_plan_is_held_to(self) -> None:
        """A removal is held to size and time of it."""
        seen: List[Any] = []
        for more in (0, 1):
            path = self.huge("a", more)
            os.utime(path, (5, 5))
            resource = self.resource(ensure="absent")
            seen.append(resource.observation(resource.observe())["content"])
        self.assertEqual(seen, ["%d bytes of 5" % HUGE, "%d bytes of 5" % (HUGE + 1)])

    def test_what_is_remembered(self) -> None:
        """Attributes alone need no hash of any file, a content none of a file of another size."""
        self.huge("a")
        keys = ["ensure", "group", "mode", "owner"]
        self.assertEqual(sorted(self.resource().drift_state() or ()), keys)
        self.write("source", b"y")
        for properties in (
            {"content": "x"},
            {"content": blob(b"x")},
            {"source": self.path("source")},
            {"source": self.path("missing")},
        ):
            found = self.resource(**properties).drift_state()
            assert found is not None
            self.assertEqual(sorted(found), sorted([*keys, "size"]))
            self.assertEqual(found["size"], HUGE)


class SmallTest(DirectoryTest):
    def test_what_is_remembered(self) -> None:
        """Of a content its hash, too."""
        self.write("a", b"x")
        registry = Registry(context())
        resource = registry.create(self.file("a", content="y"))
        self.assertIn("checksum", resource.drift_state() or ())
        going = registry.create(self.file("a", ensure="absent"))
        self.assertEqual(len(going.observation(going.observe())["content"]), 64)
