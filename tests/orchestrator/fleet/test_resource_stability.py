import pytest

from orchestrator.fleet.resource_stability import is_stable


@pytest.mark.parametrize(
    ("change", "stable"),
    [
        ({}, True),
        ({"failed": True}, False),
        ({"skipped": True}, False),
        ({"noop": True}, False),
        ({"health_check": [{"status": "OK"}, {"status": "OK"}]}, True),
        ({"health_check": [{"status": "OK"}, {"status": "WARNING"}]}, False),
        ({"health_check_only": True}, False),
        ({"health_check_only": True, "health_check": [{"status": "OK"}]}, True),
    ],
)
def test_gate(change: dict[str, object], stable: bool) -> None:
    """Only what was managed, did not fail and passed every check is announced."""
    assert is_stable({"failed": False, "skipped": False, "noop": False, **change}) is stable
