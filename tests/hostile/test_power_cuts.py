import pytest

from tests.hostile import power_cuts


def test_what_is_on_the_disk_is_whole() -> None:
    """At any instant of a push the disk holds whole files, and a record that denies no change."""
    why = power_cuts.possible()
    if why:
        pytest.skip(f"no file system can be mounted on an image here: {why}")
    found = power_cuts.run(seconds=3, seed=7)
    assert found.broken == []
    assert found.tried["cuts"]
