"""Handlers: the notified handler of a task becomes a resource that subscribes to it
(controller).
"""

import os
import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.conversion.loops import read_loop
from orchestrator.ansible.conversion.manifest_context import Conversion, Handler
from orchestrator.ansible.conversion.role_calls import included_tasks
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import (
    is_template,
    names_in,
    only_expression,
    outputs,
    path_of,
)
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.jinja.value_expressions import folded
from orchestrator.ansible.modules.commands import single_quoted
from orchestrator.ansible.modules.services import RELOAD
from orchestrator.ansible.output.manifest_entries import CHECK, KEPT, Comment, Entry, Record
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Block, Task, inherit, listed

_MAX_ROUNDS = 10
# Of a name in notify, because the ways in which a name may consist of its parts multiply.
_MAX_COMPUTED = 3  # parts
_MAX_NAME = 200  # characters of a handler's name


def read(tasks: list[Task | Block], role: str) -> list[Handler]:
    """The handlers of a file, including those in blocks."""
    found: list[Handler] = []
    for one in tasks:
        if isinstance(one, Block):
            for inner in one.tasks:
                if isinstance(inner, Task):
                    inner.keywords = inherit(inner.keywords, one.keywords)
            found += read(one.tasks, role)
            continue
        topics = {str(name) for name in listed(one.keywords.get("listen"))}
        found.append(Handler(one, role, topics))
    return found


def find(handlers: list[Handler], name: str) -> list[int]:
    """The positions of the handlers that a name notifies: the one with that name, and all that
    listen to it.
    """
    found: list[int] = []
    for index, one in enumerate(handlers):
        names = {one.task.name, f"{one.role} : {one.task.name}" if one.role else ""}
        if (
            name in names and not any(handlers[i].task.name == one.task.name for i in found)
        ) or name in one.topics:
            found.append(index)
    return found


def notify(builder: Conversion, task: Task, record: Record, entries: list[Entry]) -> None:
    """Let the handlers that a task notifies follow its resources."""
    names = [str(one) for one in listed(task.keywords.get("notify"))]
    if not names or text_rewriter.as_bool(task.keywords.get("changed_when")) is False:
        return  # and no aliases, which only a subscription needs
    for name in names:
        for scope, made in _cases(builder, task, name, entries):
            _notify_one(builder, record, scope=scope, name=name, entries=made)


def _notify_one(
    builder: Conversion, record: Record, *, scope: Scope, name: str, entries: list[Entry]
) -> None:
    references = [builder.reference(one) for one in entries if one.changes]
    found, is_each = _named(builder, scope, name)
    if is_each or not found:
        each = f"every change fires '{name}'; the original computes the name for each element"
        text = each if found else f"the handler '{name}' is not in the role or play"
        builder.mark(record, CHECK, text)
        if entries:
            entries[0].checks.append(text)
    for index, test in found:
        builder.pending.setdefault(index, []).extend(references)
        builder.pending_tests.setdefault(index, []).append(test)


def _cases(
    builder: Conversion, task: Task, name: str, entries: list[Entry]
) -> list[tuple[Scope, list[Entry]]]:
    """The resources whose changes notify a name, each with the scope that the name has there."""
    scope = builder.scope_of(task)
    if task.loop is None or not is_template(name):
        return [(scope, entries)]
    loop = read_loop(task, scope, builder.files)
    if loop is None or loop.elements is None or len(loop.elements) != len(entries):
        return [(scope.with_locals({loop.variable: loop.sample} if loop else {}), entries)]
    return [
        (scope.having(task_vars={**scope.task_vars, loop.variable: element}), [entry])
        for element, entry in zip(loop.elements, entries, strict=True)
    ]


def _named(builder: Conversion, scope: Scope, name: str) -> tuple[list[tuple[int, str]], bool]:
    """The handlers with a name, each with the test that a computed name is this one; and whether
    the name differs between elements, which no test can tell.
    """
    certain = find(builder.handlers, name)
    parts = outputs(name) if is_template(name) and not certain else None
    if parts is None:
        return [(index, "") for index in certain], False
    parts = [_known(one, scope) for one in parts]
    names = {each for one in builder.handlers for each in (one.task.name, *one.topics)}
    names = {each for each in names if len(each) <= _MAX_NAME}
    computed = [one for one in parts if not isinstance(one, nodes.TemplateData)]
    if len(computed) > _MAX_COMPUTED:
        return [], False
    own = {*scope.locals, *scope.task_vars}
    is_each = any(names_in(one) & own for one in computed)
    pattern = re.compile("".join(_pattern(one, scope) for one in parts), re.DOTALL)
    found = []
    for one in sorted(names):
        match = pattern.fullmatch(one)
        values = match.groups() if match else ()
        tests = [
            f"({unparse(part)}) == {literal(value)}"
            for part, value in zip(computed, values, strict=False)
        ]
        test = "" if is_each else " and ".join(tests)
        found += [(index, test) for index in find(builder.handlers, one) if match]
    return found, is_each


