"""Converts the tasks of one role or play to the resources of one manifest (controller)."""

import re
from dataclasses import replace
from functools import partial
from typing import Any

from orchestrator.ansible.conversion import handlers, included_vars, keywords, registered_results
from orchestrator.ansible.conversion.conditions import Conditions, read_conditions
from orchestrator.ansible.conversion.loop_writer import (
    cases_of,
    known_elements,
    loop_over,
)
from orchestrator.ansible.conversion.loops import Loop, by_state, read_loop
from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.conversion.non_resource_tasks import STATEMENTS
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import parse_expression
from orchestrator.ansible.jinja.possible_values import resolve
from orchestrator.ansible.jinja.scope import Register, Scope
from orchestrator.ansible.jinja.unparse import operand
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.modules import load_mappers
from orchestrator.ansible.modules.mapping_context import MAPPERS, Context
from orchestrator.ansible.modules.module_arguments import Arguments, expression_of
from orchestrator.ansible.modules.omissions import CONDITION, Cases, OmitChoice, choice_test
from orchestrator.ansible.output.manifest_entries import (
    CHECK,
    CONVERTED,
    KEPT,
    Comment,
    Entry,
    Record,
    chosen,
    numbered,
    slug,
)
from orchestrator.ansible.problems import NotConvertible, TemplateArgument
from orchestrator.ansible.source.tasks import Block, Task, flat, inherit, listed

_MAX_OMITTED = 4
_MAX_RESOURCES = 3_000  # of a manifest; each is compared with each other
_FOUND_OUT = ("set_fact", "stat", "slurp", "getent", "service_facts", "package_facts")
_ONLY_READ = (
    *(*_FOUND_OUT, "include_vars", "debug", "assert", "fail", "meta", "setup", "find", "pause"),
    *("wait_for", "wait_for_connection", "group_by", "add_host", "mount_facts"),
)


