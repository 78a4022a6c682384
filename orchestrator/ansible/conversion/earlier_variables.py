"""Variables that the tasks of an earlier role or play set, for the manifests after it (controller).

Ansible keeps results and facts until the end of the playbook. A manifest has its own data, so it
repeats those facts of earlier manifests that have the same value there. Readers of all others are
not converted.
"""

import re
from dataclasses import dataclass
from typing import Any

from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.source.tasks import Task

_OF_ONE_PLACE = {"item", "index", "lookup", "query", "q", "role_path", "role_name"}
"""Names whose values depend on where an expression is."""

Settings = list[tuple[Any, list[Any], Task]]


@dataclass
class Earlier:
    """A variable that tasks of ``role`` set, "" for those of a play."""

    role: str
    reason: str  # why a later manifest cannot read it
    settings: Settings | None = None  # those of set_fact, if a later manifest can have them


def remember(builder: Conversion) -> None:
    """Record the variables that the tasks of a manifest have set so far."""
    earlier, where = (
        builder.project.earlier,
        f"the role {builder.role}" if builder.role else "a play",
    )
    for name, register in builder.scope.registers.items():
        task = register.task_name or name
        reason = f"the result of “{task}” in {where}, which other roles and plays cannot read"
        earlier[name] = Earlier(builder.role, reason)
    for choice in builder.includes:
        reason = f"include_vars of {where} sets it, which other roles and plays do not read"
        for name in {key for values in choice.files.values() for key in values}:
            earlier[name] = Earlier(builder.role, f"{name}: {reason}")
    for name, reason in builder.scope.uses.broken.items():
        if name not in builder.project_variables:
            earlier.setdefault(name, Earlier(builder.role, reason))
    changed = [one for one, new in builder.scope.renames.items() if new.startswith("Data.")]
    for name, settings in [*builder.facts.items(), *((one, None) for one in changed)]:
        reason = f"{name}: set_fact of {where} sets it, which other roles and plays do not read"
        fixed = settings if settings and _is_fixed(builder, name, settings) else None
        earlier[name] = Earlier(builder.role, reason, fixed)


def _is_fixed(builder: Conversion, name: str, settings: Settings) -> bool:
    """Whether a later manifest computes the same value, as it reads only variables of the
    project.
    """
    for value, when, task in settings:
        words = set(re.findall(r"\w+", repr((value, when))))
        set_by_tasks = set(builder.project.earlier) | set(builder.facts)
        if task.variables or words & (set_by_tasks - {name} | _OF_ONE_PLACE):
            return False
        if re.search(rf"\b{re.escape(name)}\b", repr(value)):
            return False
    return True


def forget_values(builder: Conversion, role: str = "") -> None:
    """Repeat no facts of a role that runs under a condition or with variables of its own; of no
    role and play if none is given.
    """
    for one in builder.project.earlier.values():
        if one.role == role or not role:
            one.settings = None


def recall(builder: Conversion) -> None:
    """Let the following tasks of a manifest read what earlier ones set, or do not convert them."""
    scope = builder.scope
    texts = f"{builder.sources}\n{scope.values!r}"
    for name, one in builder.project.earlier.items():
        if name in builder.facts or name in scope.registers or name in builder.set_by_tasks:
            continue
        if one.settings is not None:
            if re.search(rf"\b{re.escape(name)}\b", texts):
                builder.facts[name] = list(one.settings)
        elif name in scope.values:
            scope.uses.uncertain.setdefault(name, one.reason)
        else:
            scope.uses.broken.setdefault(name, one.reason)


def hide(outer: Conversion, inner: Conversion) -> None:
    """Do not convert readers of results, and of what is not converted, in a file of tasks."""
    inner.scope.uses.broken.update(outer.scope.uses.broken)
    inner.scope.uses.uncertain.update(outer.scope.uses.uncertain)
    for name, one in outer.scope.registers.items():
        reason = f"the result of “{one.task_name or name}”, outside of this file of tasks"
        inner.scope.uses.broken.setdefault(name, reason)
