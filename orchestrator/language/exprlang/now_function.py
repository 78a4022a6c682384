"""``now()``: a time that is a string (controller)."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from orchestrator.language import cost_limits

_LAYOUT = re.compile(
    r"2006|January|Jan|Monday|Mon|Z07:00|-07:00|-0700|MST|01|02|03|04|05|06|15|PM|1|2|_2|3|4|5"
)
_MEANINGS = {
    "2006": "%Y", "06": "%y", "January": "%B", "Jan": "%b", "01": "%m", "Monday": "%A",
    "Mon": "%a", "02": "%d", "15": "%H", "03": "%I", "04": "%M", "05": "%S", "PM": "%p",
    "Z07:00": "Z", "-07:00": "+00:00", "-0700": "+0000", "MST": "UTC",
}  # fmt: skip


class Moment(str):
    """A time in UTC, written in RFC 3339 to the second, with the methods of Go's times."""

    __slots__ = ("_time",)
    _time: datetime

    @classmethod
    def now(cls) -> Moment:
        """The current time."""
        return cls.of(datetime.now(timezone.utc))

    @classmethod
    def of(cls, time: datetime) -> Moment:
        """A time in UTC."""
        made = cls(time.strftime("%Y-%m-%dT%H:%M:%SZ"))
        made._time = time
        return made

    def Year(self) -> int:
        """The year."""
        return self._time.year

    def Month(self) -> int:
        """The month, 1 to 12."""
        return self._time.month

    def Day(self) -> int:
        """The day of the month."""
        return self._time.day

    def YearDay(self) -> int:
        """The day of the year."""
        return self._time.timetuple().tm_yday

    def Weekday(self) -> str:
        """Monday to Sunday."""
        return f"{self._time:%A}"

    def Hour(self) -> int:
        """The hour, 0 to 23."""
        return self._time.hour

    def Minute(self) -> int:
        """The minute."""
        return self._time.minute

    def Second(self) -> int:
        """The second."""
        return self._time.second

    def Unix(self) -> int:
        """Seconds since 1970."""
        return int(self._time.timestamp())

    def UTC(self) -> Moment:
        """The time itself, which is in UTC."""
        return self

    def Format(self, layout: str) -> str:
        """The time in the layout, given as the reference time ``Mon Jan 2 15:04:05 2006``."""
        if len(layout) > cost_limits.MAX_WIDTH:
            raise cost_limits.TooLargeError("the layout is too long")
        return _LAYOUT.sub(lambda match: self._part(match.group()), layout)

    def _part(self, word: str) -> str:
        plain = {
            "1": self._time.month, "2": self._time.day, "3": (self._time.hour % 12) or 12,
            "4": self._time.minute, "5": self._time.second,
        }  # fmt: skip
        if word in plain:
            return str(plain[word])
        if word == "_2":
            return f"{self._time.day:2}"
        return self._time.strftime(_MEANINGS[word])


METHODS = (
    "Year", "Month", "Day", "YearDay", "Weekday", "Hour", "Minute", "Second", "Unix", "UTC",
    "Format",
)  # fmt: skip
