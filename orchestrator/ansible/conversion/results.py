"""What ``register`` keeps: look-ups for what is read, resources for changes (controller)."""

from __future__ import annotations

import re
from typing import Any

from orchestrator.ansible.conversion import keywords
from orchestrator.ansible.conversion.core import Conversion
from orchestrator.ansible.jinja import texts
from orchestrator.ansible.jinja.scope import Register
from orchestrator.ansible.modules.arguments import Arguments
from orchestrator.ansible.modules.commands import command_properties, guard_of
from orchestrator.ansible.modules.context import Context
from orchestrator.ansible.output.entries import Comment, Entry, Record
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task

COMMANDS = frozenset(["command", "shell", "raw"])
_READERS = re.compile(
    r"^\s*(?:(?:LC_ALL|LANG)=\S+\s+)?(?:cat|ls|grep|egrep|test|which|stat|id|getent|uname|hostname|"
    r"readlink|head|tail|wc|find|whoami|command -v|type|dpkg-query|dpkg -[lsW]|rpm -q\w*|"
    r"systemctl (?:is-active|is-enabled|status|show|list-\S+|cat)|"
    r"\S+ (?:--version|-version|-V|version|-v))\b(?!.*(?:>|-delete|-exec|\btee\b))"
)


def uses_of(builder: Conversion, name: str) -> set[str]:
    """The members of a result that the role reads: ``rc``, ``stdout``, ``changed`` …"""
    found = re.findall(
        rf"\b{re.escape(name)}\b(?:\s*\|\s*(\w+)|\s+is\s+(?:not\s+)?(\w+)|\.(\w+)|"
        rf"\[['\"](\w+)['\"]\])",
        builder.sources,
    )
    return {next(word for word in one if word) for one in found}


def is_reading(builder: Conversion, task: Task) -> bool:
    """Whether a command with ``register`` is only run for its result."""
    if task.module not in COMMANDS or not task.keywords.get("register"):
        return False
    if task.keywords.get("until") is not None:
        return False
    used = uses_of(builder, str(task.keywords["register"]))
    if not used - {"changed", "failed", "defined", "skipped", "change"} and "failed" not in used:
        return False
    never = texts.as_bool(task.keywords.get("changed_when")) is False
    check = texts.as_bool(task.keywords.get("check_mode")) is False
    line = task.free_form or str(task.args.get("cmd", ""))
    if "creates" in task.args or "removes" in task.args:
        return False
    return never or check or bool(_READERS.match(line) and "\n" not in line.strip())


def note_reading(builder: Conversion, task: Task, record: Record) -> None:
    """Remember a command that only reads; what reads its result asks the host."""
    name = str(task.keywords["register"])
    if task.loop is not None:
        raise NotConvertible("a loop of commands whose results are read")
    scope = builder.scope.having(task_vars={**builder.scope.task_vars, **keywords.variables(task)})
    context = Context(task, scope, builder.files, lambda text: text)
    user = task.keywords.get("become_user")
    if user is not None:
        context.become_user = texts.text(str(user), scope)
    variables = keywords.environment(task) or {}
    context.environment = [f"{key}={texts.text(str(one), scope)}" for key, one in variables.items()]
    given = Arguments(keywords.arguments(task), scope, {})
    look_up = guard_of(command_properties(context, given))
    given.finish()
    register = Register(
        name, "command", task.name or task.module, look_up,
        position=len(builder.manifest.entries()), certain=_is_certain(builder, look_up),
    )  # fmt: skip
    builder.scope.registers[name] = register
    _note(builder, task, record, f"the answer is Asked.{name}, or a condition of what follows")


def _is_certain(builder: Conversion, look_up: dict[str, Any]) -> bool:
    return builder.first and not any(one.changes for one in builder.manifest.entries())


def _note(builder: Conversion, task: Task, record: Record, text: str) -> None:
    lines = [*([task.name] if task.name else []), text]
    condition = task.keywords.get("when")
    if condition:
        lines.append(f"the original asks only if {condition}")
    builder.manifest.items.append(Comment(lines))
    record.reasons.append(text)


def note_change(builder: Conversion, task: Task, entries: list[Entry]) -> None:
    """Remember which resources stand for a result, for ``when: x is changed``."""
    name = task.keywords.get("register")
    if not name:
        return
    register = Register(str(name), "change", task.name or task.module)
    changed = task.keywords.get("changed_when")
    if changed is not None and texts.as_bool(changed) is None:
        register.reason = f"whether “{register.task_name}” changed, by its changed_when"
    register.references = [builder.reference(one) for one in entries if one.changes]
    if not register.references:
        register.kind = "other"
        register.reason = f"the result of “{register.task_name}”"
    builder.scope.registers[str(name)] = register


def stat(builder: Conversion, task: Task, record: Record) -> None:
    """``stat``: a look-up, or a condition of the tasks that follow."""
    given = Arguments(keywords.arguments(task), builder.scope, {})
    given.ignore("get_checksum", "get_md5", "get_mime", "get_attributes", "checksum_algorithm",
                "mime", "get_selinux_context")  # fmt: skip
    if task.loop is not None and uses_of(builder, str(task.keywords.get("register") or "")):
        raise NotConvertible("a loop of stat")
    follow = given.flag("follow", default=False)
    path = given.required("path", "dest", "name")
    given.finish()
    name = str(task.keywords.get("register") or "")
    used = uses_of(builder, name)
    if not name or task.loop is not None:
        _note(builder, task, record, "nothing reads the result")
        return
    if follow and used - {"stat", "exists"}:
        raise NotConvertible("stat with follow")
    register = Register(
        name, "stat", task.name or "stat", {"stat": path},
        position=len(builder.manifest.entries()), certain=_is_certain(builder, {}),
    )  # fmt: skip
    builder.scope.registers[name] = register
    _note(builder, task, record, f"the answer is Asked.{name}, or a condition of what follows")


def slurp(builder: Conversion, task: Task, record: Record) -> None:
    """``slurp``: a look-up of a file."""
    given = Arguments(keywords.arguments(task), builder.scope, {})
    path = given.required("src", "path")
    given.finish()
    name = str(task.keywords.get("register") or "")
    if not name or task.loop is not None:
        raise NotConvertible("slurp in a loop, or without register")
    builder.scope.registers[name] = Register(
        name, "file", task.name or "slurp", {"file": path},
        position=len(builder.manifest.entries()), certain=_is_certain(builder, {}),
    )  # fmt: skip
    _note(builder, task, record, f"the answer is Asked.{name}")
