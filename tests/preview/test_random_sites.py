"""Random sites are held to what their second push does, and the same seed draws the same site."""

from .random_sites import drawn, faults
from .running import Result
from .scenario import Scenario

LINK, FILE = "link#/srv/f", "file#/srv/f"


def result(undone: bool, again: bool) -> Result:
    """A site with two resources of which the preview says, and the second push does, this."""
    told = [f"web1: {one}: changed" for one in (LINK, FILE)] if again else []
    return Result(
        Scenario("random", "x"),
        unstable=told,
        undone=[(FILE, LINK)] if undone else [],
        again=[LINK, FILE] if again else [],
    )


def test_resources_may_undo_each_other_where_the_preview_says_so() -> None:
    """A link and an absent file at one path are no fault, and unstable only where it is told."""
    assert faults(result(undone=True, again=True), False) == []
    assert faults(result(undone=True, again=True), True) == []
    assert len(faults(result(undone=False, again=True), False)) == 2
    assert len(faults(result(undone=True, again=False), False)) == 1


def test_a_seed_is_a_site() -> None:
    """What failed can be drawn again."""
    assert drawn(73) == drawn(73) != drawn(74)
