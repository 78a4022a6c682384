"""Turns ``remote_runtime.bootstrap`` into the text that is sent in a command (controller).

Every push starts it, so what only people read is left out: comments, docstrings, annotations. The
target compiles what it is sent each time, so what most runs do not need stands in it compressed.
"""

from __future__ import annotations

import ast
import base64
import inspect
import zlib

from orchestrator.image.stripping import stripped
from remote_runtime import bootstrap


def program() -> bytes:
    """The text of the bootstrap with the call that starts it, compressed with zlib.

    It takes the arguments of ``bootstrap.run`` from the command line.
    """
    tree = ast.parse(stripped(inspect.getsource(bootstrap).encode()))
    later = [node for node in tree.body if getattr(node, "name", "") in bootstrap.FIRST_TIME]
    at_once = [node for node in tree.body if node not in later]
    rest = base64.b64encode(zlib.compress(_text(later).encode(), 9)).decode()
    text = _text(at_once) + _FIRST_TIME % rest + "run(*sys.argv[1:])\n"
    return zlib.compress(text.encode(), 9)


def _text(nodes: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(nodes, [])) + "\n"


# Gives way to the real one, and all that it calls, when it is called.
_FIRST_TIME = """
def obtain(*given, **named):
    import binascii
    exec(zlib.decompress(binascii.a2b_base64("%s")), globals())
    return obtain(*given, **named)
"""
