"""The files of a project's data directory, one for each entry of a hierarchy (controller).

``role:web`` names ``DIR/role/web.yaml``. The directory is read once, and entries are looked up in
the result, so a fact of a host never becomes part of a path.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from inventory.problem_collector import is_null
from inventory.yaml_document import (
    EncryptedScalar,
    Mapping,
    Node,
    ambiguous_values,
    parse_data,
    read_data,
)
from orchestrator.expressions import EvaluationError, Expression
from orchestrator.expressions.template import TemplatedMap
from orchestrator.language.errors import NeedSecretsError
from orchestrator.manifest.annotations import Annotation, read_annotations
from orchestrator.manifest.value_compiler import compile_node, expressions_in
from remote_runtime.errors import InputError, Position, Problem

SUFFIX = ".yaml"
MAX_FILES = 20_000
_OTHERS = (".yml", ".json")
_SOPS = rb"(?m)^sops:\s*$|^\s*\"sops\"\s*:\s*\{"


OpenWhole = Callable[[str], str]
"""Returns the text of an encrypted file; EvaluationError."""


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
        open_whole: OpenWhole | None = None,
    ) -> None:
        self._problems: list[Problem] = [] if problems is None else problems
        self._warnings: list[Problem] = [] if warnings is None else warnings
        self.directory = directory
        self.notes: list[Problem] = []
        self._open_whole = open_whole
        self._lock = Lock()
        self._sealed: dict[str, Path] = {}
        self._files: dict[str, DataFile] = {}
        for path in self._found() if directory else ():
            self._read(path)

    def get(self, entry: str) -> DataFile | None:
        """The file for an entry name of the order. An encrypted one is opened on first
        use; EvaluationError.
        """
        name = entry.replace("/", ":")
        if name in self._sealed:
            with self._lock:
                if name not in self._files:
                    self._open(name, self._sealed[name])
        return self._files.get(name)

    def names(self) -> Sequence[str]:
        """The entries that have a file."""
        return list(dict.fromkeys([*self._files, *self._sealed]))

    def is_sealed(self, entry: str) -> bool:
        """Whether the file for an entry is encrypted as a whole."""
        return entry.replace("/", ":") in self._sealed

    def sealed(self) -> list[Path]:
        """The files that are encrypted as a whole."""
        return list(self._sealed.values())

    @property
    def unopened(self) -> list[Path]:
        """The encrypted files that were not opened."""
        return [path for name, path in self._sealed.items() if name not in self._files]

    def all(self) -> Sequence[DataFile]:
        """Every file, by name."""
        return list(self._files.values())

    def known_keys(self) -> list[str]:
        """The top-level keys of all files."""
        return list(dict.fromkeys(key for file in self.all() for key in file.node.entries))

    def holds(self, path: Sequence[str]) -> bool:
        """Whether a file has a value at this path of keys, or at a parent of it."""
        return any(has_value_at(file.node, path) for file in self.all())

    def expressions(self) -> list[Expression]:
        """Every expression in the files."""
        return [expression for file in self.all() for expression in expressions_in(file.tree)]

    def encrypted(self) -> Iterator[EncryptedScalar]:
        """Every encrypted value in the files."""
        for file in self.all():
            yield from file.node.source.encrypted

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
                if count > MAX_FILES:
                    self._refuse(f"{self.directory} has more than {MAX_FILES:,} files", "split it")
                    return
                yield path

    def _is_named_well(self, path: Path) -> bool:
        if path.name.endswith(_OTHERS):
            hint = f"rename it to {path.stem}{SUFFIX}"
            self._warn(f"{path} is not read: data files end in {SUFFIX}", hint)
        elif path.name.endswith(SUFFIX) and ":" in path.name:
            named = path.name.replace(":", "/")
            self._warn(
                f"{path} is not read: its name contains a colon",
                f"rename it to {named}",
            )
        return path.name.endswith(SUFFIX) and ":" not in path.name

    def _read(self, path: Path) -> None:
        name = ":".join(path.relative_to(self.directory).with_suffix("").parts)
        if is_encrypted(path):
            self._sealed[name] = path
            return
        try:
            root = read_data(path, self._problems)
        except InputError as error:
            self._problems += error.problems
            return
        self._add(name, path, root)

    def _open(self, name: str, path: Path) -> None:
        """Decrypt a file. All of its values are secret."""
        if self._open_whole is None:
            raise NeedSecretsError(f"the data file {path}")
        text, problems = self._open_whole(str(path)), self._problems
        self._problems = []
        try:
            self._add(name, path, parse_data(text, str(path), self._problems))
        except InputError as error:
            self._problems += error.problems
        finally:
            problems, self._problems = self._problems, problems
        if problems:
            raise EvaluationError(f"{path}: {problems[0]}", kind="input.data")
        if name in self._files:
            self._files[name] = self._files[name]._replace(
                annotations=all_secret(self._files[name].node)
            )

    def _add(self, name: str, path: Path, root: Node) -> None:
        if is_null(root):
            return
        if not isinstance(root, Mapping):
            message = f"a data file must be a map, not {root.describe()}"
            self._problems.append(Problem(message, root.position, "", "input.type"))
            return
        if set(root.entries) & {"hierarchy", "overrides"}:
            key = root.key("hierarchy" if "hierarchy" in root.entries else "overrides")
            message = f"a data file cannot contain {key.text}"
            hint = (
                "put it in the manifest; write values at the top level of the file, without data:"
            )
            self._problems.append(Problem(message, key.position, hint, "input.unknown"))
            return
        if isinstance(root.get("data"), Mapping):
            message = "this key is data.data: a data file has its values at the top level"
            hint = "remove data: and one level of indentation"
            self._warnings.append(Problem(message, root.key("data").position, hint, "input.data"))
        self.notes += ambiguous_values(root)
        tree = compile_node(root, self._problems, lenient=True)
        marks = read_annotations(root, self._problems, self._warnings)
        self._files[name] = DataFile(name=name, path=path, tree=tree, node=root, annotations=marks)

    def _refuse(self, message: str, hint: str) -> None:
        self._problems.append(Problem(message, None, hint, "input.data"))

    def _warn(self, message: str, hint: str) -> None:
        self._warnings.append(Problem(message, None, hint, "input.data"))


_MARKS = (b"$ANSIBLE_VAULT;", b"age-encryption.org/v1\n", b"-----BEGIN AGE ENCRYPTED FILE-----")
_MAX_SEARCHED = 16 << 20


def is_encrypted(path: str | Path) -> bool:
    """Whether a file is encrypted as a whole, with ansible-vault, age or sops."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_SEARCHED)
    except OSError:
        return False  # who reads it reports it
    if data.startswith(_MARKS):
        return True
    return b"sops" in data and b"ENC[" in data and re.search(_SOPS, data) is not None


def all_secret(root: Mapping) -> list[Annotation]:
    """An annotation for each key of a map: everything below it is secret."""
    return [Annotation("secret", (key.text,), key.position) for key, _ in root.pairs()]


NO_FILES = DataFiles()


def pairs_of(tree: Any) -> list[tuple[str, Any]]:
    """The keys of a compiled map with their values."""
    return tree.entries if isinstance(tree, TemplatedMap) else list(tree.items())


def has_value_at(node: Any, path: Sequence[str]) -> bool:
    """Whether a node has a value at a path of keys, or at a parent of it."""
    for key in path:
        if not isinstance(node, Mapping) or not node.entries:
            return True  # an existing value is replaced, an empty map is filled
        value = node.get(key)
        if value is None:
            return False
        node = value
    return True
