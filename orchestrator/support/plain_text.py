"""Makes text from any source safe for a terminal or a text file (controller).

Text from a host may contain escape sequences or bidirectional controls, which change the displayed
text. They are removed before anything else uses the text.
"""

import json
import math
import re
from typing import Any

from remote_runtime.errors import ProtocolError

MAX_DEPTH = 24
MAX_DIGITS = 40

_CHARACTER = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_UNSAFE = (
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # a complete terminal sequence, so that nothing of it remains
    "|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?"
    "|" + _CHARACTER
)

# Characters without width: two strings that differ only in them look the same.
_INVISIBLE = (
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_ESCAPED = re.compile(r"\\[bfru]")
_DIGITS = re.compile(rf"\d{{{MAX_DIGITS + 1}}}", re.ASCII)
# So many digits in a row hold this many of every tenth character, which are soon looked through;
# hashes often do, too, but seldom this many of every fourth.
_EACH_TENTH, _EACH_FOURTH = (
    re.compile(rf"\d{{{(MAX_DIGITS + 1) // step}}}", re.ASCII) for step in (10, 4)
)


def is_plain_json(text: str) -> bool:
    """Whether ASCII JSON text that is not deeply nested and has only finite numbers certainly
    contains nothing to remove or refuse; False means that it must be examined.
    """
    # Matches the output of json.dumps for everything above, and some harmless text.
    return (
        not _ESCAPED.search(text)
        and "\x7f" not in text
        and not (
            _EACH_TENTH.search(text[::10])
            and _EACH_FOURTH.search(text[::4])
            and _DIGITS.search(text)
        )
    )


def is_shallow(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether the lists and maps of a JSON value are nested at most this deep."""
    if type(value) is dict:
        value = value.values()
    elif type(value) is not list:
        return True
    if not depth:
        return False
    for each in value:
        if (type(each) is dict or type(each) is list) and not is_shallow(each, depth - 1):
            return False
    return True


def plain(text: str) -> str:
    """Return the text without control characters except newline and tab, and without changes of
    direction.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, "", text.replace("\r\n", "\n"))


def with_marks(text: str) -> str:
    """Return plain text with U+FFFD in place of what is removed: if the text is a path, the rest of
    it could be another path.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, "\ufffd", text.replace("\r\n", "\n"))


def value_text(value: Any) -> str:
    """A string unchanged, and another value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def one_line(text: str, limit: int = 400) -> str:
    """Return plain text of one line, at most ``limit`` characters."""
    line = " ".join(plain(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def escaped(text: str) -> str:
    """Return JSON text in which each character that ``plain`` removes is escaped."""
    return re.sub(_CHARACTER, lambda found: f"\\u{ord(found[0]):04x}", text)


def visible(text: str) -> str:
    """Return the text in which each invisible character is escaped."""
    if text.isascii():
        return text
    return re.sub(_INVISIBLE, lambda found: ascii(found[0])[1:-1], text)


def plain_value(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a copy of a JSON value with all strings made plain.

    ProtocolError if it is nested too deeply, or contains a number that is not finite or far too
    long.
    """
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, (dict, list)):
        if not depth:
            raise ProtocolError("values are nested too deeply", kind="protocol.value")
        if isinstance(value, list):
            return [plain_value(item, depth - 1) for item in value]
        return {
            plain(key): plain(item) if item.__class__ is str else plain_value(item, depth - 1)
            for key, item in value.items()
        }
    if isinstance(value, float) and not math.isfinite(value):
        raise ProtocolError("a number that is not finite", kind="protocol.value")
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise ProtocolError(f"a number of more than {MAX_DIGITS} digits", kind="protocol.value")
    return value


def plain_json_value(value: Any) -> Any:
    """Like ``plain_value``, for a large JSON value, which may be returned unchanged: a search of
    the text shows that most values are safe.
    """
    try:
        text = _encode(value)
    except (ValueError, RecursionError):
        return plain_value(value)
    return value if is_plain_json(text) and is_shallow(value) else plain_value(value)


def junit_class(host: str) -> str:
    """A host's name as a JUnit class, because readers treat the part before the last dot as a
    package.
    """
    return host.replace(".", "_")
