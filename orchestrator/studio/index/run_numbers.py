"""Numbers for run IDs, which sort by time as the IDs do (controller)."""

import calendar
import re
import time

_ID = re.compile(r"(\d{8}T\d{6})Z-([0-9a-f]{1,7})")
_DIGITS = 7  # hexadecimal, after the time


def run_number(run_id: str) -> int | None:
    """The number of a run ID; None if it is not one."""
    found = _ID.fullmatch(run_id)
    if found is None:
        return None
    try:
        seconds = calendar.timegm(time.strptime(found[1], "%Y%m%dT%H%M%S"))
    except ValueError:
        return None
    return max(0, seconds) << 4 * _DIGITS | int(found[2].ljust(_DIGITS, "0"), 16)
