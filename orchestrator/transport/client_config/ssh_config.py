"""Reads OpenSSH client configuration and answers for one host (controller).

The rules are those of OpenSSH: the first value is used, identity files accumulate, and ``Include``
applies within its block. It imports no SSH library, so that ``ccm inventory`` can explain a host
quickly.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestrator.transport.client_config.ssh_directives import (
    Directive,
    Directives,
    UndecidedMatch,
)
from orchestrator.transport.client_config.ssh_match import holds
from remote_runtime.errors import InputError, Position, Problem

MAX_DEPTH = 16
_MANY = {"identityfile", "certificatefile", "sendenv", "setenv", "localforward", "remoteforward"}


class Section(NamedTuple):
    """The lines below one ``Host`` or ``Match``; None is the beginning of a file."""

    condition: Directive | None
    lines: list[Directive | list[Section]]


def read_config(path: Path, directory: Path, depth: int = 0) -> list[Section]:
    """Parse a file and its included files; relative includes start at ``directory``.

    A missing file is empty. ``InputError`` if it cannot be read or parsed.
    """
    sections = [Section(None, [])]
    for directive in _directives(path):
        if directive.key in ("host", "match"):
            sections.append(Section(directive, []))
        elif directive.key == "include":
            for included in _included(directive, directory, depth):
                sections[-1].lines.append(included)
        else:
            sections[-1].lines.append(directive)
    return sections


def _directives(path: Path) -> Iterator[Directive]:
    try:
        text = path.read_text("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        problem = Problem(f"{path} cannot be read: {error.strerror}", kind="transport.config")
        raise InputError([problem]) from error
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = re.match(r'"?(\w+)"?(?:\s*=\s*|\s+)(.*)\Z', stripped)
        where = Position(str(path), number, len(line) - len(line.lstrip()) + 1)
        if not match or not match[2]:
            problem = Problem("expected a keyword and a value", where, kind="transport.config")
            raise InputError([problem])
        yield Directive(match[1].lower(), _without_comment(match[2]), where)


def _without_comment(value: str) -> str:
    return re.sub(r'\s+#[^"]*\Z', "", value).strip()


def _included(directive: Directive, directory: Path, depth: int) -> Iterator[list[Section]]:
    if depth >= MAX_DEPTH:
        message = f"Include is nested deeper than {MAX_DEPTH}"
        hint = "does a file include itself?"
        raise InputError([Problem(message, directive.where, hint, "transport.config")])
    for pattern in directive.words:
        expanded = os.path.join(directory, os.path.expanduser(pattern))
        for name in sorted(glob.glob(expanded)):
            yield read_config(Path(name), directory, depth + 1)


class Config:
    """The user's configuration and the system's, read once per run."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = [read_config(path, _include_directory(path)) for path in files]
        self._has_final = any(_mentions_final(sections) for sections in self._files)

    def lookup(self, name: str, user: str | None = None, port: int | None = None) -> Directives:
        """The configuration of ``ssh NAME``; ``user`` and ``port`` as on its command line."""
        position = Position("inventory", 0, 0)
        directives = Directives()
        if user is not None:
            directives["user"] = [Directive("user", user, position)]
        if port is not None:
            directives["port"] = [Directive("port", str(port), position)]
        for sections in self._files:
            self._collect(sections, name, directives, False)
        if self._has_final:
            for sections in self._files:
                self._collect(sections, name, directives, True)
        return directives

    def _collect(
        self, sections: list[Section], name: str, directives: Directives, final: bool
    ) -> None:
        for section in sections:
            if section.condition is not None:
                decided = holds(section.condition, name, directives, final)
                if decided is None:
                    directives.undecided += _open(section, section.condition, directives)
                if not decided:
                    continue
            for line in section.lines:
                if isinstance(line, list):
                    self._collect(line, name, directives, final)
                elif line.key not in directives:
                    directives[line.key] = [line]
                elif line.key in _MANY and line not in directives[line.key]:
                    directives[line.key].append(line)


def _open(
    section: Section, condition: Directive, directives: Directives
) -> Iterator[UndecidedMatch]:
    """The lines of a section that apply if it matches, including those of included files."""
    for line in section.lines:
        if isinstance(line, list):
            for inner in line:
                yield from _open(inner, condition, directives)
        elif line.key not in directives or (line.key in _MANY and line not in directives[line.key]):
            yield UndecidedMatch(condition, line)


def _include_directory(path: Path) -> Path:
    return path.parent if path.parent == Path("/etc/ssh") else Path("~/.ssh").expanduser()


def _mentions_final(sections: list[Section]) -> bool:
    for section in sections:
        if section.condition and "final" in section.condition.value.lower().split():
            return True
        if any(isinstance(line, list) and _mentions_final(line) for line in section.lines):
            return True
    return False
