"""The names of runs and of their files that a history accepts (controller)."""

import calendar
import json
import os
import re
import time
from pathlib import Path

from orchestrator.support.plain_text import one_line

_RUN_ID = re.compile(r"(\d{8}T\d{6})Z-[0-9a-f]{6,7}", re.ASCII)
_MAX_LENGTH = 100  # characters of a name
RUN_FILE = "run.json"
LINES = (
    "resources.jsonl",
    "phases.jsonl",
    "events.jsonl",
    "notices.jsonl",
    "rollout.jsonl",
    "hosts.jsonl",
    "verify.jsonl",
    "later.jsonl",
)
"""The files with lines, in an order in which no line refers to a later file."""


OWNER = "received.json"
"""The file of a run that a studio received, which names its token."""
_MAX_OWNER = 1 << 16  # bytes


def owner_of(directory: Path) -> str:
    """The name of the token that a run was posted with; "" for a run that was not posted."""
    try:
        handle = os.open(directory / OWNER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with open(handle, "rb") as file:
        try:
            return one_line(str(json.loads(file.read(_MAX_OWNER))["name"]), _MAX_LENGTH)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return ""


def is_run_id(text: str) -> bool:
    """Whether a string is the ID of a run."""
    return start_time_of(text) is not None


def start_time_of(run_id: str) -> int | None:
    """The start of the run with this ID, in seconds since the epoch; None if it is not
    the ID of a run.
    """
    found = _RUN_ID.fullmatch(run_id)
    if found is None:
        return None
    try:
        return calendar.timegm(time.strptime(found[1], "%Y%m%dT%H%M%S"))
    except ValueError:
        return None
