"""What a download will bring, as a preview has it (target)."""

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content

_WHY = "the content of the download is not known yet"


class DownloadedContent(Content):
    """Bytes of which only the SHA-256 may be known."""

    def __init__(self, sha256: str) -> None:
        self._sha256 = sha256

    @property
    def sha256(self) -> str:  # type: ignore[override]  # known or not
        """Its hash. ``Unknowable`` where no checksum stands in the manifest."""
        if not self._sha256:
            raise Unknowable(_WHY)
        return self._sha256

    def chunks(self) -> Chunks:
        raise Unknowable(_WHY)