def _known(part: nodes.Expr, scope: Scope) -> nodes.Expr:
    """A part of a name with what a variable of the task contains in its place."""
    path = path_of(part)
    value = scope.task_vars.get(path[0]) if path is not None and not path[1] else None
    inner = only_expression(str(value)) if is_template(value) else None
    if inner is not None and path is not None:
        rest = {key: one for key, one in scope.task_vars.items() if key != path[0]}
        return _known(inner, scope.having(task_vars=rest))
    try:
        found = folded(translate(part, scope))
    except NotConvertible:
        return part
    value = found.value if isinstance(found, nodes.Const) else None
    return nodes.TemplateData(str(value)) if type(value) in (str, int) else part


def _pattern(part: nodes.Expr, scope: Scope) -> str:
    """A regular expression for a part of a name: what it may be, as far as it is known."""
    if isinstance(part, nodes.TemplateData):
        return re.escape(part.data)
    known = sample_of(part, scope)
    if not known.values or known.open or known.kinds:
        return "(.*)"
    return f"({'|'.join(re.escape(str(one)) for one in known.values)})"


def fire(entry: Entry, references: list[str]) -> None:
    """Make a resource act only on a change of others. NotConvertible."""
    if entry.type == "exec":
        _guard_by_control(entry)
        entry.properties["refresh_only"] = True
    elif entry.type == "reboot":
        entry.properties.pop("onlyif", None)
    elif entry.type == "wait":
        entry.checks.append("ccm waits on each push; the original waits only after a change")
    else:
        _by_state(entry)
    if entry.type in ("exec", "reboot"):
        entry.subscribe += references


def fire_or(entry: Entry, references: list[str], tests: list[str]) -> None:
    """Make a command run if others change or if one of the tests passes."""
    if entry.type != "exec":
        raise NotConvertible(
            f"ccm has no {entry.type} that acts after a change or if a condition is true"
        )
    if any(name in entry.properties for name in ("creates", "onlyif", "unless")):
        raise NotConvertible("a command with two conditions that runs after a change")
    test = " || ".join(f"{{ {one}; }}" for one in tests) if len(tests) > 1 else tests[0]
    entry.properties["onlyif"] = f"sh -c {single_quoted(test)}"
    entry.subscribe += references


_STATES = (
    "file", "link", "edit", "package", "service", "user", "group", "download", "git", "cron",
    "sysctl", "mount", "module", "authorized_key", "repository", "archive",
)  # fmt: skip


def _by_state(entry: Entry) -> None:
    """A state that the original sets only after a change; ccm ensures it on each push.
    NotConvertible.
    """
    if entry.type not in _STATES or (entry.foreach and entry.type == "apply"):
        raise NotConvertible(f"ccm has no {entry.type} that acts only after a change")
    if entry.properties.get("ensure") == "absent" or entry.properties.get("purge"):
        if entry.type not in ("file", "link"):
            raise NotConvertible(f"ccm has no {entry.type} that acts only after a change")
        entry.type, path = "exec", entry.name
        entry.properties = {"command": f"rm -rf {path}", "refresh_only": True}
        return
    entry.checks.append("ccm ensures this on each push; the original does it only after a change")


def _guard_by_control(entry: Entry) -> None:
    """Turn the guards of an exec into conditions, because ``subscribe`` overrides guards.
    NotConvertible.
    """
    created = entry.properties.pop("creates", None)
    if created is not None and "absent" not in entry.control:
        entry.control["absent"] = created
    for name in ("onlyif", "unless"):
        guard = entry.properties.pop(name, None)
        if guard is None:
            continue
        if "command" in entry.control or not isinstance(guard, str):
            raise NotConvertible("a command with two conditions that runs after a change")
        negative = f"sh -c {single_quoted('! { ' + guard + '; }')}"
        entry.control["command"] = guard if name == "onlyif" else negative


def last_ones(builder: Conversion) -> list[str]:
    """The handlers that a role, or a role that it applies, runs at its end."""
    pending = (builder.handlers[index].task.name for index in sorted(builder.pending))
    nested = (name for one in builder.manifest.entries() for name in one.ends_with)
    return list(dict.fromkeys([*nested, *pending]))


def _mark_early(builder: Conversion) -> None:
    """Mark roles whose handlers run at their end, before what follows in the original."""
    entries = builder.manifest.entries()
    for position, entry in enumerate(entries):
        if entry.ends_with and any(one.changes for one in entries[position + 1 :]):
            names = ", ".join(f"'{name}'" for name in entry.ends_with)
            text = f"runs {names} at the end of the role; the original, after later resources"
            builder.check(entry, text)
        entry.ends_with = []


