"""Numbers in texts from files and from strangers (both sides)."""

_MAX_DIGITS = 18


def is_number(text: str) -> bool:
    """Return whether it has ASCII digits only, unlike ``str.isdigit``, and at most 18."""
    return 0 < len(text) <= _MAX_DIGITS and not text.strip("0123456789")
