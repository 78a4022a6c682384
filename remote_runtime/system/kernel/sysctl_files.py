"""Files with values for kernel parameters, in the format of sysctl.d(5) (both sides).

Unchanged lines are kept byte for byte.
"""

from typing import List, NamedTuple, Optional, Set

SYSCTL_CONF = "sysctl.conf"
_LIMIT = 65535  # numbers of a range


class Setting(NamedTuple):
    """One line that sets a parameter: ``key`` is its path below /proc/sys, ``line`` counts from
    1."""

    file: str
    line: int
    key: str
    value: str


def path_of(name: str) -> str:
    """The path of a parameter below /proc/sys, with dots or slashes between its parts.

    The first of these signs separates the parts. If it is a dot, a slash means a dot in a part:
    ``net.ipv4.conf.eth0/100.forwarding`` is ``net/ipv4/conf/eth0.100/forwarding``.
    """
    dot, slash = name.find("."), name.find("/")
    if dot < 0 or 0 <= slash < dot:
        return name
    return name.translate({ord("."): "/", ord("/"): "."})


def name_of(path: str) -> str:
    """The name of a parameter with dots, given its path below /proc/sys."""
    return path.translate({ord("."): "/", ord("/"): "."})


def parsed(file: str, text: str) -> List[Setting]:
    """The settings in a file, in order. Comments and patterns are omitted."""
    settings = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        key, equals, value = stripped.partition("=")
        if stripped[:1] in ("#", ";", "") or not equals:
            continue
        key = path_of(key.strip().lstrip("-").strip())
        if not set(key) & set("*?["):
            settings.append(Setting(file, number, key, value.strip()))
    return settings


def with_setting(text: str, name: str, value: str) -> str:
    """The text with a value for a parameter, replacing its last line or added at the end."""
    new = "%s = %s" % (name, value)
    own = [one.line for one in parsed("", text) if one.key == path_of(name)]
    lines = text.split("\n")
    if not own:
        end = "" if text.endswith("\n") or not text else "\n"
        return "%s%s%s\n" % (text, end, new)
    lines[own[-1] - 1] = new
    return "\n".join(line for at, line in enumerate(lines, 1) if at not in own[:-1])


def without_setting(text: str, name: str) -> str:
    """The text without the lines for a parameter."""
    own = [one.line for one in parsed("", text) if one.key == path_of(name)]
    return "\n".join(line for at, line in enumerate(text.split("\n"), 1) if at not in own)


def is_bare(text: str) -> bool:
    """Return whether a text has only comments."""
    return all(line.strip()[:1] in ("#", ";", "") for line in text.split("\n"))


def is_same(one: Optional[str], other: Optional[str]) -> bool:
    """Return whether two values have the same meaning: the white space between numbers and their
    notation are ignored.
    """
    if one is None or other is None:
        return one is other
    if [_plain(word) for word in one.split()] == [_plain(word) for word in other.split()]:
        return True
    ranges = _ranges(one)
    return ranges is not None and ranges == _ranges(other)


def is_held(now: str, wanted: str) -> bool:
    """Return whether a parameter has a value: if it has several numbers, the kernel can set only
    the first ones and keep the others.
    """
    words, there = wanted.split(), now.split()
    numbers = all(number_of(word) is not None for word in there + words)
    if numbers and 0 < len(words) < len(there):
        there = there[: len(words)]
    return is_same(" ".join(there), wanted)


def number_of(word: str) -> Optional[int]:
    """The number that a word represents for the kernel: decimal, or with the prefix 0x or 0."""
    digits = word.lstrip("-")
    if not digits[:1].isdigit() or len(word) - len(digits) > 1:
        return None
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" and digits != "0" else 10
    try:
        number = int(digits.replace("_", "x"), base)
    except ValueError:
        return None
    return -number if word.startswith("-") else number


def _ranges(text: str) -> Optional[Set[int]]:
    """The numbers in a list such as 80,90-99, which the kernel shows in a different form; None if
    it is not one.
    """
    result: Set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not (first.isdigit() and last.isdigit() and 0 <= int(last) - int(first) <= _LIMIT):
            return None
        result.update(range(int(first), int(last) + 1))
    return result


def _plain(word: str) -> str:
    number = number_of(word)
    return word if number is None else str(number)
