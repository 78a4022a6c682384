import random

from tests.hostile import lost_hosts
from tests.lab import Lab


def test_a_host_that_loses_its_power_in_mid_wave(lab: Lab) -> None:
    """Its record is on the disk: once it is back, every form of the report has what it did, and
    none says what the host contradicts."""
    assert lost_hosts.lose_one(lab, "switched off", "facts", random.Random(7)) == []
