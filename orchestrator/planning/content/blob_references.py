"""Replaces content that is sent by hash with references (controller)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from orchestrator.language.errors import EvaluationError
from orchestrator.language.files import Directory
from orchestrator.manifest.declared import Declared
from orchestrator.planning.content.blobs import Blob, FileBlobs
from orchestrator.planning.content.trees import Trees

SOURCE = "plan.source"
"""The kind of the error of a file or directory of the manifest that cannot be read."""

PATH = "source"
"""The property whose blob is a file that it names; every other blob is the text itself."""


class Travel:
    """Makes the blobs of one run."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._files = FileBlobs()
        self.trees = Trees(directory, self._files)

    def files(self) -> Iterable[Path]:
        """The files that became blobs."""
        return self._files.paths

    @property
    def count(self) -> int:
        """The number of these files."""
        return self._files.count

    def replace(self, declared: Declared, values: dict[str, Any]) -> tuple[Blob, ...]:
        """Replace content in ``values`` with references; EvaluationError for a file that cannot be
        sent.
        """
        blobs = []
        for key, value in values.items():
            kind = declared.type.properties[key]
            if not kind.blob or not isinstance(value, str):
                continue
            if key == PATH:
                if value.startswith("/"):
                    continue  # it is on the target
                blob = self._file(declared, key, value)
            else:
                blob = self._text(declared, key, value)
            values[key] = blob.reference
            blobs.append(blob)
        return tuple(blobs)

    def _text(self, declared: Declared, key: str, value: str) -> Blob:
        try:
            return Blob.of_text(value)
        except UnicodeEncodeError as error:
            message = f"{key} contains an unpaired surrogate, which no file can contain"
            raise EvaluationError(message, declared.where((key,))) from error

    def _file(self, declared: Declared, key: str, name: str) -> Blob:
        where = declared.where((key,))
        try:
            literal = name == declared.raw.get(key) and declared.is_literal_text(name)
            path: Path = self._directory.locate(name, literal)
            return self._files.get(path)
        except EvaluationError as error:
            raise EvaluationError(f"{key}: {error.message}", where, error.kind) from error
        except OSError as error:
            message = f"{key}: cannot read {self._directory.path / name}: {error.strerror}"
            raise EvaluationError(message, where, SOURCE) from error
        except ValueError as error:
            message = f"{key}: {self._directory.path / name} {error}"
            raise EvaluationError(message, where, SOURCE) from error
