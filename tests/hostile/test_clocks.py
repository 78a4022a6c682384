from tests.hostile import clocks
from tests.lab import Lab


def test_a_clock_that_jumps_in_the_middle_of_a_push(lab: Lab) -> None:
    """Two days back, then ten years ahead: the plan is applied, the next push changes nothing."""
    assert clocks.one_turn(lab, 7, ("-2d", "+10y", "-1y")) == []
    failed = (
        lab.hosts[lab.names[0]]
        .run("systemctl list-units --failed --no-legend user@0.service")
        .stdout
    )
    assert failed == "", "the clock kept the systemd of a login from starting"
