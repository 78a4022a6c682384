"""Answers requests of a runtime: blobs, rendering on demand, files."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from orchestrator.fleet.host.framed_link import FramedLink
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import PlanError, ProtocolError, ResourceError
from remote_runtime.protocol import wire

if TYPE_CHECKING:
    from orchestrator.fleet.interfaces import Blob, Plan

MAX_READ = 1 << 20

_SHA = r"[0-9a-f]{64}\Z"


class BlobServer:
    """The controller's side of ``want``, ``render`` and ``read`` for one host.

    ``aside`` receives each message that arrives while the controller waits for a file of the
    target.
    """

    def __init__(
        self, link: FramedLink, plan: "Plan", aside: Callable[[wire.Message], None]
    ) -> None:
        self._link = link
        self._plan = plan
        # An honest host requests a blob where it is named, and once ahead of time.
        self._maximum = plan.rounds * (plan.total + plan.references())
        self._aside = aside
        self._sent: Counter[str] = Counter()  # of this plan: a host cannot make it longer
        self._unknown = 0
        self._rendered: Counter[int] = Counter()
        self._reads = 0

    def want(self, message: wire.Message) -> bool:
        """Send each requested blob as a stream; small ones share a send. Returns whether one of
        them is requested for the first time, which can happen only a limited number of times.
        """
        shas = message.get("shas")
        if not isinstance(shas, list):
            raise ProtocolError("a want message without a list of hashes")
        out = bytearray()
        before = len(self._sent)
        for sha in shas:
            self._send_blob(sha, out)
        if out:
            self._link.send_bytes(bytes(out))
        return len(self._sent) > before

    def _send_blob(self, sha: Any, out: bytearray) -> None:
        if not isinstance(sha, str) or not re.match(_SHA, sha):
            raise ProtocolError("a want message with an invalid hash")
        try:
            blob = self._plan.blob(sha)
        except KeyError:
            self._unknown += 1
            self._bound(self._unknown)
            out += wire.encode({"t": "blob", "sha": sha, "error": "not in this plan"})
            return
        self._sent[sha] += 1
        self._bound(self._sent[sha])
        out += wire.encode({"t": "blob", "sha": sha, "size": blob.size})
        self._stream(blob, sha, out)

    def _bound(self, count: int) -> None:
        if count > self._maximum + 1:
            raise ProtocolError("the same blobs were requested too often", kind="protocol.flood")

    def _stream(self, blob: "Blob", sha: str, out: bytearray) -> None:
        remaining = blob.size
        try:
            for chunk in self._chunks(blob):
                remaining -= len(chunk)
                if remaining < 0:
                    break
                for frame in wire.split(chunk):
                    out += frame
                    if len(out) >= wire.CHUNK:
                        self._link.send_bytes(bytes(out))
                        out.clear()
        except (OSError, ValueError) as error:
            raise PlanError(f"content can no longer be read: {error}", kind="plan.blob") from error
        if remaining:
            raise PlanError(
                f"content {sha[:12]} is no longer {blob.size} bytes long",
                kind="plan.blob",
                hint="a source changed during the run; push again",
            )

    @staticmethod
    def _chunks(blob: "Blob") -> Iterable[bytes]:
        return blob.chunks() if blob.size else ()

    def render(self, message: wire.Message) -> None:
        """Render the deferred properties of one resource and send them, or send why that failed."""
        index, answer = message.get("index"), {"t": "rendered", "id": message.get("id")}
        if type(index) is not int or not 0 <= index < self._plan.total:
            raise ProtocolError("a render request for a resource that is not in the plan")
        if self._rendered[index] == self._plan.rounds:
            raise ProtocolError("a second render request for the same resource")
        self._rendered[index] += 1
        try:
            answer["properties"] = self._plan.render(index, self._read)
        except (ResourceError, PlanError) as error:
            answer["error"] = str(error)
        self._link.send(answer)

    def _read(self, path: str) -> bytes:
        """Return a file of the target; ResourceError when the target cannot read it."""
        self._reads += 1
        self._link.send({"t": "read", "id": self._reads, "path": path, "limit": MAX_READ})
        while True:
            message = self._link.message()
            if message["t"] == "content":
                break
            if message["t"] == "want":  # of a file that is only planned
                self.want(message)
            else:
                self._aside(message)
        if message.get("id") != self._reads:
            raise ProtocolError("content that was not requested")
        if "error" in message:
            raise ResourceError(one_line(str(message["error"])), kind="resource.read")
        return self._content(message.get("size"), path)

    def _content(self, size: Any, path: str) -> bytes:
        if type(size) is not int or not 0 <= size <= MAX_READ:
            raise ProtocolError(f"content of {path} is larger than {MAX_READ} bytes")
        data = bytearray()
        while len(data) < size:
            frame = self._link.next()
            if not isinstance(frame, bytes):
                self._aside(frame)
            else:
                data += frame
        if len(data) > size:
            raise ProtocolError("more content than announced")
        return bytes(data)
