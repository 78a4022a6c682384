"""Reads a directory of templates (controller)."""

import os
import posixpath
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from remote_runtime.errors import Position, Problem

PARTIALS = "_partials"
MAX_TEMPLATE = 16 << 20
_BLOCK = 1 << 20


class SourceFile(NamedTuple):
    """One regular file: its path in the directory, its location, and whether it is executable."""

    path: str
    place: Path
    executable: bool

    @property
    def is_partial(self) -> bool:
        """Whether it is used only by other templates."""
        return PARTIALS in self.path.split("/")


class Source(NamedTuple):
    """A directory's files and directories by path, sorted; ``_partials`` count as files."""

    files: list[SourceFile]
    directories: list[str]


def read_source(directory: Path, prefix: str, problems: list[Problem]) -> Source:
    """Everything in a directory; anything that cannot be part of a scaffold becomes a problem."""
    source = Source([], [])
    for path, entry in _walk(directory, "", prefix, problems):
        if entry.is_dir(follow_symlinks=False):
            if PARTIALS not in path.split("/"):
                source.directories.append(path)
            continue
        found = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            kind = "a symlink" if entry.is_symlink() else "neither a file nor a directory"
            hint = "replace it with a file, or manage it with a separate resource"
            problems.append(Problem(f"{prefix}{path} is {kind}", None, hint, "plan.source"))
            continue
        source.files.append(SourceFile(path, Path(entry.path), bool(found.st_mode & 0o111)))
    return source


def _walk(
    directory: Path, at: str, prefix: str, problems: list[Problem]
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    try:
        entries = sorted(os.scandir(directory / at), key=lambda entry: entry.name)
    except OSError as error:
        message = f"cannot read {prefix}{at}: {error.strerror}"
        problems.append(Problem(message, None, "", "plan.source"))
        return
    for entry in entries:
        path = posixpath.join(at, entry.name)
        if reason := name_problem(entry.name):
            problems.append(
                Problem(f"{prefix}{path!r}: {reason}", None, "rename it", "plan.source")
            )
            continue
        yield path, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(directory, path, prefix, problems)


def name_problem(name: str) -> str:
    """The reason why a file on a target cannot have that name, or ""."""
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in name):
        return "its name contains a control character"
    return "its name is longer than 255 bytes" if length > 255 else ""


def template_text(file: SourceFile, openers: tuple[str, ...], name: str) -> str | None:
    """Return the text of a template file, None for a file that is copied unchanged.

    The latter contains a NUL byte, or no start of an action. OSError; ValueError for a template
    that is too large or not UTF-8.
    """
    marks = [opener.encode() for opener in openers]
    overlap = max(map(len, marks)) - 1
    kept: list[bytes] = []
    tail, is_template = b"", False
    with open(file.place, "rb") as stream:
        while block := stream.read(_BLOCK):
            if b"\0" in block:
                return None
            window = tail + block
            is_template = is_template or any(mark in window for mark in marks)
            tail = window[-overlap:] if overlap else b""
            if len(kept) * _BLOCK <= MAX_TEMPLATE:
                kept.append(block)
    if not is_template:
        return None
    data = b"".join(kept)
    if len(data) > MAX_TEMPLATE:
        raise ValueError(f"{name} is larger than {MAX_TEMPLATE >> 20} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        at = error.start - data.rfind(b"\n", 0, error.start)
        raise ValueError(f"{Position(name, line, at)}: a template must be UTF-8 text") from error
