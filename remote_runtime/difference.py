"""Shows how one content differs from another (target)."""

from typing import List, Optional, Tuple

LARGEST = 256 << 10  # bytes a side; above, sizes and hashes say enough
_LINES = 4000  # lines a side that differ; above, comparing them costs more than it tells
_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file"


def is_text(data: bytes) -> bool:
    """Whether these bytes can be shown line by line."""
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def unified(before: Optional[bytes], after: Optional[bytes], path: str) -> str:
    """A unified diff of two contents, "binary" when one cannot be shown; None: nothing there."""
    old, new = before or b"", after or b""
    if not is_text(old) or not is_text(new):
        return "binary"
    a, b = _lines(old), _lines(new)
    out = [
        "--- " + ("/dev/null" if before is None else path),
        "+++ " + ("/dev/null" if after is None else path),
    ]
    out.extend(_body(a, b))
    return "\n".join(out) + "\n" if len(out) > 2 else ""


def summary(before: Optional[Tuple[int, str]], after: Optional[Tuple[int, str]]) -> str:
    """One line with sizes and hashes, for contents too large for a diff."""

    def side(entry: Optional[Tuple[int, str]]) -> str:
        return "nothing" if entry is None else "%d bytes (sha256 %s)" % entry

    return "too large for a diff: %s, then %s" % (side(before), side(after))


def _lines(data: bytes) -> List[str]:
    text = data.decode("utf-8")
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    lines[-1] += "\n" + _NO_NEWLINE
    return lines


def _body(a: List[str], b: List[str]) -> List[str]:
    if not a or not b:
        return _replaced(0, a, new=b, head=[], tail=[]) if a or b else []
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    if start == len(a) == len(b):
        return []
    if max(len(a), len(b)) - start - end <= _LINES:
        import difflib

        found = list(difflib.unified_diff(a, b, n=_CONTEXT, lineterm=""))
        return found[2:]
    head = a[max(0, start - _CONTEXT) : start]
    tail = a[len(a) - end : len(a) - end + _CONTEXT]
    return _replaced(
        start, a[start : len(a) - end], new=b[start : len(b) - end], head=head, tail=tail
    )


def _replaced(
    at: int, old: List[str], *, new: List[str], head: List[str], tail: List[str]
) -> List[str]:
    """One hunk in which all old lines give way to all new ones."""

    def span(lines: List[str]) -> str:
        count = len(head) + len(lines) + len(tail)
        return "%d,%d" % (at - len(head) + (1 if count else 0), count)

    out = ["@@ -%s +%s @@" % (span(old), span(new))]
    for mark, lines in ((" ", head), ("-", old), ("+", new), (" ", tail)):
        out.extend(mark + line for line in lines)
    return out
