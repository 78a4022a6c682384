import pytest

from tests.hostile import lost_links


@pytest.mark.parametrize("way", ["restored", "killed at first command"])
@pytest.mark.long("killed at first command")
def test_no_report_contradicts_the_host(way: str) -> None:
    """Right after a lost link and after the next contact no form of the report says what the host
    contradicts; after the contact nothing is unknown."""
    found = lost_links.run(seconds=0, seed=7, choose=lambda one: one == way)
    assert found.broken == []
    assert found.tried["links"] == 1
