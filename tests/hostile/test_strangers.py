from tests.hostile import strangers


def test_values_of_other_hosts_are_text() -> None:
    """Facts, vars and groups of another host are never templates, commands or paths."""
    found = strangers.run(seconds=0, seed=3)
    assert found.broken == []
    assert found.tried["values"] > 3
