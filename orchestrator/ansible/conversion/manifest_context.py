"""The state of the conversion of one manifest, which the other modules use (controller)."""

import os
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from orchestrator.ansible.jinja.parsing import names_in, parse_expression
from orchestrator.ansible.jinja.scope import Register, Scope
from orchestrator.ansible.modules.mapping_context import Files
from orchestrator.ansible.output.manifest_entries import (
    CHECK,
    Comment,
    Datum,
    Entry,
    Manifest,
    Record,
    numbered,
    slug,
)
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Block, Task
from orchestrator.ansible.source.yaml_reader import Map, is_readable
from remote_runtime.text import shell_words

_TEMPLATE = re.compile(r"(\{\{.*?\}\})", re.DOTALL)
_TYPESET = str.maketrans({"'": "\u2019", '"': "\u201d", "\\": "/"})


@dataclass
class Handler:
    """A handler with the names that notify it."""

    task: Task
    role: str = ""
    topics: set[str] = field(default_factory=set)


@dataclass
class Choice:
    """A list of variable files; a host uses the first file that exists.

    ``order`` is the entry of the hierarchy; ``files`` maps its results to the values. A ``weak``
    one sets only what nothing else sets.
    """

    order: str
    files: dict[str, Map] = field(default_factory=dict)
    weak: bool = False


class Roles(Protocol):
    """Finds the roles of the project. ``included`` counts the tasks of included files.

    ``earlier`` has the variables that tasks have set.
    """

    included: int
    earlier: dict[str, Any]

    def role_entry(
        self, builder: Any, name: str, tasks_from: str, variables: dict[str, Any]
    ) -> Entry:
        """The resource that applies a role. NotConvertible."""

    def file_entry(
        self,
        builder: Any,
        path: Path,
        *,
        name: str,
        sample: Any,
        variables: dict[str, tuple[Any, Any]],
    ) -> Entry:
        """The resource that applies a task file for one element of a loop. NotConvertible."""


