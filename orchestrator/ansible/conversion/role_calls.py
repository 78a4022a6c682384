"""``include_role``, ``import_role``, and task files, also in a loop (controller)."""

from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.ansible.conversion import uncertain_variables
from orchestrator.ansible.conversion.conditions import read_conditions
from orchestrator.ansible.conversion.loop_writer import loop_over
from orchestrator.ansible.conversion.loops import Loop, element_scope, read_loop
from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.output.manifest_entries import CHECK, Entry, Record
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Block, Task, flat, listed, read_tasks
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
        raise NotConvertible(f"the task file '{name}' is not in the project")
    if str(path) in builder.stack:
        raise NotConvertible(f"{name} includes itself")
    builder.stack.append(str(path))
    try:
        builder.run(included_tasks(builder, path), outer)
    finally:
        builder.stack.pop()


_IGNORED = ("public", "allow_duplicates", "rolespec_validate", "handlers_from")


def include_role(builder: Conversion, task: Task, record: Record) -> None:
    """Convert the inclusion of a role to a resource that applies its manifest."""
    arguments = dict(task.args)
    for name in _IGNORED:
        arguments.pop(name, None)
    role = arguments.pop("name", None) or arguments.pop("role", None)
    tasks_from = arguments.pop("tasks_from", "main")
    if arguments:
        raise NotConvertible(f"ccm has no equivalent of the parameter {next(iter(arguments))}")
    if not isinstance(role, str) or is_template(role) or is_template(tasks_from):
        raise NotConvertible("a role with a computed name")
    if task.loop is not None:
        raise NotConvertible("a role in a loop")
    entry = builder.project.role_entry(
        builder, role, str(tasks_from).removesuffix(".yml"), task.variables
    )
    _place(builder, task, record=record, entry=entry, role=role)


def _place(builder: Conversion, task: Task, *, record: Record, entry: Entry, role: str) -> None:
    conditions = read_conditions(
        listed(task.keywords.get("when")), builder.scope, builder.manifest.entries()
    )
    if conditions.on_change:
        raise NotConvertible("a role that runs only after a change")
    if conditions.never:
        record.reasons.append("the condition is never true on a host that ccm manages")
        builder.place(task, record, [])
        return
    entry.conditions += conditions.expressions
    entry.control.update(conditions.control)
    entry.tags += [str(one) for one in listed(task.keywords.get("tags")) if one != "always"]
    builder.place(task, record, [entry])
    if entry.conditions or entry.control:
        uncertain_variables.forget_values(builder, role)
    uncertain_variables.recall(builder)


def _apply_in_loop(
    builder: Conversion, task: Task, *, record: Record, name: str, loop: Loop
) -> None:
    """A task file for each element of a variable: a manifest that is applied several times."""
    path = None if is_template(name) else builder.task_file(name)
    if path is None:
        raise NotConvertible("a task file in a loop with a computed name")
    if str(path) in builder.stack:
        raise NotConvertible(f"{name} includes itself")
    scope = element_scope(builder.scope.having(renames={**builder.scope.renames}), loop)
    if loop.index:
        scope.renames[loop.index] = "index"
    scope = scope.having(task_vars={**scope.task_vars, **task.variables})
    arguments: dict[str, tuple[Any, Any]] = {
        key: (one, text_rewriter.value("{{ " + key + " }}", scope))
        for key, one in task.variables.items()
    }
    if loop.index:
        arguments[loop.index] = (0, "{{ index }}")
    entry = builder.project.file_entry(
        builder, path, name=loop.variable, sample=loop.sample, variables=arguments
    )
    conditions = read_conditions(
        listed(task.keywords.get("when")), scope, builder.manifest.entries()
    )
    if conditions.on_change or conditions.never:
        raise NotConvertible("a task file in a loop with this kind of condition")
    as_list = partial(builder.as_list, task.name or name)
    loop_over([entry], loop, omits={}, conditions=conditions, as_list=as_list)
    entry.conditions += conditions.expressions
    entry.control.update(conditions.control)
    entry.tags += [str(one) for one in listed(task.keywords.get("tags")) if one != "always"]
    builder.place(task, record, [entry])
    for index, complete in entry.notifies.items():
        builder.pending.setdefault(index, []).append(builder.reference(entry))
        if not complete:
            text = "any change below triggers the handler; in the original, only some changes do"
            entry.checks.append(text)
            builder.mark(record, CHECK, text)


def include_in_loop(
    builder: Conversion, task: Task, *, record: Record, name: str, outer: dict[str, Any]
) -> None:
    """A task file in a loop: with literal elements, its tasks are repeated for each."""
    loop = read_loop(task, builder.scope, builder.files)
    if loop is not None and loop.elements is None:
        _apply_in_loop(builder, task, record=record, name=name, loop=loop)
        return
    if loop is None or loop.elements is None:
        raise NotConvertible("a task file without a loop")
    if is_template(name) and loop.variable not in name:
        raise NotConvertible("a task file in a loop with a computed name")
    for index, element in enumerate(loop.elements):
        variables = dict(outer.get("vars") or {})
        variables[loop.variable] = element
        if loop.index:
            variables[loop.index] = index
        merged = {**outer, "vars": variables}
        scope = builder.scope.having(task_vars={**builder.scope.task_vars, **variables})
        file_name = name
        if is_template(name):
            file_name = text_rewriter.text(name, scope)
            if "{{ '" in file_name:
                file_name = file_name.replace("{{ '", "").replace("' }}", "")
        if "{{" in file_name:
            raise NotConvertible("a task file with a computed name")
        include_file(builder, file_name, merged)
