"""Files that take the place of others, whole or not at all."""

from pathlib import Path

import pytest

from orchestrator.support.atomic_file import replacing


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """The old content stands until all of the new one is written; the mode is the one asked for."""
    path = tmp_path / "a"
    path.write_text("old")
    with replacing(path, 0o640, durable=True) as out:
        out.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_of_a_file_that_is_not_finished(tmp_path: Path) -> None:
    """Whatever ends the writing, the old file stays and the new one goes."""
    path = tmp_path / "a"
    path.write_text("old")

    def interrupted() -> None:
        with replacing(path) as out:
            out.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
