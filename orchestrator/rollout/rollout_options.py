"""The options of a rollout, and the times in them (controller)."""

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from orchestrator.rollout.shared_limits import SharedLimit
    from orchestrator.rollout.wave_sizes import Amount


def parse_until(text: str, now: float | None = None) -> float:
    """The next ``05:00`` on this machine's clock, or a date and time, in seconds of
    ``time.time()``.

    ValueError, also for a date in the past.
    """
    # Every report has a clock; only --until reads one.
    import re
    from datetime import datetime

    now = time.time() if now is None else now
    clock = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII).fullmatch(text)
    if clock:
        return _next(int(clock[1]), int(clock[2]), now)
    try:
        at = datetime.fromisoformat(text).timestamp()  # by the local clock where it names no zone
    except (ValueError, OverflowError, OSError):
        what = "neither a time such as 05:00 nor a date and time such as 2026-03-14T05:00"
        raise ValueError(f"{text!r} is {what}") from None
    if len(text) < len("2026-03-14T05"):
        raise ValueError(f"{text!r} has no time of day")
    if at <= now:
        raise ValueError(f"{text} is in the past")
    return at


def _next(hour: int, minute: int, now: float) -> float:
    """The next time at which the local clock shows this time, even across a change to daylight
    saving time.
    """
    today = time.localtime(now)
    for days in (0, 1):
        date = (today.tm_year, today.tm_mon, today.tm_mday + days)
        at = time.mktime((*date, hour, minute, 0, 0, 0, -1))
        if at > now:
            break
    return at


def clock_text(at: float) -> str:
    """A time in readable form on this machine's clock, with the day if it is not today."""
    then = time.localtime(at)
    today = time.strftime("%Y-%m-%d", then) == time.strftime("%Y-%m-%d")
    return time.strftime("%H:%M" if today else "%Y-%m-%d %H:%M", then)


AUTO = "auto"  # how canaries are chosen
GATE_TIMEOUT = 1800.0
MAX_CLUSTERS = 20  # clusters of hosts that a push with canaries may have


class RolloutOptions(NamedTuple):
    """The options of a rollout; ``until`` is in seconds of ``time.time()``, ``soak`` and
    ``gate_timeout`` are durations in seconds, ``gate`` has commands and the word ``verify``."""

    waves: "tuple[Amount, ...]" = ()
    max_fail: "Amount | None" = None
    until: float | None = None
    per: "tuple[SharedLimit, ...]" = ()
    soak: float = 0.0
    gate: tuple[str, ...] = ()
    gate_timeout: float = GATE_TIMEOUT
    confirm: bool = False
    before_host: str = ""
    after_host: str = ""
    canary: str = ""
    canary_max: int = MAX_CLUSTERS

    @property
    def given(self) -> bool:
        """Whether any limit is set."""
        return self != RolloutOptions()

    def record(self) -> dict[str, Any]:
        """The options that are set, in their command line form; a login in a command is masked."""
        masked = Mask().text
        told = {
            "waves": ",".join(map(str, self.waves)),
            "max_fail": "" if self.max_fail is None else str(self.max_fail),
            "until": "" if self.until is None else clock_text(self.until),
            "per": list(map(str, self.per)),
            "soak": f"{self.soak:g}" if self.soak else "",
            "gate": list(map(masked, self.gate)),
            "gate_timeout": "" if self.gate_timeout == GATE_TIMEOUT else f"{self.gate_timeout:g}",
            "confirm": self.confirm,
            "before_host": masked(self.before_host),
            "after_host": masked(self.after_host),
            "canary": self.canary,
            "canary_max": "" if self.canary_max == MAX_CLUSTERS else str(self.canary_max),
        }
        return {name: value for name, value in told.items() if value}
