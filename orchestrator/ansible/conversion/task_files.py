"""Replaces a task that includes a file with the tasks of that file (controller)."""

from pathlib import Path
from typing import Any

from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Block, Task, flat, read_tasks
from orchestrator.ansible.source.yaml_reader import read

MAX_INCLUDED = 10_000
"""The maximum number of tasks from included files in a project, because nested includes can grow
exponentially.
"""


def included_tasks(builder: Conversion, path: Path) -> list[Task | Block]:
    """The tasks of an included file. NotConvertible beyond ``MAX_INCLUDED``."""
    if builder.project.included <= MAX_INCLUDED:
        tasks = read_tasks(read(path), str(path))
        builder.project.included += 1 + len(flat(tasks))
        if builder.project.included <= MAX_INCLUDED:
            return tasks
    raise NotConvertible(f"the project includes more than {MAX_INCLUDED:,} tasks")


def include_file(builder: Conversion, name: str, outer: dict[str, Any]) -> None:
    """Convert the tasks of a file. NotConvertible if the file does not exist."""
    path = builder.task_file(name)
    if path is None:
        raise NotConvertible(f"the task file {name} is not in the project")
    if str(path) in builder.stack:
        raise NotConvertible(f"{name} includes itself")
    builder.stack.append(str(path))
    try:
        builder.run(included_tasks(builder, path), outer)
    finally:
        builder.stack.pop()
