"""Numbers in texts from files and from strangers (both sides)."""

from typing import Optional

_MAX_DIGITS = 18
_IDS = (1 << 32) - 1  # and the last one stands for none


def is_number(text: str) -> bool:
    """Return whether it has ASCII digits only, unlike ``str.isdigit``, and at most 18."""
    return 0 < len(text) <= _MAX_DIGITS and not text.strip("0123456789")


def account_id(text: str) -> Optional[int]:
    """The uid or gid that is spelled out; None for anything else."""
    number = int(text) if is_number(text) else _IDS
    return number if number < _IDS else None
