"""The desired bytes of a file (target)."""

from typing import Any, Generator

from remote_runtime.errors import ResourceError
from remote_runtime.stdlib_light.sha256_digest import sha256

Chunks = Generator[bytes, None, None]


class Content(object):
    """The hash and size of bytes, and a way to read them."""

    sha256 = ""
    size = 0
    uncertainty: Any = None
    """In a preview, the ``Uncertainty`` of the source of the bytes, if there is one."""

    @property
    def at_hand(self) -> bool:
        """Whether the bytes are in memory."""
        return False

    def chunks(self) -> Chunks:
        """Yield the bytes."""
        raise NotImplementedError

    def fetch(self) -> None:
        """In a preview, get bytes of which only the hash is known, if possible.

        This may be a download, so only code that needs all bytes calls it.
        """

    def read(self) -> bytes:
        """Return all bytes at once; only for small content."""
        return b"".join(self.chunks())


class Bytes(Content):
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)
        self.sha256 = sha256(data).hexdigest()

    @property
    def at_hand(self) -> bool:
        return True

    def chunks(self) -> Chunks:
        yield self._data


class Text(Bytes):
    """A text in memory. ``ResourceError`` if it cannot be encoded in UTF-8."""

    def __init__(self, text: str) -> None:
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ResourceError("the content is not valid text: %s" % error) from error
        super().__init__(data)
