"""Checks the modules of a type as far as possible without running them (controller).

Hosts may have Python 3.6, so newer syntax is refused here instead of failing on some hosts. A type
imports the standard library, the public modules of the runtime, and its own modules.
"""

import ast
import io
import re
import sys
import token
import tokenize
from collections.abc import Iterator
from itertools import pairwise

from remote_runtime import base
from remote_runtime.errors import Position, Problem

PUBLIC_MODULES = (
    "base",
    "errors",
    "host.file_text",
    "host.ports",
    "text.duration",
)
"""The modules of ``remote_runtime`` that a type may import; their meaning remains stable."""

_OLDEST = (3, 6)
_SINCE = {
    "dataclasses": "3.7", "contextvars": "3.7", "zoneinfo": "3.9", "graphlib": "3.9",
    "tomllib": "3.11",
}  # fmt: skip
_GONE = {
    "asynchat": "3.12", "asyncore": "3.12", "distutils": "3.12", "imp": "3.12", "smtpd": "3.12",
    "aifc": "3.13", "audioop": "3.13", "cgi": "3.13", "cgitb": "3.13", "chunk": "3.13",
    "crypt": "3.13", "imghdr": "3.13", "mailcap": "3.13", "msilib": "3.13", "nis": "3.13",
    "nntplib": "3.13", "ossaudiodev": "3.13", "pipes": "3.13", "sndhdr": "3.13", "spwd": "3.13",
    "sunau": "3.13", "telnetlib": "3.13", "uu": "3.13", "xdrlib": "3.13",
}  # fmt: skip
_GENERICS = ("dict", "frozenset", "list", "set", "tuple", "type")
_RUNTIME = "remote_runtime"
_BASE = base.__name__
_OWN = f"{_RUNTIME}.resources"
_PACKAGES = {
    _RUNTIME,
    *(f"{_RUNTIME}.{name.rpartition('.')[0]}" for name in PUBLIC_MODULES if "." in name),
}
_START: int = getattr(token, "FSTRING_START", -1)
_END: int = getattr(token, "FSTRING_END", -1)
_QUOTE = re.compile("[A-Za-z]*(\"\"\"|'''|\"|')")
_AFTER_VALUE = ("}", "!", ":")


def module_problems(package: str, member: str, file: str, source: bytes) -> list[Problem]:
    """The problems of one module: ``member`` is its path in the type's directory ``package``."""
    tree = _parsed(file, source, _OLDEST)
    if isinstance(tree, Problem):
        return [tree]
    found = [*_newer(tree, file), *_imports(tree, f"{package}/{member}", file)]
    found += [
        Problem(f"{what}, and hosts may have Python 3.6", Position(file, line, column + 1), hint)
        for what, hint, (line, column) in _newer_fstrings(source)
    ]
    return sorted(found, key=lambda problem: problem.where or Position(file, 0, 0))


def controller_problems(file: str, source: bytes, function: str) -> list[Problem]:
    """The problems of a module that runs only on the controller and must define a function."""
    tree = _parsed(file, source, None)
    if isinstance(tree, Problem):
        return [tree]
    if function in (node.name for node in tree.body if isinstance(node, ast.FunctionDef)):
        return []
    message, hint = f"the function {function} is missing", f"define def {function}(subject)"
    return [Problem(message, Position(file, 1, 1), hint, "input.python")]


def _parsed(file: str, source: bytes, oldest: tuple[int, int] | None) -> ast.Module | Problem:
    try:
        source.decode("utf-8")
        return ast.parse(source, file, feature_version=oldest)
    except SyntaxError as error:
        return _syntax(error, source, file)
    except UnicodeDecodeError as error:
        where = Position(file, source.count(b"\n", 0, error.start) + 1, 1)
        return Problem("this is not UTF-8 text", where, "save it as UTF-8", "input.encoding")
    except (ValueError, RecursionError, MemoryError) as error:  # such as a null byte
        return Problem(f"invalid Python: {error}", Position(file, 1, 1), "", "input.python")


def _syntax(error: SyntaxError, source: bytes, file: str) -> Problem:
    where = Position(file, error.lineno or 1, error.offset or 1)
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return Problem(f"invalid Python: {error.msg}", where, "", "input.python")
    message = f"invalid in Python 3.6: {error.msg}"
    return Problem(message, where, "hosts may have Python 3.6", "input.python")


