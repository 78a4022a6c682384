"""Compiles the runtime for targets with the same interpreter as the controller (controller)."""

import marshal
import sys
import zlib
from collections.abc import Iterator
from types import CodeType
from typing import Any

from remote_runtime import bootstrap

_WITH_TEXTS = (
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
    "co_consts",
    "co_filename",
    "co_name",
    "co_qualname",
)
_NO_COLUMNS, _NO_PLACE = 13, 15  # kinds of entries in a table of locations


def code_of(source: str | bytes, path: str) -> CodeType:
    """The code of a module with line numbers, but without columns and qualified names.

    A traceback of a target names lines and functions. Columns are a quarter of what the target
    would have to read, hash and unpack at each start.
    """
    return _shortened(compile(source, path, "exec", dont_inherit=True))


def _shortened(code: CodeType) -> CodeType:
    """The same code without columns, and with plain names in place of qualified ones."""
    consts = tuple(_shortened(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    if sys.version_info < (3, 11):  # whose code has neither
        return code.replace(co_consts=consts)
    table = _lines_only(code)
    return code.replace(co_consts=consts, co_qualname=code.co_name, co_linetable=table)


def _lines_only(code: CodeType) -> bytes:
    """The table of locations (Python 3.11 and later) with only the line of each instruction.

    An entry covers at most eight units of code: it has its kind and length, then the distance of
    its line from that of the previous entry.
    """
    table = bytearray()
    last = code.co_firstlineno
    for begin, end, line in code.co_lines():
        left = (end - begin) // 2
        while left > 0:
            length = min(left, 8)
            left -= length
            kind = _NO_PLACE if line is None else _NO_COLUMNS
            table.append(0x80 | kind << 3 | length - 1)
            if line is not None:
                far = line - last
                table += _number(-far << 1 | 1 if far < 0 else far << 1)
                last = line
    return bytes(table)


def _number(value: int) -> bytes:
    """A number with six bits per byte, the lowest first; another bit marks that more
    bytes follow.
    """
    written = bytearray()
    while value > 63:
        written.append(0x40 | value & 0x3F)
        value >>= 6
    written.append(value)
    return bytes(written)


def payload(archive: bytes) -> bytes:
    """The compiled modules of a zip, as they are sent."""
    return zlib.compress(bootstrap.compiled(archive, code_of, marshalled), 6)


def extended(code: bytes, added: bytes) -> bytes:
    """The payload of an image with the modules of another zip, as it is sent.

    Compiling the whole image again for these modules would take seconds.
    """
    at_once, parts, data = _opened(bootstrap.unpacked(code))
    _, further, behind = _opened(bootstrap.compiled(added, code_of, marshalled))
    for name, (begin, end, compressed, expected) in further.items():
        parts[name] = (len(data) + begin, len(data) + end, compressed, expected)
    data += behind
    head = marshalled((at_once, parts))
    lead = len(head).to_bytes(4, "big") + len(data).to_bytes(4, "big")
    return zlib.compress(lead + head + data, 6)


def _opened(payload: bytes) -> tuple[bootstrap.Coded, dict[str, bootstrap.Part], bytes]:
    """The modules that every run imports, the parts of the others, and these."""
    at_once, parts = marshal.loads(payload[8:])
    return at_once, parts, payload[bootstrap.end_of_head(payload) :]


def marshalled(value: Any, version: int = 4) -> bytes:
    """Like ``marshal.dumps``, but independent of the other modules that this process has loaded.

    A string that is used more than once is written once, so a target reads it a third faster.
    Without this, a string would also count as used twice if anything else in this process refers to
    it.
    """
    value = marshal.loads(marshal.dumps(value, 2))  # shares only strings
    texts = list(_texts(value))
    for text in texts:
        if len(text) < 2:
            sys.intern(text)  # there is one of it in a process, which may have been interned
    data = marshal.dumps(value, version)
    del texts  # each was used twice until here
    return data


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, CodeType):
        yield from _texts([getattr(value, name) for name in _WITH_TEXTS if hasattr(value, name)])
    elif isinstance(value, (tuple, list, frozenset)):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        yield from _texts([*value.keys(), *value.values()])
