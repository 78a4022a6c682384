from tests.hostile import fleets


def test_faulty_hosts_harm_no_others() -> None:
    """Hosts that are well are done, whatever a tenth of the fleet does; the rest have reasons."""
    found = fleets.run(seconds=1, seed=3)
    assert found.broken == []
    assert found.tried["good hosts"] > found.tried["faulty hosts"] > 0
