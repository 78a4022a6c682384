"""The cache of what has a digest."""

import hashlib
import os
from pathlib import Path

import pytest

from orchestrator.sources import cache


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_only_the_right_bytes_come_back() -> None:
    """What was altered on disk counts as not kept; the directory is private."""
    cache.store(digest(b"x"), b"x")
    assert cache.cached(digest(b"x"), 10) == b"x"
    assert cache.cached(digest(b"y"), 10) is None
    path = cache.cache_directory() / digest(b"x")
    path.write_bytes(b"z")
    assert cache.cached(digest(b"x"), 10) is None
    assert cache.cache_directory().stat().st_mode & 0o777 == 0o700


def test_the_oldest_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the most that are kept, what was not used for a day goes."""
    monkeypatch.setattr(cache, "MAX_FILES", 2)
    texts = [b"a", b"b", b"c"]
    for text in texts:
        cache.store(digest(text), text)
    assert all(cache.cached(digest(text), 10) for text in texts)
    os.utime(cache.cache_directory() / digest(b"a"), (1, 1))
    os.utime(cache.cache_directory() / digest(b"b"), (2, 2))
    cache.store(digest(b"d"), b"d")
    assert [text for text in (*texts, b"d") if cache.cached(digest(text), 10)] == [b"c", b"d"]
