"""Replaces content that is sent by hash with references (controller)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from orchestrator.language.errors import EvaluationError
from orchestrator.language.manifest_directory import Directory
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.planning.content.blobs import Blob, FileBlobs
from orchestrator.planning.content.trees import Trees

SOURCE = "plan.source"
"""The kind of the error for a manifest file or directory that cannot be read."""

PATH = "source"
"""The property with the name of the file that becomes a blob; other blobs are the string itself."""

MAX_INLINE = 1 << 20
"""The maximum size in bytes of a file whose content is part of the plan."""

BASE64 = "base64:"
"""The prefix of a binary file's content in the plan."""


class BlobReferences:
    """Creates the blobs of one run."""

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

    def replace(self, declared: DeclaredResource, values: dict[str, Any]) -> tuple[Blob, ...]:
        """Replace content in ``values`` with references, and the names of files that are read on
        the controller with their text; EvaluationError for a file that cannot be sent.
        """
        blobs = []
        for key, value in list(values.items()):
            kind = declared.type.properties[key]
            if kind.file_of and isinstance(value, str):
                del values[key]
                values[kind.file_of] = self._inline(declared, key, value, values)
            if kind.inline and isinstance(value, str) and kind.inline.match(value):
                values[key] = self._content(declared, key, value, kind.inline)
                self._check(declared, key, values)
                continue
            if not kind.blob or not isinstance(value, str):
                continue
            if key == PATH:
                if kind.is_on_target(value):
                    continue
                blob = self._file(declared, key, value)
            else:
                blob = self._text(declared, key, value)
            values[key] = blob.reference
            blobs.append(blob)
        return tuple(blobs)

    def _inline(
        self, declared: DeclaredResource, key: str, name: str, others: Mapping[str, Any]
    ) -> str:
        """Return the text of the named file, checked as the property that it becomes."""
        into = declared.type.properties[key].file_of
        where = declared.where((key,))
        try:
            literal = name == declared.raw.get(key) and declared.is_literal_text(name)
            text = self._directory.read(name, literal)
        except EvaluationError as error:
            raise EvaluationError(f"{key}: {error.message}", where, SOURCE) from error
        for wrong, message in declared.type.check(str(declared.name), {**others, into: text}):
            if wrong == into:
                shown = f"{key}: {self._directory.path / name}: {message}"
                raise EvaluationError(shown, where, SOURCE)
        return text

    def _text(self, declared: DeclaredResource, key: str, value: str) -> Blob:
        try:
            return Blob.of_text(value)
        except UnicodeEncodeError as error:
            message = f"{key} contains an unpaired surrogate, which no file can contain"
            raise EvaluationError(message, declared.where((key,))) from error

    def _content(
        self, declared: DeclaredResource, key: str, name: str, names: re.Pattern[str]
    ) -> str:
        """Return the content of a small file: as text, or in base64 if it is not text or could be
        one of the ``names`` of files."""
        blob = self._file(declared, key, name)
        if blob.size > MAX_INLINE:
            message = f"{key}: {self._directory.path / name} is larger than {MAX_INLINE} bytes"
            raise EvaluationError(message, declared.where((key,)), SOURCE)
        data = b"".join(blob.chunks())
        text = data.decode("utf-8", "replace")
        if text.encode("utf-8") == data and not names.match(text):
            return text
        return BASE64 + base64.b64encode(data).decode("ascii")

    @staticmethod
    def _check(declared: DeclaredResource, key: str, values: dict[str, Any]) -> None:
        """Apply the type's rules about the content itself."""
        for name, message in declared.type.check(declared.name_node.text, values):
            if name == key:
                raise EvaluationError(f"{key}: {message}", declared.where((key,)), SOURCE)

    def _file(self, declared: DeclaredResource, key: str, name: str) -> Blob:
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
