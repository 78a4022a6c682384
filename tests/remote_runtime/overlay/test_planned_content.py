"""What is kept of planned contents."""

import unittest
from typing import Generator

from remote_runtime.changes import Unknowable
from remote_runtime.content import Content
from remote_runtime.overlay.planned_content import MAX_BYTES, CachedContent, MemoryBudget


class Counted(Content):
    """Counts how often it is read."""

    sha256 = "abc"

    def __init__(self, size: int) -> None:
        self.size = size
        self.read_times = 0

    def chunks(self) -> Generator[bytes, None, None]:
        self.read_times += 1
        yield b"x" * self.size


class Unknown(Content):
    """Cannot be read."""

    size = 3

    def chunks(self) -> Generator[bytes, None, None]:
        raise Unknowable("it is in a package still")
        yield b""


class HeldTest(unittest.TestCase):
    def test_it_is_read_once(self) -> None:
        """However often it is looked at, its bytes are asked for once."""
        counted = Counted(3)
        held = CachedContent(counted, MemoryBudget())
        self.assertEqual([held.read(), held.read(), held.data()], [b"xxx"] * 3)
        self.assertEqual((counted.read_times, held.size, held.sha256), (1, 3, "abc"))

    def test_it_is_not_held_where_there_is_no_room(self) -> None:
        """A large content, or one too many, is read anew."""
        large = CachedContent(Counted(MAX_BYTES + 1), MemoryBudget())
        self.assertEqual((large.data(), len(large.read())), (None, MAX_BYTES + 1))
        room = MemoryBudget()
        room.left = 5
        first, second = CachedContent(Counted(3), room), CachedContent(Counted(3), room)
        self.assertEqual((first.data(), second.data(), second.read()), (b"xxx", None, b"xxx"))

    def test_what_only_the_push_has_is_not_held(self) -> None:
        """It has no bytes, and who begins to read it is told why."""
        held = CachedContent(Unknown(), MemoryBudget())
        self.assertIsNone(held.data())
        chunks = held.chunks()
        with self.assertRaises(Unknowable):
            next(chunks)
