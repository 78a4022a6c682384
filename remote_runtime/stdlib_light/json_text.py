"""Writes and reads compact JSON like ``json`` (both sides)."""

from typing import Any, Callable, Dict

_BLANK = " \t\r\n"
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Reading(object):
    """The attributes that the C scanner reads; the defaults of ``json.JSONDecoder``."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__

    def __init__(self) -> None:
        self.memo: Dict[str, str] = {}


def _unknown(value: Any) -> Any:
    raise TypeError("a %s cannot be written as JSON" % type(value).__name__)


def _writer() -> Callable[[Any], str]:
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        from json import JSONEncoder

        return JSONEncoder(separators=(",", ":")).encode
    encode = make_encoder(
        None, _unknown, encode_basestring_ascii, None, ":", ",", False, False, True
    )
    return lambda value: "".join(encode(value, 0))


def _reader() -> Callable[[str], Any]:
    try:
        from _json import make_scanner
    except ImportError:
        from json import loads

        return loads
    reading: Any = _Reading()
    scan = make_scanner(reading)

    def read(text: str) -> Any:
        """Return the single value of a text; ValueError."""
        text = text.strip(_BLANK)
        try:
            value, end = scan(text, 0)
        except StopIteration as stopped:
            raise ValueError("expected a JSON value at character %d" % stopped.value) from None
        except SystemError:  # the module itself reports a better error
            raise ValueError("invalid JSON") from None
        if end != len(text):
            raise ValueError("more than one JSON value, from character %d on" % end)
        return value

    return read


_write, _read = _writer(), _reader()


def dumps(value: Any) -> str:
    """Return the JSON text of a value, in ASCII and without spaces. ``TypeError``,
    ``RecursionError``.
    """
    return _write(value)


def loads(text: str) -> Any:
    """Return the value of a JSON text. ``ValueError``; ``RecursionError`` for one that is nested
    too deeply.
    """
    return _read(text)
