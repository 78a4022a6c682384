"""Shows how two contents differ (target)."""

from typing import Dict, Iterator, List, Optional, Tuple

LARGEST = 256 << 10  # bytes a side; above, sizes and hashes say enough
_LINES = 4000  # lines a side between two that are alike; above, comparing them costs too much
_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file"
# Control characters except tab and newline, and the range of bidirectional controls.
_UNSEEN = (
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    (0x061C, 0x061C),
    (0x200E, 0x200F),
    (0x2028, 0x202E),
    (0x2066, 0x2069),
    (0xFEFF, 0xFEFF),
)

Region = Tuple[int, int, int, int]  # old lines from and to, new lines from and to


def is_text(data: bytes) -> bool:
    """Return whether these bytes can be shown line by line."""
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def unified(before: Optional[bytes], after: Optional[bytes], path: str) -> str:
    """A unified diff of two contents, "binary" if one cannot be shown as text; None means that
    there is no content.
    """
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
    """One line with sizes and hashes, for contents too large for a diff.

    A content is represented by its size and the result of ``changes.content_before``.
    """

    def side(entry: Optional[Tuple[int, str]]) -> str:
        if entry is None:
            return "nothing"
        kind, _, value = entry[1].partition(":")
        return "%d bytes" % entry[0] + (" (%s %.12s)" % (kind, value) if value else "")

    return "too large for a diff: %s before, %s after" % (side(before), side(after))


def _lines(data: bytes) -> List[str]:
    text = data.decode("utf-8")
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    lines[-1] += "\n" + _NO_NEWLINE
    return lines


def _body(a: List[str], b: List[str]) -> List[str]:
    out: List[str] = []
    hunk: List[Region] = []
    for region in _regions(a, b):
        if hunk and region[0] - hunk[-1][1] > 2 * _CONTEXT:
            out += _hunk(hunk, a, b)
            hunk = []
        hunk.append(region)
    return out + _hunk(hunk, a, b) if hunk else out


def _regions(a: List[str], b: List[str]) -> Iterator[Region]:
    """Yield the differing regions of the two texts, in order."""
    at, bt = 0, 0
    for i, j, count in [*_matching(a, b), (len(a), len(b), 0)]:
        if (at, bt) != (i, j):
            yield at, i, bt, j
        at, bt = i + count, j + count


def _matching(a: List[str], b: List[str]) -> List[Tuple[int, int, int]]:
    """Return the lines that are equal in both: the first line of each sequence and the number of
    lines, in order.
    """
    result = []
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        i, i_end, j, j_end = waiting.pop()
        same = 0
        while i + same < i_end and j + same < j_end and a[i + same] == b[j + same]:
            same += 1
        result.append((i, j, same))
        i, j, same = i + same, j + same, 0
        while i < i_end and j < j_end and a[i_end - 1] == b[j_end - 1]:
            i_end, j_end, same = i_end - 1, j_end - 1, same + 1
        result.append((i_end, j_end, same))
        if i == i_end or j == j_end:
            continue
        old, new = a[i:i_end], b[j:j_end]
        if max(len(old), len(new)) <= _LINES:
            from difflib import SequenceMatcher

            blocks = SequenceMatcher(None, old, new).get_matching_blocks()
            result += [(i + x, j + y, count) for x, y, count in blocks]
            continue
        anchors = _anchors(old, new)
        ends = [*anchors[1:], (len(old), len(new))]
        if anchors:
            waiting.append((i, i + anchors[0][0], j, j + anchors[0][1]))
        for (x, y), (x_end, y_end) in zip(anchors, ends):
            waiting.append((i + x, i + x_end, j + y, j + y_end))
    return sorted(block for block in result if block[2])


def _anchors(a: List[str], b: List[str]) -> List[Tuple[int, int]]:
    """Lines that occur once in each text, as the longest sequence in the same order."""
    from bisect import bisect_left

    where, twice = _unique(a), _unique(b)
    pairs = sorted((i, twice[line]) for line, i in where.items() if line in twice)
    # The longest increasing run of the second numbers: each ends a run of its length.
    ends: List[int] = []
    last: List[int] = []
    before: List[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
    run = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _unique(lines: List[str]) -> Dict[str, int]:
    result: Dict[str, int] = {}
    for number, line in enumerate(lines):
        result[line] = -1 if line in result else number
    return {line: number for line, number in result.items() if number >= 0}


def _hunk(regions: List[Region], a: List[str], b: List[str]) -> List[str]:
    """The lines of one hunk, including surrounding lines."""
    first, last = regions[0], regions[-1]
    head = min(first[0], first[2], _CONTEXT)
    tail = min(len(a) - last[1], len(b) - last[3], _CONTEXT)
    at, end = first[0] - head, last[1] + tail
    spans = _span(at, end), _span(first[2] - head, last[3] + tail)
    out = ["@@ -%s +%s @@" % spans]
    for i, i_end, j, j_end in regions:
        out += [" " + line for line in a[at:i]]
        out += ["-" + line for line in a[i:i_end]]
        out += ["+" + line for line in b[j:j_end]]
        at = i_end
    return out + [" " + line for line in a[at:end]]


def _span(start: int, end: int) -> str:
    count = end - start
    if count == 1:
        return str(start + 1)
    return "%d,%d" % (start + 1 if count else start, count)


def visible(diff: str) -> str:
    """The diff with invisible characters escaped: control characters, bidirectional controls, and
    spaces at the end of a changed line.

    Applied after secrets are masked, because secrets may contain such characters.
    """
    if not _signs:
        _signs.update({c: _sign(c) for first, last in _UNSEEN for c in range(first, last + 1)})

    def blanks(line: str) -> str:
        text = line.rstrip(" \t") if line[:1] in ("+", "-") else line
        end = line[len(text) :]
        return text + end.replace(" ", "\u2420").replace("\t", "\u2409")

    lines = diff.translate(_signs).split("\n")
    return "\n".join([blanks(line) if line.endswith((" ", "\t")) else line for line in lines])


_signs: Dict[int, str] = {}  # visible signs for invisible characters; created on demand


def _sign(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "<U+%04X>" % code
