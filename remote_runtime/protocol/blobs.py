"""The texts and files that the plan refers to by SHA-256 (target)."""

from typing import Callable, Dict, Generator, Iterable, Iterator, List, Optional, Set

from remote_runtime.errors import ProtocolError, ResourceError
from remote_runtime.stdlib_light.sha256_digest import sha256

BATCH = 1 << 20
COUNT = 4096  # blobs in one batch, so that the request for them fits a frame

Fetch = Callable[[List[str]], Generator["Part", None, None]]


class Part(object):
    """One blob in transit; ``error`` is the reason if the controller does not have it."""

    def __init__(self, sha: str, chunks: Iterable[bytes], error: str = "") -> None:
        self.sha = sha
        self.chunks = chunks
        self.error = error


def is_blob(value: object) -> bool:
    """Return whether a property's value refers to a blob."""
    return isinstance(value, dict) and "$blob" in value


class Blobs(object):
    """Fetches blobs over the channel, many small ones at a time.

    ``fetch(shas)`` requests them from the controller and yields one ``Part`` for each, in that
    order. At most 1 MiB and ``COUNT`` blobs are requested and in memory at the same time; a larger
    one is only streamed.
    """

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._held: Dict[str, bytes] = {}
        self._sizes: Dict[str, int] = {}
        self._uses: Dict[str, int] = {}
        self._ahead: List[str] = []
        self._is_ahead: Set[str] = set()
        self._failed: Dict[str, str] = {}
        self._look: Optional[Callable[[], None]] = None

    def look_ahead(self, look: Callable[[], None]) -> None:
        """Call ``look`` before the first blob is requested, to announce the blobs that resources
        will need.
        """
        self._look = look

    def announce(self, sha: str, size: int) -> None:
        """Announce that a later resource will need this blob; called in the order of
        the resources.
        """
        self._sizes[sha] = size
        self._uses[sha] = self._uses.get(sha, 0) + 1
        if size <= BATCH and sha not in self._is_ahead:
            self._ahead.append(sha)
            self._is_ahead.add(sha)

    def chunks(self, sha: str, size: int) -> Generator[bytes, None, None]:
        """Yield the bytes of a blob; their hash is verified after the last one is read.

        ``ResourceError`` if the controller does not have it, ``ProtocolError`` if it sends other
        bytes. Close the iterator if it is not read to the end.
        """
        if size <= BATCH:
            yield self.read(sha, size)
            self._used(sha)
            return
        parts = self._fetch([sha])
        try:
            for part in parts:
                if part.error:
                    raise ResourceError(part.error, kind="resource.blob")
                for chunk in _checked(part, size):
                    yield chunk
        finally:
            parts.close()

    def read(self, sha: str, size: int) -> bytes:
        """All bytes of a blob of at most 1 MiB, which is cached for its next use."""
        if sha not in self._held and sha not in self._failed:
            look, self._look = self._look, None
            if look is not None:
                look()
            self._next_batch(sha, size)
        if sha in self._failed:
            raise ResourceError(self._failed[sha], kind="resource.blob")
        return self._held[sha]

    def holds(self, sha: str) -> bool:
        """Return whether the blob is already here and need not be requested."""
        return sha in self._held

    def _used(self, sha: str) -> None:
        self._uses[sha] = self._uses.get(sha, 1) - 1
        if self._uses[sha] <= 0:
            self._held.pop(sha, None)

    def _next_batch(self, first: str, size: int = 0) -> None:
        """Fetch this blob together with as many of the announced ones as fit in one batch."""
        self._sizes.setdefault(first, size)
        wanted, total = [first], self._sizes[first]
        while first in self._is_ahead:
            self._pass()
        while self._ahead and len(wanted) < COUNT:
            total += self._sizes[self._ahead[0]]
            if total > BATCH:
                break
            wanted.append(self._pass())
        # Blobs of skipped resources are dropped; if needed later, they are requested again.
        self._held = {}
        for part in self._fetch(wanted):
            if part.error:
                self._failed[part.sha] = part.error
            else:
                self._held[part.sha] = b"".join(_checked(part, self._sizes[part.sha]))

    def _pass(self) -> str:
        """Remove the next announced blob from the queue."""
        sha = self._ahead.pop(0)
        self._is_ahead.discard(sha)
        return sha


def _checked(part: Part, size: int) -> Iterator[bytes]:
    digest = sha256(size=size)
    for chunk in part.chunks:
        digest.update(chunk)
        yield chunk
    if digest.hexdigest() != part.sha:
        raise ProtocolError(
            "the controller sent bytes that do not match %s" % part.sha, kind="protocol.blob"
        )
