"""Turns ``remote_runtime.bootstrap`` into the text that is sent in a command (controller).

Every push starts it, so what only people read is left out: comments, docstrings, annotations.
"""

from __future__ import annotations

import ast
import inspect
import zlib

from remote_runtime import bootstrap


def program() -> bytes:
    """The text of the bootstrap with the call that starts it, compressed with zlib.

    It takes the arguments of ``bootstrap.run`` from the command line.
    """
    tree = _Shorter().visit(ast.parse(inspect.getsource(bootstrap)))
    text = ast.unparse(ast.fix_missing_locations(tree))
    return zlib.compress(f"{text}\nrun(*sys.argv[1:])\n".encode(), 9)


class _Shorter(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        for argument in node.args.args:
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
