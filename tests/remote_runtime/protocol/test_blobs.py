import hashlib
import unittest
from typing import Tuple

from remote_runtime.errors import ProtocolError
from remote_runtime.protocol.blobs import BATCH, COUNT, Blobs, Part
from tests.remote_runtime.fakes import BlobStore, blob, failure_of


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class BlobsTest(unittest.TestCase):
    def announced(self, *contents: bytes) -> Tuple[BlobStore, Blobs]:
        store = BlobStore(*contents)
        blobs = Blobs(store.fetch)
        blobs.look_ahead(lambda: self.announce(blobs, *contents))
        return store, blobs

    def announce(self, blobs: Blobs, *contents: bytes) -> None:
        for content in contents:
            blobs.announce(sha(content), len(content))

    def test_looks_ahead_once_a_blob_is_needed(self) -> None:
        """Where nothing differs nobody looks what does, and then it is looked for once."""
        store = BlobStore(b"a", b"b")
        blobs, looks = Blobs(store.fetch), []
        blobs.look_ahead(lambda: looks.append(store.asked[:]))
        self.assertEqual((store.asked, looks), ([], []))
        for content in (b"a", b"b"):
            blobs.read(sha(content), 1)
        self.assertEqual(looks, [[]])

    def test_one_batch(self) -> None:
        """Small blobs come in one request and are not asked for again."""
        contents = [b"a", b"b", b"c"]
        store, blobs = self.announced(*contents)
        self.assertEqual([b"".join(blobs.chunks(sha(c), 1)) for c in contents], contents)
        self.assertEqual(store.asked, [[sha(c) for c in contents]])

    def test_next_batch(self) -> None:
        """Beyond 1 MiB the next batch is asked for when its first blob is needed."""
        contents = [bytes([n]) * (BATCH // 4) for n in range(10)]
        store, blobs = self.announced(*contents)
        for content in contents:
            self.assertEqual(b"".join(blobs.chunks(sha(content), len(content))), content)
        self.assertEqual([len(asked) for asked in store.asked], [4, 4, 2])

    def test_many(self) -> None:
        """However small blobs are, the request for one batch of them fits a frame."""
        contents = [b"%d" % n for n in range(COUNT + 10)]
        store, blobs = self.announced(*contents)
        for content in contents:
            self.assertEqual(b"".join(blobs.chunks(sha(content), len(content))), content)
        self.assertEqual([len(asked) for asked in store.asked], [COUNT, 10])

    def test_large(self) -> None:
        """A blob of more than 1 MiB is never in a batch."""
        large = b"x" * (BATCH + 1)
        store, blobs = self.announced(b"a", large)
        blobs.read(sha(b"a"), 1)
        self.assertEqual(store.asked, [[sha(b"a")]])
        self.assertEqual(b"".join(blobs.chunks(sha(large), len(large))), large)

    def test_gone(self) -> None:
        """A blob that the controller no longer has fails alone in its batch."""
        store, blobs = self.announced(b"a", b"b")
        store.held.pop(sha(b"a"))
        self.assertIn("removed", str(failure_of(blobs.read, sha(b"a"), 1)))
        self.assertEqual(blobs.read(sha(b"b"), 1), b"b")
        self.assertEqual(len(store.asked), 1)

    def test_wrong_bytes(self) -> None:
        """Bytes of another hash than the one asked for break the protocol."""
        value = blob(b"right")
        blobs = Blobs(lambda shas: (Part(s, [b"wrong"]) for s in shas))
        with self.assertRaises(ProtocolError):
            blobs.read(value["$blob"], value["size"])
