"""Tasks that manage nothing themselves: includes, facts, assertions, messages (controller)."""

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.conversion import (
    included_vars,
    keywords,
    reassigned_facts,
    registered_results,
    role_calls,
)
from orchestrator.ansible.conversion.conditions import read_conditions
from orchestrator.ansible.conversion.loops import element_scope, read_loop
from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.conversion.role_calls import include_file
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import (
    in_role,
    is_template,
    only_expression,
    parse_expression,
    path_of,
)
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.modules.module_arguments import expression_of
from orchestrator.ansible.modules.shell_tests import opposite
from orchestrator.ansible.output.manifest_entries import (
    CHECK,
    Comment,
    Record,
    both,
    grouped,
    needs_parentheses,
    slug,
)
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task, inherit, listed

Statement = Callable[[Conversion, Task, Record], None]

_MAX_NESTING = 12


def debug(builder: Conversion, task: Task, record: Record) -> None:
    """``debug``: a message changes nothing."""
    builder.report(task, record, "debug: ccm prints no messages between resources")


def setup(builder: Conversion, task: Task, record: Record) -> None:
    """``setup``: ccm always gathers facts."""
    builder.report(task, record, "not needed: ccm always gathers facts")


def meta(builder: Conversion, task: Task, record: Record) -> None:
    """``meta``: handlers at this point."""
    words = str(task.args.get("_raw_params") or task.free_form or "").split()
    words = words or [str(one) for one in task.args.values()]
    action = words[0] if words else str(task.args)
    if action == "flush_handlers":
        if listed(task.keywords.get("when")) and builder.pending:
            text = (
                "the original runs its handlers here only under a condition, otherwise at the end"
            )
            builder.comment(record, text)
        builder.flush()
    elif action == "reset_connection":
        builder.report(task, record, "not needed: each resource sees the groups of its user")
    elif action in ("end_host", "end_play", "end_role", "end_batch"):
        _end(builder, task, record, action)
    elif action not in ("noop", "clear_host_errors", "refresh_inventory", "clear_facts"):
        raise NotConvertible(f"ccm has no equivalent of meta: {action}")


def _end(builder: Conversion, task: Task, record: Record, action: str) -> None:
    """``meta: end_host``: the opposite condition applies to everything after it."""
    when = [one for one in listed(task.keywords.get("when")) if one is not True]
    scope = builder.scope_of(task)
    if not when:
        raise NotConvertible(f"ccm has no equivalent of meta: {action} without a condition")
    for one in when:
        text_rewriter.condition(one, scope)
    if task.variables:
        raise NotConvertible(f"ccm has no equivalent of meta: {action} with vars")
    builder.ended.append(opposite(when))
    text = "a condition for everything that follows"
    if action != "end_role":
        text += ", except later roles and handlers"
        builder.mark(record, CHECK, text)
        text = f"CHECK: {text}"
    builder.manifest.items.append(Comment([*([task.name] if task.name else []), text]))


def assertion(builder: Conversion, task: Task, record: Record) -> None:
    """``assert``: conditions that must be met before the first change."""
    variables = dict(keywords.arguments(task))
    scope = builder.scope_of(task)
    if task.loop is not None:
        _looped_assertion(builder, task, scope, variables)
        builder.report(task, record, "checked by ccm.assert, before the first change")
        return
    uncertainties = len(scope.uses.uncertainties)
    when = _expressions(builder, task, scope)
    message = variables.pop("fail_msg", None) or variables.pop("msg", None) or task.name
    if isinstance(message, list):
        message = " ".join(str(one) for one in message)
    for name in ("success_msg", "quiet"):
        variables.pop(name, None)
    that = listed(variables.pop("that", None))
    if variables or not that:
        raise NotConvertible("assert with other parameters")
    written = _message(message or "the assertion is false", scope)
    made = []
    for one in that:
        condition = text_rewriter.condition(one, scope)
        if when:
            condition = f"not ({both(when)}) or {_group(condition)}"
        made.append({"that": condition, "message": written})
    builder.manifest.assertions += made
    builder.report(task, record, "checked by ccm.assert, before the first change")
    _uncertain(builder, record, scope.uses.uncertainties[uncertainties:])
    if _is_tolerant(task):
        text = "the original continues if this is false; here, the host is refused"
        _uncertain(builder, record, [text])


def _is_tolerant(task: Task) -> bool:
    variables = task.keywords.get("ignore_errors")
    return variables is not None and text_rewriter.as_bool(variables) is not False


