"""Whose files are believed (controller)."""

import os


def believed_owners() -> set[int]:
    """Root's id, this user's, and for root that of the user who became root with sudo."""
    given = os.environ.get("SUDO_UID", "")
    behind = [int(given)] if os.geteuid() == 0 and given.isdecimal() else []
    return {0, os.geteuid(), *behind}
