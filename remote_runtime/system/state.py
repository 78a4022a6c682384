"""Where a host keeps what ccm remembers of it (target)."""

import os
from typing import List

JOURNALS = "unfinished"
# Kinds of records; see ``memory``.
APPLIED = "applied"
REFRESHES = "refreshes"
RUNS = "runs"


def state_directory(home: str) -> str:
    """Return the directory where this host remembers the runs of the user with this home."""
    if os.geteuid() == 0:
        return "/var/lib/ccm"
    base = os.environ.get("XDG_STATE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else home + "/.local/state", "ccm")


def record_path(directory: str, kind: str, name: str) -> str:
    """Where the record of that kind and name is; see ``memory``."""
    return os.path.join(directory, kind, name)


def cache_directory(home: str) -> str:
    """The cache of runtimes, the only place that a preview writes to."""
    return os.path.join(home, ".cache", "ccm")


def journals(directory: str) -> List[str]:
    """The journals of runs that are not over, or were killed; see ``unfinished``."""
    directory = os.path.join(directory, JOURNALS)
    try:
        return [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    except OSError:
        return []  # mostly there is none