def flush(builder: Conversion) -> None:
    """Append the pending handlers in order, followed by the handlers that they notify."""
    _mark_early(builder)
    for _ in range(_MAX_ROUNDS):
        if not builder.pending:
            return
        index = min(builder.pending)
        references = list(dict.fromkeys(builder.pending.pop(index)))
        tests = list(dict.fromkeys(builder.pending_tests.pop(index, [])))
        if references:
            _convert(builder, builder.handlers[index], references, tests)


def _convert(
    builder: Conversion, handler: Handler, references: list[str], tests: list[str]
) -> None:
    """A handler after a change of others; ``tests``: when their computed names are its name."""
    task = handler.task
    if tests and all(tests):
        when = [*listed(task.keywords.get("when")), " or ".join(f"({one})" for one in tests)]
        task = task.with_keywords(when=when)
    record = next(
        (one for one in builder.records if (one.path, one.line) == (task.path, task.line)), None
    )
    if record is None:
        record = builder.record(task)
    try:
        if task.problem:
            raise NotConvertible(task.problem)
        entries = _entries(builder, task, record, references)
        if len(tests) > 1:
            text = "each task that may notify it fires it; the original computes the name for each"
            builder.mark(record, CHECK, text)
            for one in entries[:1]:
                one.checks.append(text)
    except NotConvertible as error:
        builder.mark(record, KEPT, error.reason)
        names = ", ".join(references)
        lines = [f"NOT CONVERTED: {error.reason}", f"(runs after a change of {names})"]
        lines += builder.original(task.path, task.line, task.end)
        builder.manifest.items.append(Comment(lines))
        return
    if entries or not references:
        builder.place(task, record, entries)


def _entries(builder: Conversion, task: Task, record: Any, references: list[str]) -> list[Entry]:
    if task.module in ("debug", "meta", "setup"):
        return []
    if task.module in ("include_tasks", "import_tasks") and task.loop is None:
        return _included(builder, task, references)
    if task.module in ("include_role", "import_role", "set_fact", "include_vars"):
        raise NotConvertible(f"a handler with {task.module}")
    from orchestrator.ansible.conversion import keywords

    keywords.refuse(task, builder.is_root)
    entries = builder.convert(task, record)
    result: list[Entry] = []
    for entry in entries:
        if entry.foreach and entry.type != "exec":
            raise NotConvertible("a handler with a loop")
        if entry.restarts is not None and _joined(builder, entry, references):
            continue
        fire(entry, references)
        for text in entry.checks:
            builder.mark(record, CHECK, text)
        result.append(entry)
    if not result and entries:
        record.reasons.append("the service resource subscribes to the change")
    return result


def _included(builder: Conversion, task: Task, references: list[str]) -> list[Entry]:
    """The tasks of an included file, each of which runs after the same changes."""
    name = str(task.file or "")
    base = builder.files.base
    places = [base / "handlers" / name, base / "tasks" / name, base / name]
    path = next((one for one in places if os.path.isfile(one) and builder.files.holds(one)), None)
    if path is None:
        raise NotConvertible(f"the task file '{name}' is not in the project")
    outer = {key: one for key, one in task.keywords.items() if key not in ("name", "listen")}
    found: list[Entry] = []
    for one in read(included_tasks(builder, path), ""):
        inner = one.task
        inner.keywords = inherit(inner.keywords, outer)
        record = builder.record(inner)
        found += _entries(builder, inner, record, references)
    return found


def _joined(builder: Conversion, entry: Entry, references: list[str]) -> bool:
    """Whether a resource of the service, after everything that notifies it, could subscribe.

    It acts at its place, so nothing that changes the host may follow: the original acts after it.
    """
    assert entry.restarts is not None
    word, name = entry.restarts
    entries = builder.manifest.entries()
    for position, one in enumerate(entries):
        if one.type != "service" or one.name != name or one.foreach:
            continue
        later = [o for o in entries[position + 1 :] if o.properties.get("command") != RELOAD]
        starts = one.properties.get("ensure", "running") == "running"
        same = one.conditions == entry.conditions and one.control == entry.control
        if not starts or not same or any(o.changes for o in later):
            return False
        if one.reference in references:
            return False
        if one.subscribe and bool(one.properties.get("reload")) != (word == "reload"):
            return False
        one.subscribe += [ref for ref in references if ref not in one.subscribe]
        if word == "reload":
            one.properties["reload"] = True
        if one.record is not None and entry.comments:
            one.comments.append(entry.comments[0])
        return True
    return False
