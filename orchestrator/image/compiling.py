"""Compiles what is sent to targets whose interpreter is like the controller's (controller)."""

from __future__ import annotations

import ast
import zlib
from types import CodeType

from remote_runtime import bootstrap

_PLACED = (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)


def code_of(source: str | bytes, path: str) -> CodeType:
    """The code of a module that knows its lines and not its columns.

    A traceback of a target names lines. Columns are a quarter of what the target would have to
    read, hash and unpack at each start.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _PLACED):
            node.end_lineno, node.col_offset, node.end_col_offset = node.lineno, -1, -1
    return compile(tree, path, "exec", dont_inherit=True)


def payload(archive: bytes) -> bytes:
    """The compiled modules of a zip, as they travel."""
    return zlib.compress(bootstrap.compiled(archive, code_of), 6)
