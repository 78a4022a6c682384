"""Until when hosts may begin."""

import time

import pytest

from orchestrator.rollout.deadline import clock_text, parse_until


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
