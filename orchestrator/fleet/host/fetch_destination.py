"""The destinations of the files of ``ccm fetch``: ``DIRECTORY/HOST/PATH`` (controller).

Hosts are not trusted: file names are checked, and no link below the directory is followed. A file
is written under a hidden name next to its destination and renamed when it is complete. The next
fetch into a directory removes the leftovers of a killed one.
"""

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.fleet.host.partial_files import PartialFile, sweep
from orchestrator.support.plain_text import plain
from orchestrator.support.shared_count import LocalCount, SharedCounter
from remote_runtime.errors import PlanError, ProtocolError

MAX_FILES = 110_000  # of one host: somewhat more than an honest one sends
MAX_DIRECTORIES = 220_000  # of one host: each takes disk space without a sent byte
MAX_DEPTH = 200
MAX_NAME = 255  # bytes
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_IN_THE_WAY = {
    errno.ENOTDIR: "a link or a file is in the way of one of its directories: remove it",
    errno.EISDIR: "a directory is in the way: remove it",
}


class TransferAbortedError(Exception):
    """The host could not send a complete file."""


class FetchTarget:
    """The directory of one command; ``max_file`` and ``max_total`` limit the bytes of one file and
    of all hosts together. Thread-safe.
    """

    def __init__(self, directory: Path, max_file: int, max_total: int) -> None:
        self.directory = directory
        self.max_file = max_file
        self.max_total = max_total
        self._taken: LocalCount | SharedCounter = LocalCount()

    def share(self) -> None:
        """Share the counter with copies of this process that are created later. OSError."""
        self._taken = SharedCounter()

    def of(self, host: str, paths: Sequence[str]) -> "HostFetchTarget":
        """The receiver of a host's files at these absolute paths."""
        return HostFetchTarget(self, host, [path.strip("/").split("/") for path in paths])

    def count(self, size: int) -> None:
        """Count more bytes; PlanError if there are too many."""
        if self._taken.add(size) > self.max_total:
            raise PlanError(
                f"all hosts together sent more than {self.max_total} bytes (--max-total)",
                kind="fetch.total",
                hint="raise --max-total, or fetch from fewer hosts",
            )


class HostFetchTarget:
    """Receives the files of one host."""

    def __init__(self, landing: FetchTarget, host: str, tops: Sequence[Sequence[str]]) -> None:
        self._landing = landing
        self._host = host
        self._tops = tops
        self._files = 0
        self._swept: list[str] = []
        self._directories = 0

    def take(self, message: Mapping[str, Any], pieces: Iterator[bytes]) -> None:
        """Write the file of a ``file`` frame; an incomplete one leaves nothing behind.

        ProtocolError for a violation of the protocol; PlanError if it cannot be written.
        """
        self._files += 1
        if self._files > MAX_FILES:
            raise ProtocolError(f"more than {MAX_FILES} files", kind="protocol.flood")
        parts = [self._host, *self._parts(message)]
        try:
            with contextlib.suppress(TransferAbortedError):
                self._write(parts, pieces)
        except OSError as error:
            path = os.path.join(self._landing.directory, *parts)
            raise PlanError(
                f"{plain(path)} cannot be written: {error.strerror}",
                kind="fetch.local",
                hint=_IN_THE_WAY.get(error.errno or 0, ""),
            ) from error

    def _parts(self, message: Mapping[str, Any]) -> list[str]:
        number, name = message.get("path"), message.get("name")
        if type(number) is not int or not 0 <= number < len(self._tops):
            raise ProtocolError("a file of a path that was not requested")
        if type(name) is not list or len(name) > MAX_DEPTH or not all(map(_is_name, name)):
            raise ProtocolError("a file with an invalid name")
        return [*self._tops[number], *name]

    def _write(self, parts: Sequence[str], pieces: Iterator[bytes]) -> None:
        *directories, name = parts
        directory = self._directory(directories)
        try:
            if directories != self._swept:
                sweep(directory)
                self._swept = directories
            part = PartialFile(directory)
            try:
                self._copy(pieces, part.out.write)
                part.finish(name)
            except BaseException:
                part.drop()
                raise
        finally:
            os.close(directory)

    def _copy(self, pieces: Iterator[bytes], write: Any) -> None:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > self._landing.max_file:
                raise ProtocolError("a file larger than requested", kind="protocol.flood")
            self._landing.count(len(piece))
            write(piece)

    def _directory(self, parts: Sequence[str]) -> int:
        """A descriptor of a directory below, created if missing; OSError for a symlink."""
        at = os.open(self._landing.directory, os.O_RDONLY | os.O_DIRECTORY)
        for part in parts:
            try:
                self._make(part, at)
                below = os.open(part, _DIRECTORY, dir_fd=at)
            finally:
                os.close(at)
            at = below
        return at

    def _make(self, name: str, at: int) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=at)
            self._directories += 1
        if self._directories > MAX_DIRECTORIES:
            raise ProtocolError(f"more than {MAX_DIRECTORIES} directories", kind="protocol.flood")


def _is_name(name: Any) -> bool:
    """Whether it is a name that stays in its directory and is safe to display on a terminal."""
    return (
        type(name) is str
        and name not in ("", ".", "..")
        and not set("/\0\t\n") & set(name)
        and plain(name) == name
        and len(name.encode("utf-8", "replace")) <= MAX_NAME
    )
