"""Directories of templates: compiled once per run, rendered for each host, sent by hash
(controller).

The only planning step that a property selects with ``x-ccm-tree``. Other properties of the resource
configure the rendering: ``engine``, ``left_delimiter``, ``right_delimiter``, ``skip_empty`` and
``data``, which replaces the manifest's data.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from orchestrator.expressions.scope import Scope
from orchestrator.language.builtin_names import LOOP_VARIABLES
from orchestrator.language.errors import EvaluationError, NeedFileError
from orchestrator.language.manifest_directory import Directory
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.planning.content.blobs import Blob, FileBlobs
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.templates.template_tree import RenderedFile, Tree, TreeSettings

MAX_COMPUTED = 64


class Trees:
    """The template directories next to one manifest. Thread-safe."""

    def __init__(self, directory: Directory, files: FileBlobs) -> None:
        self._directory = directory
        self._files = files
        self._lock = Lock()
        self._literal: dict[tuple[Path, TreeSettings], Tree] = {}
        self._computed: dict[tuple[Path, TreeSettings], Tree] = {}

    def check(self, declared: DeclaredResource) -> list[Problem]:
        """The problems of a resource's directory that are visible before any host is contacted."""
        key = declared.type.tree
        known = {k: v for k, v in declared.values.items() if k not in declared.templated}
        if not isinstance(known.get(key), str):
            return []
        try:
            self._tree(declared, known)
        except InputError as error:
            return [_of(declared, problem) for problem in error.problems]
        except EvaluationError as error:
            return [Problem(f"{declared.id}: {error.message}", error.where, "", error.kind)]
        return []

    def templates(
        self, declared: DeclaredResource
    ) -> tuple[Iterable[tuple[str, str]], tuple[str, tuple[str, str]]]:
        """Return each template of a directory without problems: its name in positions and its text.
        The second part is their engine and the delimiters of their code. No templates are returned
        if the name of the directory is not literal.
        """
        known = {k: v for k, v in declared.values.items() if k not in declared.templated}
        if not isinstance(known.get(declared.type.tree), str):
            return (), ("", ("", ""))
        tree = self._tree(declared, known)
        return tree.texts(), (tree.settings.engine, tree.delimiters)

    def replace(
        self, declared: DeclaredResource, values: dict[str, Any], scope: Scope
    ) -> tuple[Blob, ...]:
        """Replace the directory name with the files of one host; EvaluationError."""
        key = declared.type.tree
        name = str(values[key])
        try:
            tree = self._tree(declared, values)
            files = tree.render(_with_data(scope, values.get("data")).names)
        except InputError as error:
            problem = error.problems[0]
            raise EvaluationError(problem.message, problem.where, problem.kind) from error
        except NeedFileError as error:
            message = f"{key} cannot read {error.path!r}, a file on the target"
            raise EvaluationError(message, declared.where((key,)), error.kind) from error
        blobs = [self._blob(file, declared.where((key,))) for file in files]
        values[key] = {
            "$tree": name,
            "files": [_entry(file, blob) for file, blob in zip(files, blobs, strict=True)],
            "directories": _bare(tree.directories, files),
        }
        return tuple(blobs)

    def _tree(self, declared: DeclaredResource, values: Mapping[str, Any]) -> Tree:
        """The directory of a resource, read and compiled on first use. InputError."""
        from orchestrator.templates.template_tree import Tree

        key = declared.type.tree
        name = str(values[key])
        literal = name == declared.raw.get(key) and declared.is_literal_text(name)
        place = self._locate(name, literal, declared)
        settings = _settings(values)
        if declared.foreach is not None:
            settings = settings._replace(added=LOOP_VARIABLES)
        kept = self._literal if literal else self._computed
        with self._lock:
            known = kept.get((place, settings))
            if known is None:
                if len(self._computed) >= MAX_COMPUTED:
                    self._computed.clear()  # names from facts may be as many as hosts
                known = kept[place, settings] = Tree(place, posixpath.join(name, ""), settings)
            return known

    def _locate(self, name: str, literal: bool, declared: DeclaredResource) -> Path:
        key = declared.type.tree
        where = declared.where((key,))
        try:
            place = self._directory.locate(name, literal)
        except EvaluationError as error:
            raise EvaluationError(f"{key}: {error.message}", where, error.kind) from error
        if not os.path.isdir(place):  # Path.is_dir raises for a name that is too long
            reason = "is not a directory" if os.path.exists(place) else "does not exist"
            raise EvaluationError(f"{key}: the directory {place} {reason}", where, "plan.source")
        return place

    def _blob(self, file: RenderedFile, where: Any) -> Blob:
        if isinstance(file.content, Path):
            try:
                return self._files.get(file.content)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                message = f"cannot read {file.content}: {reason}"
                raise EvaluationError(message, where, "plan.source") from error
        try:
            return Blob.of_text(file.content)
        except UnicodeEncodeError as error:
            message = f"{file.path} contains an unpaired surrogate, which no file can contain"
            raise EvaluationError(message, where) from error


def _settings(values: Mapping[str, Any]) -> TreeSettings:
    from orchestrator.templates.template_tree import TreeSettings

    left, right = values.get("left_delimiter"), values.get("right_delimiter")
    delimiters = (left, right) if left and right else None
    return TreeSettings(values.get("engine", "jet"), delimiters, values.get("skip_empty") is True)


def _with_data(scope: Scope, data: Any) -> Scope:
    return scope._replace(data=data) if data else scope


def _entry(file: RenderedFile, blob: Blob) -> dict[str, Any]:
    entry = {"path": file.path, **blob.reference}
    if file.executable:
        entry["executable"] = True
    return entry


def _bare(directories: list[str], files: list[RenderedFile]) -> list[str]:
    """The directories that are not parents of any file."""
    brought = set()
    for path in [file.path for file in files] + directories:
        while path := posixpath.dirname(path):
            brought.add(path)
    return [path for path in directories if path not in brought]


def _of(declared: DeclaredResource, problem: Problem) -> Problem:
    """A problem of the directory, at its own position or at the position of the directory's name in
    the manifest.
    """
    if problem.where is not None:
        return problem
    key = "engine" if "engine" in problem.message else declared.type.tree
    text = f"{declared.id}: {problem.message}"
    return Problem(text, declared.where((key,)), problem.hint, problem.kind)