def _uncertain(builder: Conversion, record: Record, uncertainties: list[str]) -> None:
    for text in dict.fromkeys(uncertainties):
        builder.comment(record, text)


def _looped_assertion(
    builder: Conversion, task: Task, scope: Any, arguments: dict[str, Any]
) -> None:
    """An assertion about each element of a list: no element may violate it."""
    loop = read_loop(task, scope, builder.files)
    that = [one for one in listed(arguments.get("that")) if one is not True]
    if loop is None or not that or loop.index:
        raise NotConvertible("an assertion in this kind of loop")
    if loop.elements is not None:
        loop.foreach = expression_of(loop.elements, scope)
    inner = element_scope(scope, loop)
    expected = both([text_rewriter.condition(one, inner) for one in that])
    when = _expressions(builder, task, inner)
    failing = both([*when, f"not ({expected})"])
    body = f"{{% for item in {grouped(loop.foreach)} if {failing} %}}x{{% endfor %}}"
    message = text_rewriter.plain_text(task.name.replace("{{", "(").replace("}}", ")"))
    builder.manifest.assertions.append(
        {
            "that": f"template({literal(body)}) == ''",
            "message": message or "the condition is true for each item",
        }
    )


def _group(condition: str) -> str:
    return f"({condition})" if needs_parentheses(condition) else condition


def _message(message: Any, scope: Any) -> str:
    try:
        return text_rewriter.text(str(message), scope)
    except NotConvertible:
        return text_rewriter.plain_text(str(message).replace("{{", "(").replace("}}", ")"))


def _expressions(builder: Conversion, task: Task, scope: Any) -> list[str]:
    """Return the conditions of an assertion, with the host's answers before the first change."""
    found: list[str] = []
    for one in listed(task.keywords.get("when")):
        parts = read_conditions([one], scope, builder.manifest.entries())
        if parts.on_change:
            raise NotConvertible("an assertion about results of earlier tasks")
        if parts.never:
            return ["false"]
        found += [text_rewriter.condition(one, scope)] if parts.control else parts.expressions
    return found


def fail(builder: Conversion, task: Task, record: Record) -> None:
    """``fail``: an assertion of the opposite condition."""
    if task.loop is not None:
        when = [str(one) for one in listed(task.keywords.get("when")) if one is not True]
        if not when:
            raise NotConvertible("fail in a loop")
        plain, variables = task.with_keywords(when=None), {"that": [opposite(when)]}
        _looped_assertion(builder, plain, builder.scope_of(task), variables)
        builder.report(task, record, "checked by ccm.assert, before the first change")
        return
    scope = builder.scope_of(task)
    uncertainties = len(scope.uses.uncertainties)
    when = _expressions(builder, task, scope)
    if when == ["false"]:
        builder.report(task, record, "the condition is never true on a host that ccm manages")
        return
    message = task.args.get("msg") or task.name or "the original fails here"
    that = f"not ({both(when)})" if when else "false"
    if len(when) == 1:
        that = unparse(nodes.Not(parse_expression(when[0])))
    builder.manifest.assertions.append({"that": that, "message": _message(message, scope)})
    builder.report(task, record, "checked by ccm.assert, before the first change")
    _uncertain(builder, record, scope.uses.uncertainties[uncertainties:])


def set_fact(builder: Conversion, task: Task, record: Record) -> None:
    """``set_fact``: data that reads data."""
    given = {key: one for key, one in task.args.items() if key != "cacheable"}
    if not given:
        raise NotConvertible("set_fact without a name")
    if any(is_template(name) for name in given):
        included_vars.set_each(builder, task, record)
        return
    plain_task = reassigned_facts.of_empty_default(builder, task, list(given))
    needed = any(
        reassigned_facts.is_needed(builder, task, name, one) for name, one in given.items()
    )
    if needed and plain_task is task:
        reassigned_facts.set_versions(builder, task, record, given)
        builder.report(task, record, f"in data: {', '.join(given)}")
        return
    task = plain_task
    variables = {**builder.scope.task_vars, **task.variables}
    given = _convertible(builder, task, record=record, given=given, variables=variables)
    for name, value in given.items():
        when = listed(task.keywords.get("when"))
        plain = included_vars.own_default(name, value)
        if plain is not value:
            when = [*when, f"{name} is not defined"]
        now = reassigned_facts.names_now(builder, task, value)
        kept = task.with_keywords(vars={**now, **task.variables})
        builder.keep_fact(name, plain, when, kept)
    builder.report(task, record, f"in data: {', '.join(given)}")


