"""A resource leads back to the task that it was made of."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.ansible.proof.equivalence_check import TaskMap


def task(line: int, *resources: str) -> dict[str, Any]:
    """A task of a report."""
    return {"file": "tasks.yml", "line": line, "task": f"t{line}", "resources": resources}


TASKS = (
    task(1, "package#nginx"),
    task(5, "file#/etc/nginx/{{ item.name }}.conf", "link#/etc/{{ item.name }}"),
    task(9, "file#/etc/{{ path }}"),
    task(13, "exec#reload"),
)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"type": "package", "name": "nginx"}, 1),
        ({"type": "file", "name": "/etc/nginx/www.conf"}, 5),
        ({"type": "file", "name": "/etc/motd"}, 9),
        ({"type": "exec", "name": "nginx -s reload", "alias": "reload"}, 13),
    ],
)
def test_the_most_literal_name_wins(tmp_path: Path, event: dict[str, Any], line: int) -> None:
    """Exact names first, then names with templates; an alias counts as a name."""
    found = TaskMap(TASKS, tmp_path).origin(event)
    assert found is not None
    assert found.text == f"tasks.yml:{line} (t{line})"


def test_a_resource_of_no_task_has_no_origin(tmp_path: Path) -> None:
    """There is no guess."""
    assert TaskMap(TASKS, tmp_path).origin({"type": "user", "name": "anna"}) is None


def test_the_place_of_a_task_leads_to_its_resources(tmp_path: Path) -> None:
    """Ansible says places as absolute paths."""
    tasks = TaskMap(TASKS, tmp_path)
    assert tasks.resources(str(tmp_path / "tasks.yml"), 13) == ["exec#reload"]
    assert tasks.resources(str(tmp_path / "tasks.yml"), 14) == []