class Builder(Conversion):
    """Converts the tasks of a role or play in order."""

    # --- walking

    def run(self, tasks: list[Task | Block], outer: dict[str, Any] | None = None) -> None:
        """Convert tasks and blocks in order."""
        for one in tasks:
            merged = inherit(one.keywords, outer or {})
            if self.ended and not isinstance(one, Block):
                merged = inherit(merged, {"when": list(self.ended)})
            if isinstance(one, Block):
                self._block(replace(one, keywords=merged))
            else:
                self.task(replace(one, keywords=merged))

    def _block(self, block: Block) -> None:
        outer = {key: one for key, one in block.keywords.items() if key != "name"}
        name = block.keywords.get("name")
        if name and (block.rescue or block.always):
            self.manifest.items.append(Comment([str(name)]))
        rescued = self.is_rescued
        self.is_rescued = rescued or bool(block.rescue)
        self.run(block.tasks, outer)
        self.is_rescued = rescued
        if block.rescue:
            self._rescue(block)
        if block.always:
            text = "CHECK: the original also runs the following tasks after a failure (always)"
            self.manifest.items.append(Comment([text]))
            before = len(self.records)
            self.run(block.always, outer)
            for one in self.records[before:]:
                self.mark(
                    one,
                    CHECK,
                    "it is in an always section, which the original also runs after a failure",
                )

    def _rescue(self, block: Block) -> None:
        tasks = flat(block.rescue)
        if all(one.module in ("fail", "debug", "meta") for one in tasks):
            self._rescue_by_messages(tasks)
            return
        for one in tasks:
            record = self.record(one)
            self.mark(record, KEPT, "rescue: ccm cannot react to a failure")
        text = "NOT CONVERTED: rescue: ccm cannot react to a failure"
        first, last = block.rescue_lines
        self.manifest.items.append(Comment([text, *self.original(block.path, first, last)]))

    def _rescue_by_messages(self, tasks: list[Task]) -> None:
        reason = "not needed: ccm ends the run after a failure and shows it"
        fails = any(one.module == "fail" and "when" not in one.keywords for one in tasks)
        if not fails:
            reason = "the original continues after a failure; here, a failure ends the run"
        for one in tasks:
            self.mark(self.record(one), CONVERTED if fails else CHECK, reason)
        self.manifest.items.append(Comment([f"{'rescue' if fails else 'CHECK'}: {reason}"]))

    # --- one task

    def task(self, task: Task) -> None:
        """Convert one task, or keep it as a comment with the reason."""
        record = self.record(task)
        before = len(self.manifest.items)
        try:
            if task.problem:
                raise NotConvertible(task.problem)
            if self._never(task):
                self.report(task, record, "the condition is never true on a host that ccm manages")
                return
            keywords.refuse(task, self.is_root)
            statement = STATEMENTS.get(task.module)
            if statement is not None:
                statement(self, task, record)
                self._note_once(task, record)
            else:
                self._resources(task, record)
        except NotConvertible as error:
            del self.manifest.items[before:]
            self.keep(task, record, error.reason)

    def _never(self, task: Task) -> bool:
        """Whether a condition of a task is false on every host that ccm can manage."""
        scope = self.scope_of(task)
        for one in listed(task.keywords.get("when")):
            uncertainties = len(scope.uses.uncertainties)
            try:
                if text_rewriter.condition(one, scope) == "false":
                    return True
            except NotConvertible:
                continue
            finally:
                del scope.uses.uncertainties[uncertainties:]
        return False

    def _note_once(self, task: Task, record: Record) -> None:
        """Mark facts that the original determines once for all hosts."""
        if task.is_once and task.module in _FOUND_OUT:
            text = "each host determines this itself; the original does it once for all hosts"
            self.comment(record, text)

    def keep(self, task: Task, record: Record, reason: str) -> None:
        """Leave a task as a comment."""
        self.mark(record, KEPT, reason)
        if task.module not in _ONLY_READ and not registered_results.is_reading(self, task):
            self.has_gap = True
        lines = [f"NOT CONVERTED: {reason}", *self.original(task.path, task.line, task.end)]
        self.manifest.items.append(Comment(lines))
        for fact in task.args if task.module == "set_fact" else ():
            included_vars.note_unset(self, task, fact)
        if task.module == "include_vars":
            included_vars.note_broken(self, task)
        name = task.keywords.get("register")
        if name:
            unread = f"it uses the result of '{task.name or task.module}', which is not converted"
            self.scope.registers[str(name)] = Register(str(name), "other", task.name, reason=unread)

    def _resources(self, task: Task, record: Record) -> None:
        if registered_results.is_reading(self, task):
            registered_results.note_reading(self, task, record)
            if task.is_once:
                self._note_once(replace(task, module="stat"), record)
            return
        entries = self.convert(task, record)
        self.place(task, record, entries)

    def place(self, task: Task, record: Record, entries: list[Entry]) -> None:
        """Append resources with the comments and subscriptions that belong to them."""
        self.placed += len(entries)
        if entries and self.placed > _MAX_RESOURCES:
            raise NotConvertible(f"the manifest would have more than {_MAX_RESOURCES:,} resources")
        if entries and task.name:
            entries[0].comments.insert(0, task.name)
        elif not entries and record.outcome != KEPT:
            lines = [*([task.name] if task.name else []), *record.reasons]
            self.manifest.items.append(Comment(lines or [f"{task.module}: nothing to do"]))
        for entry in entries:
            entry.record = record
            self._name_by_place(entry)
        self.manifest.items += entries
        registered_results.note_change(self, task, entries)
        handlers.notify(self, task, record, entries)

    def _name_by_place(self, entry: Entry) -> None:
        """Give a package of Python or Node.js its own name where an earlier package has it."""
        if entry.type != "package" or entry.foreach or "provider" not in entry.properties:
            return
        taken = [one for one in self.manifest.entries() if one.type == "package"]
        if any(one.name == entry.name and _place(one) != _place(entry) for one in taken):
            entry.properties["package"] = entry.name
            entry.name = numbered(
                f"{entry.name}-in-{slug(_place(entry))}", {one.name for one in taken}
            )

    def convert(self, task: Task, record: Record) -> list[Entry]:
        """The resources of one task with conditions and loops, not yet in the manifest."""
        try:
            return self._converted(task, record)
        except TemplateArgument as error:
            is_state = error.argument == "state"
            variants = by_state(task, self.scope, self.files) if is_state else []
            if not variants:
                raise
            return [one for each in variants for one in self._converted(each, record)]

    def _converted(self, task: Task, record: Record) -> list[Entry]:
        scope = self.scope.having(task_vars={**self.scope.task_vars, **task.variables})
        register = registered_results.loop_of_results(self, task)
        if register is not None:
            return self._over_results(task, record, scope, register)
        if task.loop is not None and task.loop[0].endswith("first_found"):
            return self._first_found(task, record, scope)
        loop = read_loop(task, scope, self.files)
        if loop is None:
            return self._alternatives(task, record, scope)
        if loop.elements is not None:
            return self._written_out(task, record, scope, loop)
        sample = {loop.variable: loop.sample}
        inner = scope.having(renames={**scope.renames}).with_locals({"item": loop.sample})
        if loop.variable != "item":
            inner = inner.with_locals(sample)
            inner.renames[loop.variable] = "item"
        if loop.index:
            inner.renames[loop.index] = "index"
        return self._choices(task, record, scope=inner, loop=loop)

    def _first_found(self, task: Task, record: Record, scope: Scope) -> list[Entry]:
        """The resources of a task that uses the first existing file; facts may decide which one."""
        folder = "templates" if task.module == "template" else "files"
        found: list[Entry] = []
        for name, conditions in included_vars.first_files(self, task, folder):
            when = [*listed(task.keywords.get("when")), *conditions]
            inner = scope.having(task_vars={**scope.task_vars, "item": name})
            found += self._variant(
                task.with_keywords(when=when), record, scope=inner, loop=None, omits={},
                extra={"item": name},
            )  # fmt: skip
        return found

    def _over_results(
        self, task: Task, record: Record, scope: Scope, register: Register
    ) -> list[Entry]:
        """Return the resources of a task that iterates over the result of a reading task."""
        scopes = registered_results.result_scopes(task, register, scope)
        if isinstance(scopes, list):
            found: list[Entry] = []
            for one in scopes:
                found += self._variant(task, record, scope=one, loop=None, omits={})
            return found
        return self._choices(task, record, scope=scopes, loop=register.loop)

    def _written_out(self, task: Task, record: Record, scope: Scope, loop: Loop) -> list[Entry]:
        assert loop.elements is not None
        found: list[Entry] = []
        for index, element in enumerate(loop.elements):
            extra = {loop.variable: element, **({loop.index: index} if loop.index else {})}
            inner = scope.having(task_vars={**scope.task_vars, **extra})
            found += self._variant(task, record, scope=inner, loop=None, omits={}, extra=extra)
        return found

    def _alternatives(self, task: Task, record: Record, scope: Scope) -> list[Entry]:
        """The resources of a task that omits properties unless a variable has a key."""
        cases = Cases()
        found = self._by_variable(task, record, scope=scope, omits={}, cases=cases)
        if cases.is_pruned:
            tests = [text_rewriter.condition(one, scope) for one in cases.tests()]
            self._refuse_others(task, record, " or ".join(f"({one})" for one in tests), found)
        return found

    def _by_variable(
        self, task: Task, record: Record, *, scope: Scope, omits: dict[str, bool], cases: Cases
    ) -> list[Entry]:
        try:
            entries = self._variant(task, record, scope=scope, loop=None, omits=omits)
        except OmitChoice as choice:
            if not cases.root and not choice.key.startswith(CONDITION):
                cases.root = choice.key.split(".")[0]
                known = scope.values.get(cases.root, [])
                cases.elements = known if all(isinstance(one, dict) for one in known) else []
            if len(omits) == _MAX_OMITTED and not cases.elements:
                raise NotConvertible("a task that omits many properties") from choice
            return [
                entry
                for has in cases.branches(omits, choice.key)
                for entry in self._by_variable(
                    task, record, scope=scope, omits={**omits, choice.key: has}, cases=cases
                )
            ]
        cases.add(omits)
        tests = [
            text_rewriter.condition(choice_test(key, has), scope) for key, has in omits.items()
        ]
        for entry in entries if tests else ():
            if entry.foreach:
                raise NotConvertible("a list that omits properties")
            entry.foreach = chosen(text_expression(entry.name), tests)
            entry.name = "{{ item }}"
        return entries

    def _refuse_others(self, task: Task, record: Record, that: str, found: list[Entry]) -> None:
        """Refuse combinations of keys without a resource."""
        message = (
            f"'{task.name or task.module}' has no resource for an element with such keys; "
            "convert the project again"
        )
        self.manifest.assertions.append(
            {"that": that, "message": text_rewriter.plain_text(message)}
        )
        text = "ccm.assert refuses elements with keys that the project does not use"
        self.mark(record, CHECK, text)
        for one in found[:1]:
            one.checks.append(text)

    def _choices(self, task: Task, record: Record, *, scope: Scope, loop: Loop) -> list[Entry]:
        """Return the resources of a loop: one for each combination of omitted properties."""
        cases = cases_of(loop)
        found = self._branches(task, record, scope=scope, loop=loop, omits={}, cases=cases)
        if cases.is_pruned:
            self._refuse_others(task, record, known_elements(loop, cases), found)
        return found

    def _branches(
        self, task: Task, record: Record, *, scope: Scope, loop: Loop, omits: dict[str, bool],
        cases: Cases,
    ) -> list[Entry]:  # fmt: skip
        try:
            found = self._variant(task, record, scope=scope, loop=loop, omits=omits)
        except OmitChoice as choice:
            if not cases.elements and (
                sum(omits.values()) == _MAX_OMITTED or len(omits) >= _MAX_OMITTED
            ):
                if choice.key.startswith(CONDITION):
                    raise NotConvertible("a task that omits many properties") from choice
                return self._without(
                    task, record, scope=scope, loop=loop, omits=omits, key=choice.key, cases=cases
                )
            return [
                entry
                for has in cases.branches(omits, choice.key)
                for entry in self._branches(
                    task, record, scope=scope, loop=loop, omits={**omits, choice.key: has},
                    cases=cases,
                )
            ]  # fmt: skip
        cases.add(omits)
        return found

    def _without(
        self, task: Task, record: Record, *, scope: Scope, loop: Loop, omits: dict[str, bool],
        key: str, cases: Cases,
    ) -> list[Entry]:  # fmt: skip
        """The resources of a loop without a property that no element may have."""
        elements = operand(parse_expression(loop.foreach))
        that = f"({elements} | selectattr('{key}', 'defined') | list) == []"
        message = f"'{task.name or task.module}' has no resource for elements with {key}"
        if not any(
            isinstance(one, dict) and one["that"] == that for one in self.manifest.assertions
        ):
            self.manifest.assertions.append(
                {"that": that, "message": text_rewriter.plain_text(message)}
            )
        text = f"elements that have {key} are refused by ccm.assert; write their resource manually"
        self.mark(record, CHECK, text)
        found = self._branches(
            task, record, scope=scope, loop=loop, omits={**omits, key: False}, cases=cases
        )
        for one in found:
            if text not in one.checks:
                one.checks.append(text)
        return found

    def _variant(
        self,
        task: Task,
        record: Record,
        *,
        scope: Scope,
        loop: Loop | None,
        omits: dict[str, bool],
        extra: dict[str, Any] | None = None,
    ) -> list[Entry]:
        when = listed(task.keywords.get("when"))
        conditions = read_conditions(when, scope, self.manifest.entries())
        if conditions.never:
            self.mark(
                record, record.outcome, "the condition is never true on a host that ccm manages"
            )
            return []
        context = self._context(task, scope, loop, extra)
        context.on_found = loop is not None and "Asked." in self._expanded(loop.foreach)
        arguments = Arguments(keywords.arguments(task), scope, omits)
        mapper = MAPPERS.get(task.module)
        if mapper is None:
            raise NotConvertible(f"ccm has no equivalent of the module {task.full_module}")
        uncertainties = len(scope.uses.uncertainties)
        try:
            entries = mapper(context, arguments)
        except OmitChoice as choice:
            if loop is None and choice.in_loop:
                raise NotConvertible("default(omit) without a loop") from None
            raise
        arguments.finish()
        context.require_quoted(entries, self._is_answer)
        if loop is not None:
            loop.absent |= arguments.omissions.absent
            as_list = partial(self.as_list, task.name or task.module)
            known = {key: has for key, has in omits.items() if not key.startswith(CONDITION)}
            tests = [
                text_rewriter.condition(choice_test(key, has), scope)
                for key, has in omits.items()
                if key not in known
            ]
            loop_over(
                entries, loop, omits=known, tests=[*tests, *context.needed],
                conditions=conditions, as_list=as_list,
            )  # fmt: skip
        elif context.needed:
            for entry in entries:
                entry.foreach = chosen(text_expression(entry.name), context.needed)
                entry.name = "{{ item }}"
        more = [*arguments.checks, *conditions.checks, *scope.uses.uncertainties[uncertainties:]]
        context.checks[:] = dict.fromkeys([*context.checks, *more])
        self._finish(task, record, context=context, entries=entries, conditions=conditions)
        for note in arguments.notes:
            context.note(note)
        if entries:
            entries[0].comments += context.notes
        for note in context.notes:
            self.mark(record, record.outcome, note)
        self.cache_valid = context.requests.get("cache", self.cache_valid)
        return entries

    def _expanded(self, expression: str) -> str:
        """An expression together with the value of data that it names."""
        known = self.manifest.data.get(expression.removeprefix("Data."))
        return expression if known is None else f"{expression} {known.value}"

    def _is_answer(self, name: str) -> bool:
        """Whether data contains answers of the host, perhaps by a fact that a task sets."""
        seen, left = set[str](), {name}
        while left:
            one = left.pop()
            seen.add(one)
            datum = self.manifest.data.get(one)
            found = set(re.findall(r"\w+", repr([value for value, *_ in self.facts.get(one, ())])))
            if (datum and "Asked." in str(datum.value)) or found & self.scope.registers.keys():
                return True
            left |= (found & self.facts.keys()) - seen
        return False

    def _context(
        self, task: Task, scope: Scope, loop: Loop | None, extra: dict[str, Any] | None
    ) -> Context:
        context = Context(
            task, scope, self.files, self.unique, self.directories, looped=loop is not None
        )
        user = task.keywords.get("become_user")
        if user is not None:
            context.become_user = text_rewriter.text(str(user), scope)
        arguments = {**self.environment, **(keywords.environment(task) or {})}
        computed = arguments.pop(keywords.TEMPLATE, None)
        if computed is not None and not _is_empty(computed, scope):
            context.environment_map = expression_of(computed, scope)
        elif empty := {
            key: one for key, one in arguments.items() if keywords.may_be_empty(one, scope)
        }:
            context.environment_map = expression_of(empty, scope)
            arguments = {key: one for key, one in arguments.items() if key not in empty}
            context.note("an empty environment variable is not set")
        context.environment = [
            f"{key}={text}"
            for key, one in arguments.items()
            if (text := Arguments({key: one}, scope, {}).text(key)) is not None
        ]
        context.cache_valid = self.cache_valid
        words = {**task.variables, **(extra or {}), **self.scope.task_vars}
        for name, value in words.items():
            if not (isinstance(value, str) and value.startswith("$ANSIBLE_VAULT")):
                try:
                    context.template_variables[name] = expression_of(
                        value, scope.having(task_vars={k: v for k, v in words.items() if k != name})
                    )
                except NotConvertible as error:
                    context.template_problems[name] = error.reason
        for name, new in self.scope.renames.items():
            if new.startswith("Data."):
                context.template_variables.setdefault(name, new)
        if loop is not None and loop.variable != "item":
            context.template_variables[loop.variable] = "item"
        if loop is not None and loop.index:
            context.template_variables[loop.index] = "index"
        return context

    def _finish(
        self,
        task: Task,
        record: Record,
        *,
        context: Context,
        entries: list[Entry],
        conditions: Conditions,
    ) -> None:
        keywords.apply(task, context, entries)
        tests = [
            self.as_data("is", task.name or task.module, one) for one in conditions.expressions
        ]
        for entry in entries:
            entry.conditions = [*tests, *entry.conditions]
            entry.control.update(conditions.control)
            if conditions.on_change:
                handlers.fire(entry, conditions.subscribe)
            elif conditions.either:
                handlers.fire_or(entry, conditions.subscribe, conditions.either)
            entry.checks += context.checks
        for text in [*context.checks, *(one for entry in entries for one in entry.checks)]:
            self.mark(record, CHECK, text)

    # --- handlers

    def flush(self) -> None:
        """Append the resources of the pending handlers."""
        handlers.flush(self)


def _place(entry: Entry) -> str:
    """Where a package of Python or Node.js is installed."""
    names = ("environment", "path", "provider")
    return next((str(entry.properties[name]) for name in names if name in entry.properties), "")


def _is_empty(value: Any, scope: Scope) -> bool:
    """Whether a template is an empty map wherever the project sets it."""
    known = resolve(value, scope)
    return bool(known.values) and not (known.open or known.kinds) and not any(known.values)


load_mappers()
