"""The kernel's escapes for white space in tables, such as ``\040`` for a space (target)."""


def unescape(text: str) -> str:
    """Return the name itself; a backslash that does not begin an octal number is kept."""
    if "\\" not in text:
        return text
    head, *rest = text.split("\\")
    return head + "".join(_character(piece) for piece in rest)


def _character(piece: str) -> str:
    digits = piece[:3]
    if len(digits) == 3 and not digits.strip("01234567") and digits <= "377":
        number = int(digits, 8)
        # Above 127 it is one byte of a name that is not text.
        return chr(number if number < 128 else 0xDC00 + number) + piece[3:]
    return "\\" + piece
