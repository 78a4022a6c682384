"""Content by its hash."""

import hashlib
import os
from pathlib import Path

import pytest

from orchestrator.planning.content.blobs import Blob, FileBlobs
from remote_runtime.protocol.wire import CHUNK


def test_a_large_file_is_streamed_in_pieces(tmp_path: Path) -> None:
    """No piece is larger than a chunk, and together they are the file."""
    data = os.urandom(CHUNK * 2 + 5)
    path = tmp_path / "large"
    path.write_bytes(data)
    blob = FileBlobs().get(path)
    pieces = list(blob.chunks())
    assert [len(piece) for piece in pieces] == [CHUNK, CHUNK, 5]
    assert (b"".join(pieces), blob.sha) == (data, hashlib.sha256(data).hexdigest())


def test_an_unchanged_file_is_hashed_once(tmp_path: Path) -> None:
    """The blob of a file is remembered until the file changes."""
    path = tmp_path / "f"
    path.write_text("one")
    blobs = FileBlobs()
    first = blobs.get(path)
    assert blobs.get(path) is first
    path.write_text("other")
    assert blobs.get(path).size == 5


def test_a_file_that_shrinks_while_it_is_sent_is_an_error(tmp_path: Path) -> None:
    """The promised size is kept or the reader hears of it."""
    path = tmp_path / "f"
    path.write_text("12345")
    blob = FileBlobs().get(path)
    path.write_text("1")
    with pytest.raises(OSError, match="was truncated"):
        list(blob.chunks())


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    """A directory and a pipe that nobody writes to are errors at once."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises((ValueError, IsADirectoryError)):
            FileBlobs().get(path)


def test_a_text_has_the_size_of_its_bytes() -> None:
    """Size and hash are those of the UTF-8 form."""
    blob = Blob.of_text("é\n")
    assert (blob.size, b"".join(blob.chunks())) == (3, b"\xc3\xa9\n")
