"""Counts and shares of hosts."""

import pytest

from orchestrator.rollout.amounts import parse_amount


@pytest.mark.parametrize(
    ("text", "total", "up", "down"),
    [
        ("5", 60, 5, 5),
        ("5", 3, 3, 5),
        ("10%", 60, 6, 6),
        ("10%", 61, 7, 6),
        ("10%", 30, 3, 3),
        ("1.5%", 60, 1, 0),
        ("0.1%", 60, 1, 0),
        ("100%", 7, 7, 7),
        ("0", 7, 0, 0),
    ],
)
def test_shares_are_rounded_as_asked(text: str, total: int, up: int, down: int) -> None:
    """A share is rounded up for a wave and down for a budget; a count stays what it is."""
    amount = parse_amount(text)
    assert (amount.up(total), amount.down(total)) == (up, down)
    assert str(amount) == text


@pytest.mark.parametrize("text", ["", "x", "-1", "200%", "1.5", "10 %x", "1e3", "٣", "99999999"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    """Nothing but a number of hosts or a share of at most all of them is taken."""
    with pytest.raises(ValueError, match=r"hosts|share|more than 100%"):
        parse_amount(text)