@dataclass
class Conversion(ABC):
    """The conversion of one manifest. ``sources`` has the text of all its task files."""

    manifest: Manifest
    scope: Scope
    files: Files
    project: Roles
    role: str = ""
    first: bool = True  # nothing of the site comes before
    is_root: bool = True
    sources: str = ""
    records: list[Record] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    pending: dict[int, list[str]] = field(default_factory=dict)
    # of each notification of a pending handler: when its name is this handler's, "" if always
    pending_tests: dict[int, list[str]] = field(default_factory=dict)
    cache_valid: str = ""
    facts: dict[str, list[tuple[Any, list[Any], Task]]] = field(default_factory=dict)
    # the results that a fact can read, by the identity of its task
    results: dict[int, dict[str, Register]] = field(default_factory=dict)
    answers: set[str] = field(default_factory=set)  # names of the lookups of results
    includes: list[Choice] = field(default_factory=list)
    named: dict[str, Task] = field(default_factory=dict)  # include_vars by the name of its map
    stack: list[str] = field(default_factory=list)
    environment: dict[str, Any] = field(default_factory=dict)
    tasks: dict[tuple[str, int], Task] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)
    directories: set[str] = field(default_factory=set)
    lines: dict[str, list[str]] = field(default_factory=dict)
    emptied: set[str] = field(default_factory=set)  # empty variables that `set_fact` sets
    project_variables: set[str] = field(default_factory=set)  # variables that the project sets
    set_by_tasks: set[str] = field(default_factory=set)  # those of `set_fact` in its files
    ended: list[str] = field(default_factory=list)  # conditions of all later tasks
    has_gap: bool = False  # whether a task that is not converted may have changed a host
    placed: int = 0  # resources in the manifest, and those that were too many
    is_rescued: bool = False  # whether something of the original follows a failure
    element: str = ""  # the variable of the loop that applies the manifest several times
    element_key: str = ""  # distinguishes its elements, as an expression

    @abstractmethod
    def run(self, tasks: list[Task | Block], outer: dict[str, Any] | None = None) -> None:
        """Convert tasks and blocks in order."""

    @abstractmethod
    def convert(self, task: Task, record: Record) -> list[Entry]:
        """The resources of one task with conditions and loops, not yet in the manifest."""

    @abstractmethod
    def place(self, task: Task, record: Record, entries: list[Entry]) -> None:
        """Append resources with the comments and subscriptions that belong to them."""

    @abstractmethod
    def flush(self) -> None:
        """Append the resources of the pending handlers."""

    def original(self, path: str, line: int, end: int) -> list[str]:
        """Lines of the original file, without their common indentation."""
        if path not in self.lines:
            try:
                text = Path(path).read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            self.lines[path] = text.split("\n")
        found = self.lines[path][line - 1 : end]
        while found and (not found[-1].strip() or found[-1].strip().startswith("#")):
            found.pop()
        blanks = min((len(o) - len(o.lstrip()) for o in found if o.strip()), default=0)
        return ["  " + one[blanks:] for one in found]

    def record(self, task: Task) -> Record:
        """The record of a task, which is counted in the report."""
        place = (task.module, task.name, task.path, task.line)
        record = Record(*place, manifest=self.manifest.path, role=self.role)
        self.records.append(record)
        self.tasks[task.path, task.line] = task
        return record

    def mark(self, record: Record, outcome: str, reason: str) -> None:
        """Add a reason, and an outcome if it is worse than the previous one."""
        order = ("converted", CHECK, "not converted")
        if order.index(outcome) > order.index(record.outcome):
            record.outcome = outcome
        if reason not in record.reasons:
            record.reasons.append(reason)

    def comment(self, record: Record, text: str) -> None:
        """Mark a task to check, and write why as a comment of the manifest."""
        self.mark(record, CHECK, text)
        self.manifest.items.append(Comment([f"CHECK: {text}"]))

    @property
    def is_untouched(self) -> bool:
        """Whether nothing has changed a host before this point."""
        changes = any(one.changes for one in self.manifest.entries())
        return self.first and not changes and not self.has_gap

    def scope_of(self, task: Task, **changes: Any) -> Scope:
        """The scope of a task, with its variables."""
        return self.scope.having(task_vars={**self.scope.task_vars, **task.variables}, **changes)

    def keep_fact(self, name: str, value: Any, when: list[Any], task: Task) -> None:
        """Record what a task sets; the value is converted once all tasks are known."""
        self.results[id(task)] = dict(self.scope.registers)
        self.facts.setdefault(name, []).append((value, when, task))

    def report(self, task: Task, record: Record, text: str, *more: str) -> None:
        """Record the result of a task that has no resources."""
        self.manifest.items.append(Comment([*([task.name] if task.name else []), text, *more]))
        record.reasons.append(text)

    def task_of(self, entry: Entry) -> Task | None:
        """The task from which a resource is created."""
        record = entry.record
        return self.tasks.get((record.path, record.line)) if record is not None else None

    def check_all(self, entries: list[Entry], reason: str) -> None:
        """Mark several resources that become one, at the first of them."""
        entries[0].checks.append(reason)
        for one in entries:
            if one.record is not None:
                self.mark(one.record, CHECK, reason)

    def check(self, entry: Entry, reason: str) -> None:
        """Mark a resource, and its task."""
        entry.checks.append(reason)
        if entry.record is not None:
            self.mark(entry.record, CHECK, reason)

    def task_file(self, name: str) -> Path | None:
        """The path of a task file, next to the including file or in the role."""
        beside = Path(self.stack[-1]).parent if self.stack else self.files.base / "tasks"
        for place in (beside, self.files.base / "tasks", self.files.base):
            for ending in ("", ".yml", ".yaml"):
                path = place / (name + ending)
                if os.path.isfile(path) and is_readable(path):
                    return path
        return None

    def as_list(self, title: str, expression: str) -> str:
        """An expression that ``foreach`` accepts: one with braces becomes a value of data."""
        return self.as_data("list", title, expression)

    def as_data(self, kind: str, title: str, expression: str) -> str:
        """An expression without braces: one with braces becomes a value of data."""
        if "{{" not in expression:
            return expression
        if self.scope.task_vars:
            raise NotConvertible("a list that depends on variables of the task")
        if names_in(parse_expression(expression)) & {"item", "index"}:
            raise NotConvertible("a list that depends on the element of a loop")
        value = "{{ " + expression + " }}"
        taken = {key for key, one in self.manifest.data.items() if one.value != value}
        name = numbered(f"{kind}_" + slug(title).replace("-", "_"), taken, "{}_{}")
        self.manifest.data[name] = Datum(value, [title])
        self.scope.uses.data.add(name)
        return f"Data.{name}"

    def unique(self, name: str) -> str:
        """A unique name for an exec in the manifest."""
        if self.element and f"Data.{self.element}" not in name:
            name = f"{name}: {{{{ {self.element_key} }}}}"
        found = numbered(_with_even_quotes(name), self.names, "{} ({})")
        self.names.add(found)
        return found

    def reference(self, entry: Entry) -> str:
        """The reference to a resource in ``subscribe``; a resource with a computed name
        gets an alias.
        """
        if not entry.is_literal and not entry.alias:
            base = slug(entry.comments[0] if entry.comments else entry.name)
            found = numbered(f"{entry.type}#{base}", self.aliases)
            self.aliases.add(found)
            entry.alias = found.partition("#")[2]
        return entry.reference


def _with_even_quotes(name: str) -> str:
    """The name of an exec, made a valid command line, which it must be even if it is
    only a title.
    """
    parts = _TEMPLATE.split(name)
    try:
        shell_words.split("".join(parts[::2]))
    except ValueError:
        parts[::2] = [one.translate(_TYPESET) for one in parts[::2]]
    return "".join(parts)
