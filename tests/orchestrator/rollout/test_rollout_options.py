"""How a rollout is held back, as it is kept and told."""

import time

import pytest

from orchestrator.rollout.rollout_options import RolloutOptions, clock_text, parse_until
from orchestrator.rollout.shared_limits import parse_per
from orchestrator.rollout.wave_sizes import parse_amount, parse_waves


def test_what_was_given_is_told_as_people_write_it() -> None:
    """And no login that stands in a command."""
    options = RolloutOptions(
        waves=parse_waves("1,10%"),
        max_fail=parse_amount("5%"),
        per=(parse_per("rack=1"),),
        soak=30.0,
        before_host="curl https://me:hunter22@lb/drain",
    )
    told = options.record()
    assert options.given
    assert told.pop("before_host") == "curl https://me:[masked]@lb/drain"
    assert told == {"waves": "1,10%", "max_fail": "5%", "per": ["rack=1"], "soak": "30"}


def test_nothing_is_told_of_a_rollout_that_nothing_holds_back() -> None:
    """Which is what most runs are."""
    assert not RolloutOptions().given
    assert RolloutOptions().record() == {}


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock with summer time."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()


def at(text: str) -> float:
    return time.mktime(time.strptime(text, "%Y-%m-%d %H:%M"))


@pytest.mark.parametrize(
    ("text", "now", "then"),
    [
        ("05:00", "2026-03-14 01:00", "2026-03-14 05:00"),
        ("5:00", "2026-03-14 05:00", "2026-03-15 05:00"),
        ("05:00", "2026-03-28 06:00", "2026-03-29 05:00"),  # the night is an hour shorter
        ("00:30", "2026-12-31 23:00", "2027-01-01 00:30"),
        ("2026-04-01T05:00", "2026-03-14 01:00", "2026-04-01 05:00"),
        ("2026-04-01T05:00:00+02:00", "2026-03-14 01:00", "2026-04-01 05:00"),
    ],
)
def test_a_time_is_the_next_one_of_the_local_clock(text: str, now: str, then: str) -> None:
    """A time of day is today's or tomorrow's, by this machine's clock; a date is itself."""
    assert parse_until(text, at(now)) == at(then)


@pytest.mark.parametrize(
    "text", ["", "25:00", "5", "05:61", "2026-03-15", "soon", "2026-03-13T05:00"]
)
def test_what_is_no_time_to_come_is_refused(text: str) -> None:
    """Neither a date without a time nor one that is over is taken."""
    with pytest.raises(ValueError, match=r"neither|no time|past"):
        parse_until(text, at("2026-03-14 01:00"))


def test_a_moment_names_its_day_unless_it_is_today() -> None:
    """People read the time, and the day where that is another."""
    assert len(clock_text(time.time())) == len("05:00")
    assert clock_text(at("2026-03-14 05:00")) == "2026-03-14 05:00"
