"""Removes docstrings, comments and annotations from the runtime's sources (controller).

It removes docstrings, annotations and ``typing``, so targets read, hash and unpack less
(``remote_runtime.stdlib_light`` explains why). Line numbers do not change, so a traceback of a
target names the line of the source.

``remote_runtime.stdlib_light.named_tuple`` replaces ``typing`` for named tuples. Their constructors
and fields are written out, because creating them costs a target more than the rest of the class.
"""

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

_TUPLES = "remote_runtime.stdlib_light.named_tuple"


class _Edit(NamedTuple):
    """A part of the text, from (line, byte) to (line, byte), that is replaced with another text."""

    begin: tuple[int, int]
    end: tuple[int, int]
    text: str


def stripped(source: bytes) -> bytes:
    """The module without docstrings, annotations and ``typing``, with the same number of lines.

    ``ValueError`` if anything other than an annotation still needs ``typing``.
    """
    tree = ast.parse(source)
    finder = _Finder(source)
    finder.visit(tree)
    text = _edited(source, finder.edits)
    named = finder.imported - {"NamedTuple"}
    # Parsing all modules again would take a fifth of a build; most of them have no name left.
    if any(re.search(rb"\b%s\b" % name.encode(), text) for name in named):
        nodes = ast.walk(ast.parse(text))
        if left := named & {node.id for node in nodes if isinstance(node, ast.Name)}:
            raise ValueError(f"typing is needed at run time: {', '.join(sorted(left))}")
    return text


def _edited(source: bytes, edits: Sequence[_Edit]) -> bytes:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for edit in sorted(edits, reverse=True):
        begin = starts[edit.begin[0] - 1] + edit.begin[1]
        end = starts[edit.end[0] - 1] + edit.end[1]
        breaks = source.count(b"\n", begin, end)
        source = source[:begin] + edit.text.encode() + b"\n" * breaks + source[end:]
    return source


class _Finder(ast.NodeVisitor):
    """Collects the edits of one module; edits never overlap."""

    def __init__(self, source: bytes) -> None:
        self.edits: list[_Edit] = []
        self.imported: set[str] = set()
        self._lines = source.splitlines()

    def visit_Module(self, node: ast.Module) -> None:
        self._body(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Remove the annotations of a function, then those in its body."""
        given = node.args
        for argument in (*given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if argument is not None and argument.annotation is not None:
                begin = argument.col_offset + len(argument.arg.encode())
                self._cut((argument.lineno, begin), argument)
        if node.returns is not None:
            line = node.returns.lineno
            arrow = self._lines[line - 1].rindex(b"->", 0, node.returns.col_offset)
            self._cut((line, arrow), node.returns)
        self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Write out the fields of a named tuple behind the last one."""
        named = any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)
        fields = [entry for entry in node.body if named and isinstance(entry, ast.AnnAssign)]
        for entry in fields:
            self._field(entry, _written_out(fields) if entry is fields[-1] else "")
        self._body(node, named)

    def generic_visit(self, node: ast.AST) -> None:
        """Continue with nested statements, because expressions have no annotations."""
        for block in ("body", "handlers", "cases", "orelse", "finalbody"):
            for entry in getattr(node, block, ()):
                self.visit(entry)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Remove imports of typing; a named tuple gets the lightweight one instead."""
        if node.module == "typing":
            names = {alias.name for alias in node.names}
            self.imported |= names
            needed = f"from {_TUPLES} import NamedTuple, items, made"
            self._cut(_begin(node), node, needed if "NamedTuple" in names else "pass")

    def visit_If(self, node: ast.If) -> None:
        """Remove code for type checkers; ``not TYPE_CHECKING`` is always true here."""
        test = node.test
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        name = test.operand if isinstance(test, ast.UnaryOp) and negated else test
        if isinstance(name, ast.Name) and name.id == "TYPE_CHECKING":
            if not (negated or node.orelse):
                self._cut(_begin(node), node, "pass")
                return
            if negated:
                self._cut(_begin(test), test, "True")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Remove the annotation, and a line that has nothing else."""
        if node.value is None:
            self._cut(_begin(node), node, "pass")
        else:
            self._cut(_end(node.target), node.annotation)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Replace a type alias, which other modules may import, with None."""
        if not isinstance(node.value, ast.Subscript):
            return
        used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
        if used & self.imported:
            self._cut(_begin(node.value), node.value, "None")

    def _field(self, node: ast.AnnAssign, behind: str) -> None:
        if node.value is None:
            self._cut(_begin(node), node, behind or "pass")
        else:
            self._cut(_end(node.target), node.annotation)
            if behind:
                self.edits.append(_Edit(_end(node), _end(node), "; " + behind))

    def _body(self, node: ast.Module | ast.ClassDef | ast.FunctionDef, named: bool = False) -> None:
        rest = node.body
        if ast.get_docstring(node, clean=False) is not None:
            rest = node.body[1:]
            self._cut(_begin(node.body[0]), node.body[0], "" if rest else "pass")
        for entry in rest:
            if not (named and isinstance(entry, ast.AnnAssign)):
                self.visit(entry)

    def _cut(self, begin: tuple[int, int], last: ast.AST, text: str = "") -> None:
        self.edits.append(_Edit(begin, _end(last), text))


def _written_out(fields: Sequence[ast.AnnAssign]) -> str:
    """What makes a class a named tuple with these fields: ``_fields``, ``_field_defaults``, a
    constructor that accepts positional and keyword arguments, and the properties, which replace the
    defaults.
    """
    names = [ast.unparse(entry.target) for entry in fields]
    defaults = [name for name, entry in zip(names, fields) if entry.value]
    given = [f"{name}={name}" if name in defaults else name for name in names]
    row = f"{', '.join(names)},"
    return "; ".join(
        [
            "__slots__ = ()",
            f"_fields = ({', '.join(map(repr, names))},)",
            f"_field_defaults = {{{', '.join(f'{name!r}: {name}' for name in defaults)}}}",
            f"__new__ = lambda cls, {', '.join(given)}: made(cls, ({row}))",
            f"{row} = items[:{len(names)}]",
        ]
    )


def _begin(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def _end(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
