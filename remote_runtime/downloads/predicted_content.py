"""The predicted content of a download in a preview (target)."""

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content

_WHY = "the content of the download is not known yet"


class DownloadedContent(Content):
    """Content of which possibly only the SHA-256 is known."""

    def __init__(self, sha256: str) -> None:
        self._sha256 = sha256

    @property
    def sha256(self) -> str:  # type: ignore[override]  # may raise Unknowable
        """Return its hash. ``Unknowable`` if the manifest has no checksum."""
        if not self._sha256:
            raise Unknowable(_WHY)
        return self._sha256

    def chunks(self) -> Chunks:
        raise Unknowable(_WHY)
