"""The locations of the state that ccm stores on a host (target)."""

import os
from typing import List

JOURNALS = "unfinished"
# Kinds of records; see ``memory``.
APPLIED = "applied"
REFRESHES = "refreshes"
RUNS = "runs"


def state_directory(home: str) -> str:
    """Return the directory where this host stores the runs of the user with this home directory."""
    if os.geteuid() == 0:
        return "/var/lib/ccm"
    base = os.environ.get("XDG_STATE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else home + "/.local/state", "ccm")


def record_path(directory: str, kind: str, name: str) -> str:
    """The path of the record with that kind and name; see ``state_store``."""
    return os.path.join(directory, kind, name)


def cache_directory(home: str) -> str:
    """The cache of runtimes, the only directory to which a preview writes."""
    return os.path.join(home, ".cache", "ccm")


def journals(directory: str) -> List[str]:
    """The journals of runs that have not ended or were killed; see ``temp_journal``."""
    directory = os.path.join(directory, JOURNALS)
    try:
        return [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    except OSError:
        return []  # mostly there is none
