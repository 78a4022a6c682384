"""Checks the headers of a tar archive before tarfile parses them (both sides).

tarfile compares patterns with extended headers. Some versions take quadratic time for a long row of
digits, in which no other thread runs, and quadratic memory for records that overlap.
"""

_HEADER = 512  # bytes
_TYPE = slice(156, 157)
_EXTENDED = (b"x", b"g", b"X")
_LONG_NAMES = (b"L", b"K")  # headers of GNU tar, which a name follows
_MAX_DIGITS = 255  # in a row: a file name may have as many
_DIGITS = bytes([48 if 48 <= byte <= 57 else 32 for byte in range(256)])


class HeaderCheck(object):
    """Checks the headers of one archive, in the order in which tarfile reads them."""

    def __init__(self) -> None:
        self._type = b""  # of the header to which the next part belongs; b"": it is a header

    def check(self, data: bytes) -> None:
        """``ValueError`` for a header that takes too long to parse."""
        if max(map(len, data.translate(_DIGITS).split()), default=0) > _MAX_DIGITS:
            raise ValueError("a header has more than %d digits in a row" % _MAX_DIGITS)
        before, self._type = self._type, b""
        if before in _EXTENDED:
            _check_records(data)
        elif not before and len(data) == _HEADER and data[_TYPE] in _EXTENDED + _LONG_NAMES:
            self._type = data[_TYPE]


def _check_records(data: bytes) -> None:
    """``ValueError`` unless the records, ``LENGTH KEY=VALUE`` and a newline each, follow one
    another up to the end, or to a zero byte.
    """
    begin = 0
    while begin < len(data) and data[begin]:
        space = data.find(b" ", begin)
        length = data[begin : max(space, begin)]
        end = begin + (int(length) if length.isdigit() else 0)
        is_record = space < end <= len(data) and data[end - 1 : end] == b"\n"
        if not (is_record and b"=" in data[space:end]):
            raise ValueError("an extended header has an invalid record")
        begin = end
