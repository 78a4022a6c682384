import pytest

from tests.hostile import lost_links


@pytest.mark.parametrize("way", lost_links.WAYS)
def test_no_report_contradicts_the_host(way: str) -> None:
    """Right after a lost link and after the next contact a report says only what is so; after the
    contact nothing is unknown."""
    found = lost_links.run(seconds=0, seed=7, choose=lambda one: one == way)
    assert found.broken == []
    assert found.tried["links"] == 1
