"""Roles, and the files in their directories (controller)."""

import configparser
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.ansible.source.tasks import Block, Task, read_tasks
from orchestrator.ansible.source.yaml_reader import (
    Map,
    VaultFileError,
    admit,
    is_readable,
    read,
    read_map,
)

ENDINGS = (".yml", ".yaml", ".json")


@dataclass
class Role:
    """One role. ``problems`` lists the unreadable parts."""

    name: str
    path: Path
    defaults: Map = field(default_factory=Map)
    variables: Map = field(default_factory=Map)
    handlers: list[Task | Block] = field(default_factory=list)
    dependencies: list[Any] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def tasks(self, entry: str = "main") -> tuple[list[Task | Block], Path | None]:
        """The tasks in one of its files, and the path of the file."""
        path = main_file(self.path / "tasks", entry)
        return (read_tasks(read(path), str(path)), path) if path is not None else ([], None)

    def sources(self) -> str:
        """The text of all its task files, handlers and templates."""
        found: list[str] = []
        for folder in ("tasks", "handlers", "templates", "defaults", "vars"):
            for one in sorted((self.path / folder).rglob("*")):
                if one.is_file() and one.stat().st_size < 1_000_000:
                    found.append(one.read_text(encoding="utf-8", errors="replace"))
        return "\n".join(found)


def main_file(directory: Path, name: str = "main") -> Path | None:
    """The file with this name and one of YAML's extensions."""
    for ending in (*ENDINGS, ""):
        path = directory / (name + ending)
        if path.is_file():
            return path
    return None


def variables_at(directory: Path, name: str, problems: list[str]) -> Map:
    """The variables of ``NAME.yml``, ``NAME`` or of all files in the directory ``NAME``."""
    result = Map()
    path = main_file(directory, name)
    files = [path] if path is not None else []
    folder = directory / name
    if folder.is_dir():
        files += sorted(one for one in folder.rglob("*") if one.is_file() and _is_data(one))
    for one in files:
        try:
            found = read_map(one)
        except VaultFileError:
            problems.append(f"{one}: encrypted with ansible-vault; its variables are not converted")
            continue
        result.path = result.path or found.path
        result.update(found)
        result.lines.update(found.lines)
    return result


def _is_data(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix in (*ENDINGS, "")


def read_role(path: Path, name: str) -> Role:
    """A role from its directory. InputError if a file of it is broken."""
    role = Role(name, path)
    role.defaults = variables_at(path / "defaults", "main", role.problems)
    role.variables = variables_at(path / "vars", "main", role.problems)
    handlers = main_file(path / "handlers")
    if handlers is not None:
        role.handlers = read_tasks(read(handlers), str(handlers))
    meta = main_file(path / "meta")
    if meta is not None:
        found = read(meta)
        given = found.get("dependencies") if isinstance(found, Map) else None
        role.dependencies = list(given) if isinstance(given, list) else []
    return role


def is_role(path: Path) -> bool:
    """Whether a directory is a role."""
    folders = ("tasks", "defaults", "vars", "handlers", "meta", "templates", "files")
    return any(
        main_file(path / one) is not None for one in ("tasks", "defaults", "vars", "meta")
    ) and any((path / one).is_dir() for one in folders)


def role_directories(root: Path) -> list[Path]:
    """The directories with the roles of a project, without links to directories outside it."""
    found = [root / "roles", root.parent / "roles", root]
    config = root / "ansible.cfg"
    if config.is_file():
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(config, encoding="utf-8")
            given = parser.get("defaults", "roles_path", fallback="")
        except (configparser.Error, UnicodeDecodeError):
            given = ""
        found += [root / one.strip() for one in given.split(":") if one.strip()]
    return [one for one in found if not _links_out(one, root)]


def _links_out(path: Path, root: Path) -> bool:
    """Whether a path below a directory refers to something outside of it."""
    is_written_below = Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root))
    return is_written_below and not path.resolve().is_relative_to(root.resolve())


def find_role(name: str, directories: list[Path]) -> Path | None:
    """The directory of a role, which may also be named by the last part of a name such as
    ``author.role``.

    A directory of roles may be outside of the project. A role that leaves this directory, by a path
    in its name or a symlink, must be in the project.
    """
    is_plain = not name.startswith("/") and ".." not in Path(name).parts
    for one in (name, name.rsplit(".", 1)[-1]):
        for directory in directories:
            path = directory / one
            is_here = is_plain and path.resolve().is_relative_to(directory.resolve())
            if os.path.isdir(path) and is_role(path) and (is_here or is_readable(path)):
                admit(path)
                return path
    return None
