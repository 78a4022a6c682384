"""Counts and shares of hosts."""

import pytest

from orchestrator.rollout.wave_sizes import divide, parse_amount, parse_waves


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


@pytest.mark.parametrize(
    ("text", "hosts", "sizes"),
    [
        ("1,10%,100%", 60, [1, 5, 54]),
        ("1,10%,100%", 5, [1, 4]),
        ("10,20%", 20, [10, 10]),
        ("100%", 3, [3]),
        ("5", 3, [3]),
        ("1,10%", 0, []),
        ("10%,1", 100, [10, 90]),
    ],
)
def test_waves_are_cumulative_and_have_all_hosts(text: str, hosts: int, sizes: list[int]) -> None:
    """Shares are rounded up, empty waves are left out, and the last has all that are left."""
    numbers = list(range(hosts))
    waves = divide(numbers, parse_waves(text))
    assert [len(wave) for wave in waves] == sizes
    assert [number for wave in waves for number in wave] == numbers


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("10%,5%", "5% comes after 10%"),
        ("5,5", "5 comes after 5"),
        ("0,10%", "has no hosts"),
        ("1,,5", "neither a number"),
        ("1,200%", "more than 100%"),
        ("", "neither a number"),
    ],
)
def test_waves_that_do_not_increase_are_refused(text: str, says: str) -> None:
    """What cannot be waves is refused with what is wrong."""
    with pytest.raises(ValueError, match=says):
        parse_waves(text)
