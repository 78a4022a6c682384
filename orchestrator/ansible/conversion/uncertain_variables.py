"""Variables whose value may differ from the original: resources that read them are marked, or
not converted (controller).

Ansible keeps results and facts until the end of the playbook. A manifest has its own data, so it
repeats those facts of earlier roles and plays that have the same value there. Readers of all others
are not converted.
"""

import re
from dataclasses import dataclass
from typing import Any

from orchestrator.ansible.conversion.manifest_context import Choice, Conversion
from orchestrator.ansible.jinja import fact_names, text_rewriter
from orchestrator.ansible.jinja.scope import Scope, Uses
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task

_READ = re.compile(r"\bData\.(\w+)")


def spread(builder: Conversion, uncertain: dict[str, str], more: list[Any]) -> None:
    """Mark the resources that read an uncertain variable, directly or through other variables.

    ``more`` has maps of variables in addition to the data of the manifest, nested in any way.
    """
    if not uncertain:
        return
    values = [{name: one.value for name, one in builder.manifest.data.items()}, *more]
    found = dict(uncertain)
    while new := _readers(values, found):
        found.update(new)
    for entry in builder.manifest.entries():
        for name in sorted(set(_READ.findall(_text(builder, entry))) & set(found)):
            text = f"it reads {name}: {found[name]}"
            if text not in entry.checks and found[name] not in entry.checks:
                builder.check(entry, text)


def _readers(values: list[Any], readers: dict[str, str]) -> dict[str, str]:
    new: dict[str, str] = {}
    for one in values:
        for name, value in one.items() if isinstance(one, dict) else ():
            if name in readers:
                continue
            if isinstance(value, dict) and ":" in name:
                new.update(_readers([value], readers))  # an entry of the hierarchy
                continue
            for read in _READ.findall(repr(value)):
                if read in readers:
                    new[name] = readers[read]
    return new


def _text(builder: Conversion, entry: Entry) -> str:
    """The text of a resource, and of the role's templates that it renders."""
    text = f"{entry.name} {entry.all_properties()!r}"
    return text + "".join(
        body
        for written, body in builder.files.texts.items()
        if f"'{written}'" in text or f"{written}\\'" in text
    )


def unreadable(values: dict[str, list[Any]], scope: Scope) -> dict[str, str]:
    """The variables of a project that have no equivalent, with the reasons."""
    found: dict[str, str] = {}
    while True:
        uses = Uses(broken=dict(found))
        probe = scope.having(uses=uses)
        new: dict[str, str] = {}
        for name, versions in values.items():
            if name not in found:
                reason = _reason(versions, probe)
                if reason:
                    new[name] = f"the variable {name}: {reason}"
        if not new:
            return found
        found.update(new)


def _reason(versions: list[Any], scope: Scope) -> str:
    for one in versions:
        try:
            text_rewriter.value(one, scope)
        except NotConvertible as error:
            return error.reason
    return ""


_OF_ONE_PLACE = {"item", "index", "lookup", "query", "q", "role_path", "role_name"}
"""Names whose values depend on where an expression is."""

Settings = list[tuple[Any, list[Any], Task]]


@dataclass
class Earlier:
    """A variable that tasks of ``role`` set, "" for those of a play."""

    role: str
    reason: str  # why a later manifest cannot read it
    settings: Settings | None = None  # those of set_fact, if a later manifest can have them
    choice: Choice | None = None  # the included file, if a later manifest can include it


def remember(builder: Conversion) -> None:
    """Record the variables that the tasks of a manifest have set so far."""
    earlier: dict[str, Earlier] = builder.project.earlier
    where = f"the role {builder.role}" if builder.role else "a play"
    for name, register in builder.scope.registers.items():
        task = register.task_name or name
        reason = (
            f"it uses the result of '{task}' in {where}, which other roles and plays cannot read"
        )
        earlier[name] = Earlier(builder.role, reason)
    for choice in builder.includes:
        reason = f"include_vars of {where} sets it, which other roles and plays do not read"
        depends = choice.weak or re.search(r"\b(?:Data|Asked)\.", choice.order)
        for name in {key for values in choice.files.values() for key in values}:
            earlier[name] = Earlier(
                builder.role, f"{name}: {reason}", choice=None if depends else choice
            )
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
        words = set(re.findall(r"\w+", repr(value)))
        set_by_tasks = set(builder.project.earlier) | set(builder.facts)
        if when or task.variables or words & (set_by_tasks | _OF_ONE_PLACE | {name}):
            return False
    return True


def forget_values(builder: Conversion, role: str = "") -> None:
    """Repeat no facts of a role that runs under a condition or with variables of its own; of no
    role and play if none is given.
    """
    for one in builder.project.earlier.values():
        if one.role == role or not role:
            one.settings = one.choice = None


def recall(builder: Conversion) -> None:
    """Let the following tasks of a manifest read what earlier ones set, or do not convert them."""
    scope = builder.scope
    read = set(re.findall(r"\w+", f"{builder.sources}\n{scope.values!r}"))
    for name, one in builder.project.earlier.items():
        if name in builder.facts or name in scope.registers or name in builder.set_by_tasks:
            continue
        if one.settings is not None or one.choice is not None:
            if name in read:
                _repeat(builder, name, one)
        elif name in scope.values or fact_names.is_fact(name):
            scope.uses.uncertain.setdefault(name, one.reason)
        else:
            scope.uses.broken.setdefault(name, one.reason)


def _repeat(builder: Conversion, name: str, one: Earlier) -> None:
    """Set a fact, or include a file of variables, as an earlier manifest does."""
    if one.settings is not None:
        builder.facts[name] = list(one.settings)
    elif one.choice is not None and not any(one.choice is each for each in builder.includes):
        builder.includes.append(one.choice)


def hide(outer: Conversion, inner: Conversion) -> None:
    """Do not convert readers of results, and of what is not converted, in a file of tasks."""
    inner.scope.uses.broken.update(outer.scope.uses.broken)
    inner.scope.uses.uncertain.update(outer.scope.uses.uncertain)
    for name, one in outer.scope.registers.items():
        reason = f"it uses the result of '{one.task_name or name}', outside of this file of tasks"
        inner.scope.uses.broken.setdefault(name, reason)
