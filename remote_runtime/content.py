"""The bytes that a file is to hold (target)."""

from typing import Generator

Chunks = Generator[bytes, None, None]


class Content(object):
    """Their hash and size, and a way to read them."""

    sha256 = ""
    size = 0

    @property
    def at_hand(self) -> bool:
        """Whether the bytes are in the memory."""
        return False

    def chunks(self) -> Chunks:
        """Yield the bytes."""
        raise NotImplementedError

    def read(self) -> bytes:
        """All bytes at once; only for a small content."""
        return b"".join(self.chunks())
