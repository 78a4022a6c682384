"""Tasks of another file, in the place of the task that includes them (controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import read_tasks
from orchestrator.ansible.source.yaml_reader import read


def include_file(builder: Conversion, name: str, outer: dict[str, Any]) -> None:
    """Convert the tasks of a file. NotConvertible where there is no such file."""
    path = builder.task_file(name)
    if path is None:
        raise NotConvertible(f"the file of tasks {name} is not in the project")
    if str(path) in builder.stack:
        raise NotConvertible(f"{name} includes itself")
    builder.stack.append(str(path))
    try:
        builder.run(read_tasks(read(path), str(path)), outer)
    finally:
        builder.stack.pop()
