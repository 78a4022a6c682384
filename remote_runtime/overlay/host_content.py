"""The content of a host's file that keeps its content in a preview (target)."""

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content
from remote_runtime.errors import ResourceError
from remote_runtime.system.errno_messages import NO_ACCESS
from remote_runtime.system.files import Files
from remote_runtime.system.paths import Status


class HostContent(Content):
    """The content, read on demand; ``Unknowable`` if permission to read it must be
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