def _newer(tree: ast.Module, file: str) -> Iterator[Problem]:
    """Syntax that parses as Python 3.6 but fails there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            if any(alias.name == "annotations" for alias in node.names):
                yield _since("from __future__ import annotations", "3.7", node=node, file=file)
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            yield from _annotation(node.annotation, file)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
            yield from _annotation(node.returns, file)
        elif isinstance(node, ast.Attribute) and node.attr in ("removeprefix", "removesuffix"):
            yield _since(node.attr, "3.9", node=node, file=file)


def _annotation(node: ast.expr, file: str) -> Iterator[Problem]:
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
            if part.value.id in _GENERICS:
                yield _since(
                    f"{part.value.id}[...]",
                    "3.9",
                    node=part,
                    file=file,
                    hint="use the one from typing",
                )
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            yield _since(
                "A | B as a type", "3.10", node=part, file=file, hint="use Optional or Union"
            )


def _since(what: str, version: str, *, node: ast.AST, file: str, hint: str = "") -> Problem:
    where = Position(file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
    message = f"{what} requires Python {version}, and hosts may have Python 3.6"
    return Problem(message, where, hint, "input.python")


def _imports(tree: ast.Module, path: str, file: str) -> Iterator[Problem]:
    package = f"{_OWN}.{path}".removesuffix(".py").replace("/", ".").split(".")
    tried = _tried(tree)
    for node in ast.walk(tree):
        if id(node) in tried or not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in _names(node, package):
            message, hint = _refusal(name, package[2])
            if name == _BASE and isinstance(node, ast.ImportFrom):
                message, hint = _unknown_base(node)
            if message:
                where = Position(file, node.lineno, node.col_offset + 1)
                yield Problem(message, where, hint, "input.import")
                break


def _unknown_base(node: ast.ImportFrom) -> tuple[str, str]:
    """A name that is imported from the module of base classes but does not exist there; ("", "") if
    there is none.
    """
    for alias in node.names:
        if alias.name not in (*base.__all__, "base", "*"):
            hint = "derive Resource from StateType and define read, desired, apply and remove"
            return f"{_BASE} has no {alias.name}", hint
    return "", ""


def _tried(tree: ast.Module) -> set[int]:
    """The imports that may fail, or that only type checkers see."""
    found: set[int] = set()
    for node in ast.walk(tree):
        guarded: list[ast.stmt] = []
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            guarded = node.body
        elif isinstance(node, ast.Try) and "ImportError" in "".join(
            ast.unparse(handler.type) for handler in node.handlers if handler.type
        ):
            guarded = [*node.body, *(line for handler in node.handlers for line in handler.body)]
        found.update(id(below) for line in guarded for below in ast.walk(line))
    return found


def _names(node: ast.Import | ast.ImportFrom, package: list[str]) -> list[str]:
    """The modules that an import names, with full names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not node.level:
        stem = node.module or ""
    else:
        stem = ".".join([*package[: len(package) - node.level], *filter(None, [node.module])])
    if stem in _PACKAGES or stem == f"{_OWN}.{package[2]}":
        return [f"{stem}.{alias.name}" for alias in node.names]
    return [stem]


def _refusal(name: str, type_name: str) -> tuple[str, str]:
    """The reason why a module may not be imported, and what to do; ("", "") if it may."""
    top = name.split(".")[0]
    if name == f"{_OWN}.{type_name}.verify":
        return "verify.py runs only on the controller", "move shared code to another module"
    if f"{name}.".startswith(f"{_OWN}.{type_name}."):
        return "", ""
    if top == _RUNTIME:
        offered = name.removeprefix(f"{_RUNTIME}.")
        if any(f"{offered}.".startswith(f"{module}.") for module in PUBLIC_MODULES):
            return "", ""
        known = ", ".join(PUBLIC_MODULES)
        return f"{name} is not available to custom types", f"available from remote_runtime: {known}"
    if top in _SINCE:
        return f"{top} requires Python {_SINCE[top]}", (
            "hosts may have Python 3.6; import it in a try block, and handle its absence"
        )
    if top in _GONE:
        return f"{top} was removed in Python {_GONE[top]}", "import it in a try block"
    if top not in sys.stdlib_module_names:
        return (
            f"{name} is not in the standard library, so hosts do not have it",
            "put required modules into the type's directory; run programs with host.commands",
        )
    return "", ""


def _newer_fstrings(source: bytes) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Yield syntax in f-strings that Python 3.6 does not support. Python 3.12 and newer parse it
    into the same tree, for every requested version of the grammar; older ones refuse it.
    """
    tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
    within: list[str] = []  # the quotes of the f-strings around a token
    for found, after in pairwise(tokens):
        if found.type == _END:
            within.pop()
        elif found.type in (_START, token.STRING):
            match = _QUOTE.match(found.string)
            quote = match[1] if match else ""
            if within and quote.startswith(within[-1]):
                hint = "use the other kind of quotes"
                yield (
                    "reusing the f-string's own quotes inside it requires Python 3.12",
                    hint,
                    found.start,
                )
            if found.type == _START:
                within.append(quote)
        elif not within:
            continue
        elif found.type == token.OP and found.string == "=" and after.string in _AFTER_VALUE:
            yield "an f-string with '=' requires Python 3.8", "write the name as text", found.start
        elif found.type in (token.NL, token.COMMENT) and len(within[-1]) == 1:
            hint = "assign the value to a variable first"
            yield "a line break in an f-string requires Python 3.12", hint, found.start
