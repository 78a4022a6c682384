"""Numbers in texts from files and untrusted sources (both sides)."""

_MAX_DIGITS = 18


def is_number(text: str) -> bool:
    """Return whether it has only ASCII digits, unlike ``str.isdigit``, and at most 18."""
    return 0 < len(text) <= _MAX_DIGITS and not text.strip("0123456789")
