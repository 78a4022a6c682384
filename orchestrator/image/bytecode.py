"""Compiles what is sent to targets whose interpreter is like the controller's (controller)."""

from __future__ import annotations

import ast
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
_PLACED = (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)


def code_of(source: str | bytes, path: str) -> CodeType:
    """The code of a module that knows its lines, but neither its columns nor qualified names.

    A traceback of a target names lines and functions. Columns are a quarter of what the target
    would have to read, hash and unpack at each start.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _PLACED):
            node.end_lineno, node.col_offset, node.end_col_offset = node.lineno, -1, -1
    return _shortened(compile(tree, path, "exec", dont_inherit=True))


def _shortened(code: CodeType) -> CodeType:
    """The same code with plain names in place of qualified ones, which no traceback shows."""
    consts = tuple(_shortened(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    if sys.version_info < (3, 11):
        return code.replace(co_consts=consts)
    return code.replace(co_consts=consts, co_qualname=code.co_name)


def payload(archive: bytes) -> bytes:
    """The compiled modules of a zip, as they travel."""
    return zlib.compress(bootstrap.compiled(archive, code_of, marshalled), 6)


def marshalled(value: Any, version: int = 4) -> bytes:
    """As ``marshal.dumps``, and the same bytes whatever else this process has loaded.

    A text that is used more than once is written once, which a target reads a third faster; one
    counts as used twice where anything else in this process has it, too.
    """
    value = marshal.loads(marshal.dumps(value, 2))  # shares nothing but texts
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
