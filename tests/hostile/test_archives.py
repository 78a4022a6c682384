from tests.hostile import archives


def test_no_archive_gets_out() -> None:
    """An archive changes nothing outside of where it is extracted, and leads nowhere else."""
    found = archives.run(seconds=6, seed=7)
    assert found.broken == []
    assert all(number > 0 for number in found.tried.values()), found.tried
