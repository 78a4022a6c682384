"""The predicted content of a download in a preview (target)."""

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content

_WHY = "the content of the download is not known yet"


class DownloadedContent(Content):
    """Bytes whose SHA-256 may be all that is known."""

    def __init__(self, sha256: str) -> None:
        self._sha256 = sha256

    @property
    def sha256(self) -> str:  # type: ignore[override]  # known or not
        """Its hash. ``Unknowable`` if the manifest has no checksum."""
        if not self._sha256:
            raise Unknowable(_WHY)
        return self._sha256

    def chunks(self) -> Chunks:
        raise Unknowable(_WHY)
