"""Content that is sent by its SHA-256 (controller)."""

from __future__ import annotations

import functools
import os
import stat
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from orchestrator.support.hashing import sha256
from remote_runtime.protocol.wire import CHUNK
from remote_runtime.reporting.masking import Mask

MAX_SEARCHED = 1 << 20


@functools.lru_cache(maxsize=64)
def _mask(secrets: tuple[str, ...]) -> Mask:
    """The mask for a host's secrets, created once for all its blobs."""
    return Mask(secrets)


@functools.lru_cache(maxsize=128)
def _verdict(secrets: tuple[str, ...], holds: bool) -> tuple[tuple[str, ...], bool]:
    """The result of a search, one object for all blobs."""
    return secrets, holds


class Blob(ABC):
    """Bytes that a target may request."""

    __slots__ = ("_verdict",)

    def __init__(self) -> None:
        self._verdict: tuple[tuple[str, ...], bool] | None = None

    @staticmethod
    def of_text(text: str) -> Blob:
        """Return the blob of a string; ValueError for a string that UTF-8 cannot encode."""
        return TextBlob(text.encode("utf-8"))

    @property
    @abstractmethod
    def sha(self) -> str:
        """Its name: the SHA-256 of its bytes."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Its size in bytes."""

    @property
    def text(self) -> str:
        """The text; empty for a file."""
        return ""

    @abstractmethod
    def chunks(self) -> Iterator[bytes]:
        """The bytes, in pieces of at most ``wire.CHUNK``; OSError if the file is gone."""

    @property
    def reference(self) -> dict[str, Any]:
        """Its reference in a plan."""
        return {"$blob": self.sha, "size": self.size}

    @property
    def reference_json(self) -> bytes:
        """Its JSON text."""
        return b'{"$blob":"%b","size":%d}' % (self.sha.encode("ascii"), self.size)

    def holds(self, secrets: tuple[str, ...]) -> bool:
        """Whether it contains one of these strings, a login in a URL, or similar.

        Files of more than ``MAX_SEARCHED`` bytes are not searched.
        """
        verdict = self._verdict
        if verdict is None or verdict[0] != secrets:
            text = self._searchable()
            verdict = self._verdict = _verdict(secrets, _mask(secrets).text(text) != text)
        return verdict[1]

    def _searchable(self) -> str:
        return self.text


class TextBlob(Blob):
    """A string in memory. A host has many of these, so they store only the bytes."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    @property
    def sha(self) -> str:
        """See ``Blob``; computed each time."""
        return sha256(self._data).hexdigest()

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def reference_json(self) -> bytes:
        return reference_text(self._data).encode("ascii")

    @property
    def text(self) -> str:
        return self._data.decode("utf-8")

    def chunks(self) -> Iterator[bytes]:
        for at in range(0, len(self._data), CHUNK):
            yield self._data[at : at + CHUNK]


def reference_text(data: bytes) -> str:
    """Return the JSON text of a reference to a string in a plan."""
    return f'{{"$blob":"{sha256(data).hexdigest()}","size":{len(data)}}}'


def any_holds(texts: Sequence[bytes], secrets: tuple[str, ...]) -> bool:
    """Whether one of them may contain a string for which ``Blob.holds`` searches.

    Small blobs are searched as one string, which finds every match inside one of them.
    """
    if sum(map(len, texts)) > MAX_SEARCHED:
        return any(TextBlob(text).holds(secrets) for text in texts)
    together = b"\n".join(texts).decode("utf-8")
    return _mask(secrets).text(together) != together


class FileBlob(Blob):
    """A file that is streamed from disk."""

    __slots__ = ("_path", "_sha", "_size")

    def __init__(self, path: Path, sha: str, size: int) -> None:
        super().__init__()
        self._path, self._sha, self._size = path, sha, size

    @property
    def sha(self) -> str:
        return self._sha

    @property
    def size(self) -> int:
        return self._size

    def chunks(self) -> Iterator[bytes]:
        """See the base class. OSError if the file was truncated since."""
        remaining = self._size
        with open(self._path, "rb") as file:
            while remaining:
                piece = file.read(min(CHUNK, remaining))
                if not piece:
                    raise OSError(f"{self._path} was truncated while it was being sent")
                remaining -= len(piece)
                yield piece

    def _searchable(self) -> str:
        if self._size > MAX_SEARCHED:
            return ""
        try:
            return b"".join(self.chunks()).decode("utf-8", "replace")
        except OSError:
            return ""  # reported when it is sent


class FileBlobs:
    """The files of one run. Each is hashed once as long as it does not change; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[Any, ...], Blob] = {}

    @property
    def paths(self) -> Iterable[Path]:
        """The hashed files."""
        with self._lock:
            return [Path(key[0]) for key in self._known]

    @property
    def count(self) -> int:
        """The number of these files."""
        return len(self._known)

    def get(self, path: Path) -> Blob:
        """The blob of a regular file; OSError, ValueError for any other kind of file."""
        if path.is_dir():
            raise ValueError("is a directory, not a file")
        with open(path, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("is not a regular file")
            key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
            with self._lock:
                if key not in self._known:
                    digest = sha256(size=status.st_size)
                    size = 0
                    while piece := file.read(1 << 20):
                        digest.update(piece)
                        size += len(piece)
                    self._known[key] = FileBlob(path, digest.hexdigest(), size)
                return self._known[key]


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
