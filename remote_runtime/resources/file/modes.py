"""File modes as written in the manifest (both sides)."""

HIGHEST_MODE = 0o7777


def parse_mode(text: str) -> int:
    """Return the bits of "644", "0644", "0o644" or "2755". ``ValueError`` describes the mistake."""
    digits = _digits(text)
    if not digits or digits.strip("01234567"):
        raise ValueError('%r is not an octal mode such as "0644"' % text)
    mode = int(digits, 8)
    if mode > HIGHEST_MODE:
        raise ValueError("%r is larger than 7777" % text)
    return mode


def leaves_special_bits(text: str) -> bool:
    """Return whether a mode omits setuid, setgid and sticky, which a directory then keeps."""
    return len(_digits(text)) < 5 and parse_mode(text) <= 0o777


def _digits(text: str) -> str:
    return text[2:] if text[:2] in ("0o", "0O") else text


def directory_mode(mode: int) -> int:
    """Add x to each triad that has r or w."""
    for shift in (0, 3, 6):
        if mode >> shift & 6:
            mode |= 1 << shift
    return mode
