"""Turns ``remote_runtime.bootstrap`` into the text that is sent in a command (controller).

Every push starts it, so comments, docstrings and annotations are omitted. Compiling it would take
longer than anything else that it does, so it is included in compiled form for the controller's
version of Python; other versions compile the text. Parts that most runs do not need are compressed.
"""

import ast
import base64
import inspect
import zlib

from orchestrator.image.bytecode import code_of, marshalled
from orchestrator.image.minifier import stripped
from remote_runtime import bootstrap


def program(text: str = "") -> str:
    """The bootstrap with the call that starts it, or another ``text``, as a word of a command.

    It contains the compiled form and then the text, each compressed and in base64, separated by a
    colon. The arguments of ``bootstrap.run`` come from the command line.
    """
    text = text or bootstrap_text()
    return ":".join(map(_packed, (marshalled(code_of(text, "<ccm>/bootstrap")), text.encode())))


def bootstrap_text() -> str:
    """The bootstrap without docstrings and comments, and its call."""
    tree = ast.parse(stripped(inspect.getsource(bootstrap).encode()))
    later = [node for node in tree.body if getattr(node, "name", "") in bootstrap.FIRST_TIME]
    at_once = [node for node in tree.body if node not in later]
    rest = _packed(_text(later).encode())
    return _text(at_once) + _FIRST_TIME % rest + "run(*sys.argv[1:])\n"


def _text(nodes: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(nodes, [])) + "\n"


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


# Gives way to the real one, and all that it calls, when it is called.
_FIRST_TIME = """
def obtain(*given, **named):
    import binascii
    exec(zlib.decompress(binascii.a2b_base64("%s")), globals())
    return obtain(*given, **named)
"""
