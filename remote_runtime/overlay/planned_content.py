"""The content of a file in a preview: planned bytes, or those of the host (target)."""

from typing import Optional

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content
from remote_runtime.errors import ResourceError
from remote_runtime.system.errno_messages import NO_ACCESS
from remote_runtime.system.files import Files
from remote_runtime.system.paths import Status

MAX_BYTES = 1 << 20  # bytes of one file
LARGE = 16 << 20  # the same for one that is requested by its name
_ROOM = 32 << 20  # bytes of all


class MemoryBudget(object):
    """The number of bytes in memory, for the entire preview."""

    def __init__(self) -> None:
        self.left = _ROOM


class CachedContent(Content):
    """Content whose bytes stay in memory after the first read, if there is room."""

    def __init__(self, content: Content, budget: MemoryBudget) -> None:
        self._content = content
        self._budget = budget
        self._data: Optional[bytes] = None
        self.size = content.size
        self.uncertainty = content.uncertainty

    @property
    def sha256(self) -> str:  # type: ignore[override]  # computed on demand
        """Return its hash."""
        return self._content.sha256

    def data(self, maximum: int = MAX_BYTES) -> Optional[bytes]:
        """Return at most ``maximum`` bytes; None if there is no room for them, or if only the push
        has them.
        """
        if self._data is None and self.size <= min(maximum, self._budget.left):
            try:
                self._data = self._content.read()
            except Unknowable:
                return None
            self._budget.left -= self.size
        return self._data

    def fetch(self) -> None:
        self._content.fetch()

    def chunks(self) -> Chunks:
        data = self.data()
        return self._content.chunks() if data is None else _once(data)


class HostContent(Content):
    """The content of a host's file, read on demand; ``Unknowable`` if permission to read it must be
    granted first.
    """

    def __init__(self, path: str, status: Status, files: Files) -> None:
        self._path, self._status, self._files = path, status, files
        self.size = status.size

    @property
    def sha256(self) -> str:  # type: ignore[override]  # computed on demand
        """Return its hash."""
        try:
            return self._files.sha256(self._path, self._status)
        except ResourceError as error:
            raise self._judge(error) from error

    def chunks(self) -> Chunks:
        try:
            yield from self._files.blocks(self._path)
        except ResourceError as error:
            raise self._judge(error) from error

    def _judge(self, error: ResourceError) -> Exception:
        if error.kind != NO_ACCESS:
            return error
        return Unknowable("%s can be read only after its mode is changed" % self._path)


def _once(data: bytes) -> Chunks:
    yield data
