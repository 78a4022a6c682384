"""Turns ``remote_runtime.bootstrap`` into the text that is sent in a command (controller).

Every push starts it, so what only people read is left out: comments, docstrings, annotations. The
target compiles what it is sent each time, so what most runs do not need stands in it compressed.
"""

from __future__ import annotations

import ast
import base64
import inspect
import zlib

from remote_runtime import bootstrap


def program() -> bytes:
    """The text of the bootstrap with the call that starts it, compressed with zlib.

    It takes the arguments of ``bootstrap.run`` from the command line.
    """
    tree = _Shorter().visit(ast.parse(inspect.getsource(bootstrap)))
    later = [node for node in tree.body if getattr(node, "name", "") in bootstrap.FIRST_TIME]
    at_once = [node for node in tree.body if node not in later]
    rest = base64.b64encode(zlib.compress(_text(later).encode(), 9)).decode()
    text = _text(at_once) + _FIRST_TIME % rest + "run(*sys.argv[1:])\n"
    return zlib.compress(text.encode(), 9)


def _text(nodes: list[ast.stmt]) -> str:
    return ast.unparse(ast.fix_missing_locations(ast.Module(nodes, []))) + "\n"


# Gives way to the real one, and all that it calls, when it is called.
_FIRST_TIME = """
def obtain(*given, **named):
    import binascii
    exec(zlib.decompress(binascii.a2b_base64("%s")), globals())
    return obtain(*given, **named)
"""


class _Shorter(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._without_docstring(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._without_docstring(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module == "typing" else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if ast.unparse(node.targets[0]) == "Entries" else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def _without_docstring(self, node: ast.FunctionDef | ast.ClassDef | ast.Module) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        self.generic_visit(node)
        return node
