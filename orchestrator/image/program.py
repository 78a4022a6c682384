"""Turns ``remote_runtime.bootstrap`` into the text that is sent in a command (controller).

Every push starts it, so what only people read is left out: comments, docstrings, annotations.
Compiling it would take longer than anything else that it does: for interpreters like the
controller's it stands there compiled as well, any other compiles the text. What most runs do not
need stands in it compressed.
"""

from __future__ import annotations

import ast
import base64
import inspect
import zlib

from orchestrator.image.compiling import code_of, marshalled
from orchestrator.image.stripping import stripped
from remote_runtime import bootstrap


def program() -> bytes:
    """The text of the bootstrap with the call that starts it, compressed with zlib.

    It takes the arguments of ``bootstrap.run`` from the command line.
    """
    text = bootstrap_text()
    code = code_of(text, "<ccm>/bootstrap")
    forms = (bootstrap.interpreter_tag(), _packed(marshalled(code)), _packed(text.encode()))
    return zlib.compress((_EITHER % forms).encode(), 9)


def bootstrap_text() -> str:
    """The bootstrap without what people read, and the call."""
    tree = ast.parse(stripped(inspect.getsource(bootstrap).encode()))
    later = [node for node in tree.body if getattr(node, "name", "") in bootstrap.FIRST_TIME]
    at_once = [node for node in tree.body if node not in later]
    rest = _packed(_text(later).encode())
    return _text(at_once) + _FIRST_TIME % rest + "run(*sys.argv[1:])\n"


def _text(nodes: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(nodes, [])) + "\n"


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


# As ``bootstrap.interpreter_tag`` has it, which is not there yet.
_EITHER = """\
import sys, marshal, zlib, binascii, _frozen_importlib_external as m
if "%%s-%%s" %% (sys.implementation.cache_tag, m.MAGIC_NUMBER.hex()) == "%s":
    program = marshal.loads(zlib.decompress(binascii.a2b_base64("%s")))
else:
    program = zlib.decompress(binascii.a2b_base64("%s"))
exec(program)
"""

# Gives way to the real one, and all that it calls, when it is called.
_FIRST_TIME = """
def obtain(*given, **named):
    import binascii
    exec(zlib.decompress(binascii.a2b_base64("%s")), globals())
    return obtain(*given, **named)
"""
