"""Playbooks: their plays, including imported ones (controller)."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.ansible.problems import bad_input
from orchestrator.ansible.source.tasks import Block, Task, listed, read_tasks
from orchestrator.ansible.source.yaml_reader import Map, VaultFileError, read

_MAX_NESTING = 20
_MAX_READ = 1_000  # playbooks of one import, each counted as often as it is imported


@dataclass
class Play:
    """One play. ``keywords`` has everything except the lists of tasks and roles."""

    name: str
    hosts: str
    path: Path
    line: int
    end: int
    keywords: dict[str, Any] = field(default_factory=dict)
    roles: list[Any] = field(default_factory=list)
    pre_tasks: list[Task | Block] = field(default_factory=list)
    tasks: list[Task | Block] = field(default_factory=list)
    post_tasks: list[Task | Block] = field(default_factory=list)
    handlers: list[Task | Block] = field(default_factory=list)
    when: list[Any] = field(default_factory=list)


def project_root(path: Path) -> Path:
    """The project directory of a playbook or a directory: its own directory, or the one above a
    directory named ``playbooks``.
    """
    base = path.parent if path.is_file() else path
    resolved = base.resolve()
    return resolved.parent if resolved.name in ("playbooks", "plays") else resolved


def within(root: Path, path: Path, what: str) -> Path:
    """A path within the project. InputError if it leads outside."""
    try:
        path.resolve().relative_to(root)
    except ValueError as error:
        raise bad_input(
            f"{what} is outside the project {root}",
            hint="import the directory that contains both, or copy the file into the project",
        ) from error
    return path


def read_playbook(path: Path, root: Path | None = None) -> list[Play]:
    """The plays of a playbook. InputError, including for an import from outside the project."""
    return _read_playbook(path, root or project_root(path), depth=0, numbers=itertools.count())


def _read_playbook(path: Path, root: Path, *, depth: int, numbers: Iterator[int]) -> list[Play]:
    if next(numbers) >= _MAX_READ:
        raise bad_input(
            f"{path}: more than {_MAX_READ:,} playbooks are imported", hint="import each once"
        )
    found = read(path)
    if not isinstance(found, list):
        raise bad_input(f"{path}: expected a list of plays", hint="specify a playbook or a role")
    plays: list[Play] = []
    for one in found:
        if not isinstance(one, Map):
            raise bad_input(f"{path}: a play must be a map", hint="see ansible-playbook")
        imported = next(
            (one[key] for key in ("import_playbook", "ansible.builtin.import_playbook")
             if key in one), None,
        )  # fmt: skip
        if imported is not None:
            if depth > _MAX_NESTING:
                raise bad_input(f"{path}: playbooks import each other", hint="break the cycle")
            what = f"{path}:{one.line}: import_playbook {imported}"
            other = within(root, path.parent / str(imported), what)
            for play in _read_playbook(other, root, depth=depth + 1, numbers=numbers):
                play.when = [*listed(one.get("when")), *play.when]
                play.keywords["vars"] = {
                    **(play.keywords.get("vars") or {}),
                    **(one.get("vars") or {}),
                }
                plays.append(play)
            continue
        plays.append(_read_play(one, path))
    return plays


def _read_play(value: Map, path: Path) -> Play:
    if "hosts" not in value:
        raise bad_input(
            f"{path}:{value.line}: a play without hosts", hint="specify a playbook or a role"
        )
    hosts = value["hosts"]
    lists = ("pre_tasks", "tasks", "post_tasks", "handlers")
    play = Play(
        str(value.get("name") or ""),
        ":".join(str(one) for one in hosts) if isinstance(hosts, list) else str(hosts),
        path,
        value.line,
        value.end,
    )
    for name in lists:
        setattr(play, name, read_tasks(value.get(name), str(path)))
    play.roles = listed(value.get("roles"))
    play.keywords = {
        key: one for key, one in value.items() if key not in (*lists, "roles", "hosts", "name")
    }
    return play


def is_playbook(path: Path) -> bool:
    """Whether a YAML file is a playbook. InputError if it is not YAML."""
    try:
        found = read(path)
    except VaultFileError:
        return False
    return (
        isinstance(found, list)
        and bool(found)
        and all(
            isinstance(one, Map) and ("hosts" in one or any("import_playbook" in k for k in one))
            for one in found
        )
    )
