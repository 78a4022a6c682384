"""What a file of the host holds that keeps its content in a preview (target)."""

from remote_runtime.content import Chunks, Content
from remote_runtime.system.files import Files, Status


class OnHost(Content):
    """Read when it is asked for."""

    def __init__(self, path: str, status: Status, files: Files) -> None:
        self._path, self._status, self._files = path, status, files
        self.size = status.size

    @property
    def sha256(self) -> str:  # type: ignore[override]  # worked out when it is asked for
        """Its hash."""
        return self._files.sha256(self._path, self._status)

    def chunks(self) -> Chunks:
        return self._files.blocks(self._path)
