"""Text files next to a manifest on the controller."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from orchestrator.language.errors import EvaluationError

MAX_BYTES = 16 * 1024 * 1024
_MAX_PATH_LENGTH, _MAX_PART_LENGTH = 4096, 255  # bytes
_SHOWN = 40


class Directory:
    """The directory of one manifest; each file is read once per run. Thread-safe.

    ``bounds`` is the directory that even a literal name must not leave: a child manifest may come
    from someone else, and must not read other files on the controller. ``closed`` returns whether a
    path must not be read; paths that are closed for ``above`` are closed here, too.
    """

    def __init__(
        self, path: Path, bounds: Path | None = None, *, above: Directory | None = None
    ) -> None:
        self.path = path
        self.bounds = bounds
        self.closed: Callable[[Path], bool] | None = None
        self._above = above
        self._texts: dict[Path, str] = {}

    def locate(self, name: str, literal: bool) -> Path:
        """The path of a file named relative to the manifest.

        Because a computed name may come from a host, it must not leave the manifest's directory.
        EvaluationError.
        """
        path = self.path / name
        if not is_file_name(str(path)):
            shown = name if len(name) < _MAX_PART_LENGTH else name[:_SHOWN] + "…"
            raise EvaluationError(f"{shown!r} is not a file name", kind="template.file")
        if not literal and not _is_below(path, self.path):
            message = f"{name!r} is outside the manifest's directory; only a literal path may be"
            raise EvaluationError(message, kind="template.file")
        if self.bounds is not None and not _is_below(path, self.bounds):
            message = (
                f"{name!r} is outside {self.bounds}, the directory that a child manifest can read"
            )
            raise EvaluationError(message, kind="template.file")
        if self._is_closed(path):
            raise EvaluationError(f"{name!r} may not be read here", kind="template.file")
        return path

    def _is_closed(self, path: Path) -> bool:
        if self.closed is not None and self.closed(path):
            return True
        return self._above is not None and self._above._is_closed(path)

    @property
    def paths(self) -> Collection[Path]:
        """The files that were read."""
        return tuple(self._texts)

    def read(self, name: str, literal: bool) -> str:
        """The text of a file named relative to the manifest; EvaluationError."""
        path = self.locate(name, literal)
        if path not in self._texts:
            self._texts[path] = _read(path)
        return self._texts[path]


def is_file_name(name: str) -> bool:
    """Whether a string, which may come from a host, is a valid file name on this machine."""
    try:
        found = os.fsencode(name)
    except UnicodeEncodeError:
        return False
    longest = max(map(len, found.split(b"/")))
    return b"\0" not in found and len(found) < _MAX_PATH_LENGTH and longest <= _MAX_PART_LENGTH


def _is_below(path: Path, directory: Path) -> bool:
    root = os.path.realpath(directory)
    return os.path.commonpath([os.path.realpath(path), root]) == root


def _read(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}"
        raise EvaluationError(message, kind="template.file") from error
    if len(data) > MAX_BYTES:
        message = f"{path} is larger than {MAX_BYTES >> 20} MiB, too large for a template"
        raise EvaluationError(message, kind="template.file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EvaluationError(f"{path} is not UTF-8 text", kind="template.file") from error
