"""The files of a project's data directory, one for each entry of a hierarchy (controller).

``role:web`` names ``DIR/role/web.yaml``. The directory is read once, and entries are looked up in
the result, so a fact of a host never becomes part of a path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from inventory.checker import is_null
from inventory.document import Mapping, ambiguous_values, read_document
from orchestrator.expressions import Expression
from orchestrator.expressions.template import TemplatedMap
from orchestrator.manifest.annotations import Annotation, read_annotations
from orchestrator.manifest.values import compile_node, expressions_in
from remote_runtime.errors import InputError, Position, Problem

SUFFIX = ".yaml"
MOST_FILES = 20_000
_OTHERS = (".yml", ".json")


class DataFile(NamedTuple):
    """One file: ``tree`` has its compiled values, and ``node`` their positions."""

    name: str
    path: Path
    tree: Any
    node: Mapping
    annotations: Sequence[Annotation] = ()

    @property
    def position(self) -> Position:
        """The position of its first value."""
        return self.node.position


class DataFiles:
    """The files of the directory; shared by all manifests of a run.

    Without a ``directory`` (""), there are none. Unreadable files are appended to ``problems``.
    """

    def __init__(
        self,
        directory: str = "",
        problems: list[Problem] | None = None,
        warnings: list[Problem] | None = None,
    ) -> None:
        self._problems: list[Problem] = [] if problems is None else problems
        self._warnings: list[Problem] = [] if warnings is None else warnings
        self.directory = directory
        self.notes: list[Problem] = []
        self._files: dict[str, DataFile] = {}
        for path in self._found() if directory else ():
            self._read(path)

    def get(self, entry: str) -> DataFile | None:
        """The file for an entry name of the order."""
        return self._files.get(entry.replace("/", ":"))

    def names(self) -> Sequence[str]:
        """The entries that have a file."""
        return list(self._files)

    def all(self) -> Sequence[DataFile]:
        """Every file, by name."""
        return list(self._files.values())

    def known_keys(self) -> list[str]:
        """The top-level keys of all files."""
        return list(dict.fromkeys(key for file in self.all() for key in file.node.entries))

    def holds(self, path: Sequence[str]) -> bool:
        """Whether a file has a value at this path of keys, or at a parent of it."""
        return any(leads(file.node, path) for file in self.all())

    def expressions(self) -> list[Expression]:
        """Every expression in the files."""
        return [expression for file in self.all() for expression in expressions_in(file.tree)]

    @property
    def has_annotations(self) -> bool:
        """Whether comments of a file have annotations."""
        return any(file.annotations for file in self.all())

    def _found(self) -> Iterator[Path]:
        """The files of the directory, sorted; names that begin with a dot are skipped."""
        if not os.path.isdir(self.directory):
            self._refuse(f"the data directory {self.directory} does not exist", "create it")
            return
        count = 0
        for parent, directories, names in os.walk(self.directory):
            directories[:] = sorted(name for name in directories if not name.startswith("."))
            for name in sorted(names):
                path = Path(parent, name)
                if name.startswith(".") or not self._is_named_well(path):
                    continue
                count += 1
                if count > MOST_FILES:
                    self._refuse(f"{self.directory} has more than {MOST_FILES:,} files", "split it")
                    return
                yield path

    def _is_named_well(self, path: Path) -> bool:
        if path.name.endswith(_OTHERS):
            hint = f"rename it to {path.stem}{SUFFIX}"
            self._warn(f"{path} is not read: data files end in {SUFFIX}", hint)
        elif path.name.endswith(SUFFIX) and ":" in path.name:
            named = path.name.replace(":", "/")
            self._warn(f"{path} is not read: each colon is a directory", f"make it {named}")
        return path.name.endswith(SUFFIX) and ":" not in path.name

    def _read(self, path: Path) -> None:
        try:
            root = read_document(path, self._problems)
        except InputError as error:
            self._problems += error.problems
            return
        if is_null(root):
            return
        if not isinstance(root, Mapping):
            message = f"a data file must be a map, not {root.describe()}"
            self._problems.append(Problem(message, root.position, "", "input.type"))
            return
        if set(root.entries) & {"hierarchy", "overrides"}:
            key = root.key("hierarchy" if "hierarchy" in root.entries else "overrides")
            message = f"a data file cannot contain {key.text}"
            hint = "put it in the manifest; write values at the top of the file, without data:"
            self._problems.append(Problem(message, key.position, hint, "input.unknown"))
            return
        if isinstance(root.get("data"), Mapping):
            message = "this key is data.data: a data file has its values at the top"
            hint = "remove data: and one level of indentation"
            self._warnings.append(Problem(message, root.key("data").position, hint, "input.data"))
        parts = path.relative_to(self.directory).with_suffix("").parts
        name = ":".join(parts)
        self.notes += ambiguous_values(root)
        tree = compile_node(root, self._problems, lenient=True)
        marks = read_annotations(root, self._problems, self._warnings)
        self._files[name] = DataFile(name=name, path=path, tree=tree, node=root, annotations=marks)

    def _refuse(self, message: str, hint: str) -> None:
        self._problems.append(Problem(message, None, hint, "input.data"))

    def _warn(self, message: str, hint: str) -> None:
        self._warnings.append(Problem(message, None, hint, "input.data"))


NO_FILES = DataFiles()


def pairs_of(tree: Any) -> list[tuple[str, Any]]:
    """The keys of a compiled map with their values."""
    return tree.entries if isinstance(tree, TemplatedMap) else list(tree.items())


def leads(node: Any, path: Sequence[str]) -> bool:
    """Whether a node has a value at a path of keys, or at a parent of it."""
    for key in path:
        if not isinstance(node, Mapping) or not node.entries:
            return True  # an existing value is replaced, an empty map is filled
        found = node.get(key)
        if found is None:
            return False
        node = found
    return True
