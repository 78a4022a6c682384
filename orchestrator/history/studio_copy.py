"""The copy of a run at a studio (controller)."""

from __future__ import annotations

import time

from orchestrator.history.errors import HistoryError
from orchestrator.history.studio_client import Answer, StudioClient

BEAT = 60.0  # seconds without news after which a run reports that it is still active


class StudioCopy:
    """A run at a studio, while it is copied. CcmError if it cannot be stored."""

    max_data = 256 << 10  # bytes at once

    def __init__(self, client: StudioClient, run_id: str, about: bytes) -> None:
        self._client = client
        self._path = f"/runs/{run_id}"
        self._about = about
        self._last = 0.0
        self._sizes = self._read(self._post(self._path, about))

    def sizes(self) -> dict[str, int]:
        """The files of the copy with their sizes in bytes."""
        return self._sizes

    def hold(self) -> bool:
        """Do nothing: the studio marks the run as in progress while posts arrive."""
        return True

    def append(self, name: str, at: int, data: bytes) -> int:
        """Append data that begins ``at`` this offset; the size of the file afterwards. Data for
        another offset is not stored.
        """
        answer = self._post(f"{self._path}/{name}?at={at}", data)
        size = answer.document().get("size")
        if type(size) is not int or size < 0:
            raise HistoryError("the studio did not report what it stored", hint="check its version")
        return size

    def write_about(self, text: bytes) -> None:
        """Replace run.json."""
        if self._post(self._path, text).status != 200:
            raise HistoryError(
                "the studio has another run with this ID", hint="the run is kept on this machine"
            )
        self._about = text

    def beat(self) -> None:
        """Report that the run is still active, if nothing was posted for a while."""
        if time.monotonic() - self._last >= BEAT:
            self._post(self._path, self._about)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _post(self, path: str, body: bytes) -> Answer:
        answer = self._client.post(path, body)
        self._last = time.monotonic()
        return answer

    def _read(self, answer: Answer) -> dict[str, int]:
        sizes = answer.document().get("sizes")
        whole = isinstance(sizes, dict) and all(type(size) is int for size in sizes.values())
        if answer.status != 200 or not isinstance(sizes, dict) or not whole:
            raise HistoryError(
                "the studio has another run with this ID", hint="the run is kept on this machine"
            )
        return sizes
