"""Finds scripts whose first line has a Windows line ending, which no kernel can start
(controller).
"""

import os
from collections.abc import Iterator
from pathlib import Path

from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.value_compiler import expressions_in
from remote_runtime.errors import Problem

_MAX_LENGTH = 256  # bytes of a first line that a kernel reads
_MAX_FILES = 2000  # files of a directory
_SOURCE = "source"


def script_warnings(declared: DeclaredResource, directory: Path) -> list[Problem]:
    """A warning for each text and local file that begins with ``#!`` and has CR LF after its first
    line.

    The host would look for a program whose name ends in CR.
    """
    return [
        Problem(
            f"{declared.id}: {what} begins with {line!r}: it has a Windows line ending, so "
            "the host would look for a program with that name",
            declared.where((key,)),
            "convert it, for example with dos2unix",
            "input.line_ends",
        )
        for key in declared.raw
        if not declared.hides(key)
        for what, line in _scripts(declared, key, directory)
    ]


def _scripts(declared: DeclaredResource, key: str, directory: Path) -> Iterator[tuple[str, str]]:
    kind, value = declared.type.properties[key], declared.raw[key]
    if key in declared.templated:
        for expression in expressions_in(declared.values[key]):
            for name in expression.controller_files():
                yield from _of_file(directory / name, name)
    elif not isinstance(value, str):
        return
    elif kind.tree:
        yield from _of_directory(directory / value, value)
    elif key == _SOURCE and kind.blob:
        if not kind.is_on_target(value):
            yield from _of_file(directory / value, value)
    else:
        line = _first_line(value.encode("utf-8", "surrogatepass"))
        if line:
            yield key, line


def _of_directory(directory: Path, display_name: str) -> Iterator[tuple[str, str]]:
    """The warnings for the first files of a directory."""
    seen = 0
    for top, _, names in os.walk(directory):
        for name in sorted(names):
            seen += 1
            if seen > _MAX_FILES:
                return
            path = Path(top, name)
            yield from _of_file(path, str(Path(display_name, path.relative_to(directory))))


def _of_file(path: Path, display_name: str) -> Iterator[tuple[str, str]]:
    """The warning for a file; none for an unreadable one, which is reported by those who use it."""
    if not path.is_file():  # reading a pipe would block
        return
    try:
        with path.open("rb") as file:
            line = _first_line(file.read(_MAX_LENGTH))
    except OSError:
        return
    if line:
        yield display_name, line


def _first_line(data: bytes) -> str:
    """The first line of a script if it ends in CR LF; otherwise ""."""
    line, newline, _ = data[:_MAX_LENGTH].removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    found = line.startswith(b"#!") and newline and line.endswith(b"\r")
    return line.decode("utf-8", "replace") if found else ""