def _convertible(
    builder: Conversion, task: Task, *, record: Record, given: dict[str, Any],
    variables: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The facts of a task that can be converted; the others are marked. NotConvertible if none
    can.
    """
    found: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name, value in given.items():
        try:
            included_vars.check_fact(builder, task, name=name, value=value, variables=variables)
            found[name] = value
        except NotConvertible as error:
            reasons[name] = error.reason
    if not found:
        raise NotConvertible(next(iter(reasons.values())))
    for name, reason in reasons.items():
        included_vars.note_unset(builder, task, name)
        _uncertain(builder, record, [f"{name} is not set: {reason}"])
    return found


def getent(builder: Conversion, task: Task, record: Record) -> None:
    """``getent``: a lookup of one entry, read as ``ansible_facts.getent_group``."""
    variables = {key: one for key, one in keywords.arguments(task).items() if key != "fail_key"}
    database, key = variables.pop("database", None), variables.pop("key", None)
    variables.pop("split", None)
    if variables or not isinstance(database, str) or task.loop is not None:
        raise NotConvertible("getent with other parameters, or in a loop")
    certain = builder.is_untouched
    if key is None and not is_template(database):
        builder.scope.uses.entries[database, "*"] = ("", certain)
        builder.report(task, record, "ccm looks up only the entries that the project uses")
        return
    if not isinstance(key, str):
        raise NotConvertible("getent of a list of entries")
    if is_template(database) or is_template(key):
        raise NotConvertible("getent of a computed entry")
    name = f"{database}_{slug(key).replace('-', '_')}"
    builder.scope.uses.entries[database, key] = (name, certain)
    builder.report(task, record, f"the answer is Asked.{name}")


def facts_of(builder: Conversion, task: Task, record: Record) -> None:
    """``service_facts`` and ``package_facts``: lookups of the names in the conditions."""
    kind = "services" if task.module == "service_facts" else "packages"
    builder.scope.uses.listed[kind] = builder.is_untouched
    builder.report(task, record, f"not needed: conditions query the {kind} that they name")


def include_tasks(builder: Conversion, task: Task, record: Record) -> None:
    """Convert the tasks of another file in place of the include."""
    name = _file_name(task)
    if len(builder.stack) > _MAX_NESTING:
        raise NotConvertible("task files that include each other")
    outer = {key: one for key, one in task.keywords.items() if key not in ("name", "register")}
    applied = task.args.get("apply")
    if isinstance(applied, dict):
        outer = inherit(applied, outer)
    if task.loop is not None and not task.loop[0].endswith("first_found"):
        role_calls.include_in_loop(builder, task, record=record, name=name, outer=outer)
        return
    if not is_template(name):
        include_file(builder, name, outer)
        return
    for file_name, conditions in _files_of(builder, task, name):
        merged = inherit({"when": conditions} if conditions else {}, outer)
        include_file(builder, file_name, merged)


def _files_of(builder: Conversion, task: Task, name: str) -> list[tuple[str, list[str]]]:
    """Return the files that a computed name can refer to, with conditions; NotConvertible."""
    if task.loop is not None:
        whole = only_expression(name) if is_template(name) else None
        if whole is None or path_of(whole) != ("item", []):
            raise NotConvertible("a part of a file name by first_found")
        return included_vars.first_files(builder, task, "tasks")
    try:
        return included_vars.candidates(builder, task, name, "tasks")
    except NotConvertible:
        return included_vars.by_value(builder, task, name, "tasks")


def _file_name(task: Task) -> str:
    if not isinstance(task.file, str) or not task.file:
        raise NotConvertible("the name of the task file is missing")
    return in_role(task.file)


def fetch(builder: Conversion, task: Task, record: Record) -> None:
    """``fetch``: a file for the controller; no host changes."""
    text = "a manifest cannot fetch files from hosts; use ccm fetch"
    builder.report(task, record, text)
    builder.mark(record, CHECK, text)


STATEMENTS: dict[str, Statement] = {
    "debug": debug,
    "setup": setup,
    "gather_facts": setup,
    "meta": meta,
    "assert": assertion,
    "fail": fail,
    "set_fact": set_fact,
    "include_tasks": include_tasks,
    "import_tasks": include_tasks,
    "include": include_tasks,
    "include_vars": included_vars.include_vars,
    "include_role": role_calls.include_role,
    "import_role": role_calls.include_role,
    "stat": registered_results.stat,
    "slurp": registered_results.slurp,
    "fetch": fetch,
    "getent": getent,
    "service_facts": facts_of,
    "package_facts": facts_of,
}
