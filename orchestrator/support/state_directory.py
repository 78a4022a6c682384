"""The directory of persistent state: ``$XDG_STATE_HOME/ccm``, for its user (controller)."""

import os
from pathlib import Path

from remote_runtime.errors import UsageError


def state_directory() -> Path:
    """``$XDG_STATE_HOME/ccm``, by default ``~/.local/state/ccm``. Nothing is created."""
    base = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification says to ignore a relative path.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"
    return root / "ccm"


def make_private(directory: Path) -> Path:
    """Create the directory and its parents with mode 0700; refuse a directory of another user."""
    missing = [p for p in (directory, *directory.parents) if not p.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    info = directory.stat()
    if info.st_uid != os.geteuid():
        raise UsageError(
            f"{directory} belongs to another user",
            kind="usage.state",
            hint="set XDG_STATE_HOME to a directory that you own",
        )
    if info.st_mode & 0o077:
        directory.chmod(0o700)
    return directory
