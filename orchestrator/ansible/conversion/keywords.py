"""Converts the keywords of tasks (controller)."""

import re
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.possible_values import resolve
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import literal
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.modules.commands import single_quoted
from orchestrator.ansible.modules.mapping_context import Context
from orchestrator.ansible.modules.module_arguments import number_or_text
from orchestrator.ansible.modules.shell_tests import opposite, tested
from orchestrator.ansible.output.manifest_entries import Entry, list_of
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import LOCAL, Task, listed

_RETRIED = ("exec", "download", "archive", "package")


_ANYWHERE = ("assert", "fail", "debug", "include_tasks", "import_tasks", "include", "setup",
             "set_fact")  # fmt: skip
"""Modules that manage nothing: on which host and how often they run makes no difference. The tasks
of an included file have the keywords of the include.
"""


_ON_HOST = ("get_url", "unarchive", "uri", "file")
"""Modules that a host can run instead of the controller: they fetch public files or prepare a
directory for them.
"""


def refuse(task: Task, is_root: bool) -> None:
    """NotConvertible if a keyword has no equivalent."""
    words = task.keywords
    anywhere = task.module in _ANYWHERE and not words.get("register")
    local = task.is_local and task.module in _ON_HOST and not _of_controller(task)
    elsewhere = words.get("delegate_to")
    own = _host_of(elsewhere) is not None and (task.is_once or _host_of(elsewhere) == "")
    if elsewhere is not None and not (local or own or (anywhere and task.is_local)):
        reason = " without run_once: it would run once for each host, which ccm does not do"
        named = _host_of(elsewhere) is not None or task.is_local or is_template(elsewhere)
        raise NotConvertible(
            f"delegate_to: {elsewhere}{reason if named and not task.is_once else ''}"
        )
    if words.get("delegate_facts") and not anywhere:
        raise NotConvertible("ccm has no equivalent of delegate_facts")
    if task.is_once and task.module in ("include_role", "import_role", "include_vars", "meta"):
        raise NotConvertible(f"run_once of {task.module}")
    for word in ("connection", "remote_user", "port", "become_method", "debugger"):
        if words.get(word) is not None and words[word] != "sudo" and not local:
            raise NotConvertible(f"ccm has no equivalent of the keyword {word}")
    if str(words.get("poll", "")) == "0":
        raise NotConvertible("ccm does not run commands in the background (poll: 0)")
    if text_rewriter.as_bool(words.get("become")) is False and is_root and not (anywhere or local):
        raise NotConvertible("become: false, while the host is managed as root")
    if "never" in [
        str(one).strip() for tag in listed(words.get("tags")) for one in str(tag).split(",")
    ]:
        raise NotConvertible("the tag never: ccm runs everything unless --tags excludes it")


_FIRST = re.compile(
    r"\{\{\s*groups(?:\[(['\"])([\w.-]+)\1\]|\.(\w+))\s*(?:\[(\d+)\]|\|\s*first)\s*\}\}"
)


_NAME = re.compile(r"[\w][\w.-]*")


def _host_of(value: Any) -> str | None:
    """The host of a delegation as an expression: "" for the host itself, None for other values."""
    text = str(value or "").strip()
    if _NAME.fullmatch(text) and text not in LOCAL:
        return literal(text)
    if re.fullmatch(r"\{\{\s*inventory_hostname\s*\}\}", text):
        return ""
    match = _FIRST.fullmatch(text)
    if match is None:
        return None
    return f"Groups[{literal(match.group(2) or match.group(3))}][{match.group(4) or 0}]"


def _of_controller(task: Task) -> bool:
    """Whether a task that runs on the controller reads or removes one of the controller's files."""
    if task.module == "file":
        return task.args.get("state") != "directory"
    return task.module == "uri" and str(task.args.get("method", "GET")).upper() != "GET"


def environment(task: Task) -> dict[str, Any] | None:
    """The environment of the task; its ``TEMPLATE`` is a template whose result is a map."""
    found = task.keywords.get("environment")
    return None if found is None or found == {} else environment_of(found)


def environment_of(value: Any) -> dict[str, Any]:
    """The value of a keyword ``environment``. NotConvertible if it is a string."""
    result: dict[str, Any] = {}
    for one in listed(value):
        if isinstance(one, dict):
            result.update(one)
        elif is_template(one):
            result[TEMPLATE] = one
        else:
            raise NotConvertible("environment is text")
    return result


def may_be_empty(value: Any, scope: Scope) -> bool:
    """Whether a variable of the environment may be empty, which ccm cannot pass on."""
    return "" in resolve(value, scope).values


TEMPLATE = "*"
"""The environment key of a map that a template returns."""


def arguments(task: Task) -> dict[str, Any]:
    """The arguments of the task with the defaults from ``module_defaults``."""
    defaults = task.keywords.get("module_defaults")
    found: dict[str, Any] = {}
    for one in listed(defaults):
        if not isinstance(one, dict):
            raise NotConvertible("module_defaults is a template")
        for name in (task.module, f"ansible.builtin.{task.module}", task.full_module):
            found.update(one.get(name) or {})
    return {**found, **task.args}


def apply(task: Task, context: Context, entries: list[Entry]) -> None:
    """Apply the keywords of a task to its resources."""
    words = task.keywords
    tags = [part.strip() for one in listed(words.get("tags")) for part in str(one).split(",")]
    for entry in entries:
        entry.tags += [one for one in tags if one and one != "always"]
        if words.get("no_log") is not None and text_rewriter.as_bool(words["no_log"]) is not False:
            entry.sensitive = True
    _environment(task, context, entries)
    _failures(task, context, entries)
    _changes(task, context, entries)
    _tries(task, context, entries)
    if task.is_local:
        context.check("each host does this for itself; in the original, the controller does it")
    elif task.is_once and _host_of(words.get("delegate_to")):
        context.check(
            "only for this host: the original delegates this to it once, with the values of the "
            "first host of the play; if the site does not manage this host, nothing runs"
        )
        for entry in entries:
            entry.conditions.append(f"Host.name == {_host_of(words['delegate_to'])}")
    elif task.is_once:
        context.check(
            "only for the first host in the inventory, because the original runs this once"
        )
        for entry in entries:
            entry.conditions.append("Host.name == Groups.all[0]")
    seconds = words.get("timeout")
    for entry in entries if isinstance(seconds, int) and seconds else []:
        if entry.type == "exec":
            entry.properties["timeout"] = f"{seconds}s"
    if context.become_user not in (None, "root"):
        _user(task, context, entries)


def _environment(task: Task, context: Context, entries: list[Entry]) -> None:
    own = task.keywords.get("environment") not in (None, {})
    for entry in entries if context.environment and own else ():
        if entry.type == "exec":
            known = entry.properties.get("environment", [])
            entry.properties["environment"] = list(dict.fromkeys([*context.environment, *known]))
        else:
            context.check("the environment of the task is not passed on")
    _computed_environment(context, entries)


def _computed_environment(context: Context, entries: list[Entry]) -> None:
    if not context.environment_map:
        return
    pairs = f"({context.environment_map}).items()"
    some = ["value | string != ''"]
    expression = list_of("(name ~ '=' ~ value)", pairs, some, name="name, value")
    for entry in entries:
        if entry.type != "exec":
            text = "the environment of the task is not passed on"
            if text not in entry.checks:
                context.check(text)
            continue
        known = entry.properties.get("environment")
        if isinstance(known, list) and known:
            shown = ", ".join(text_expression(one) for one in known)
            entry.properties["environment"] = "{{ " + f"[{shown}] + ({expression})" + " }}"
        else:
            entry.properties["environment"] = "{{ " + expression + " }}"


def _user(task: Task, context: Context, entries: list[Entry]) -> None:
    for entry in entries:
        if entry.type == "exec":
            entry.properties.setdefault("user", context.become_user)
        elif entry.type in ("git", "file", "download") or _is_in_directory(entry):
            entry.properties.setdefault("owner", context.become_user)
        elif entry.type not in ("wait", "link"):
            raise NotConvertible(f"become_user for the module {task.module}")


def _is_in_directory(entry: Entry) -> bool:
    """Whether it is a package in an environment of Python or a directory of Node.js."""
    return entry.type == "package" and bool({"environment", "path"} & set(entry.properties))


def _failures(task: Task, context: Context, entries: list[Entry]) -> None:
    failed, ignored = task.keywords.get("failed_when"), task.keywords.get("ignore_errors")
    tolerant = text_rewriter.as_bool(failed) is False
    if re.fullmatch(rf"{task.keywords.get('register')} is (?:failed|failure)", str(failed)):
        failed = None  # as without it
    if ignored is not None and "ansible_check_mode" in str(ignored):
        ignored = None  # only a preview of the original ignores them
    if ignored is not None and text_rewriter.as_bool(ignored) is not False:
        if is_template(ignored):
            context.check(f"the original ignores failures if {ignored}")
        else:
            tolerant = True
    elif failed is not None and not tolerant:
        codes = exit_codes(failed, str(task.keywords.get("register", "")))
        if any(one.type != "exec" for one in entries):
            raise NotConvertible(f"failed_when: {shown(failed)}")
        for entry in entries:
            if codes is not None:
                entry.properties["returns"] = codes
            else:
                _tested(task, context, entry=entry, condition=opposite(failed), word="failed_when")
    if tolerant:
        _tolerate(context, entries)


def _tolerate(context: Context, entries: list[Entry]) -> None:
    """Let the run continue if resources fail, as far as that is possible."""
    for entry in entries:
        if entry.type == "exec" and "interpreter" not in entry.properties:
            _never_fails(entry)
        elif _only_stops(entry) and "command" not in entry.control:
            entry.control["command"] = f"systemctl cat {entry.name}"
            context.note("only if the service exists; the original ignores a missing service")
        else:
            context.check("the original continues if this fails; here, a failure ends the run")


def _only_stops(entry: Entry) -> bool:
    """Whether a resource only stops or disables a service, which may be missing."""
    own = {name: one for name, one in entry.properties.items() if name != "masked"}
    return entry.type == "service" and own in (
        {"ensure": "stopped", "enable": False},
        {"ensure": "stopped"},
        {"enable": False},
    )


def _tested(task: Task, context: Context, *, entry: Entry, condition: Any, word: str) -> None:
    """Make a command fail unless a condition on its result is true. NotConvertible."""
    properties = entry.properties
    shell = properties.get("provider") == "shell" or "interpreter" in properties
    register = str(task.keywords.get("register", ""))
    try:
        script = tested(str(properties["command"]), condition, shell=shell,
                        register=register, scope=context.scope)  # fmt: skip
    except NotConvertible as error:
        raise NotConvertible(f"{word}: {shown(task.keywords[word])} ({error.reason})") from error
    properties["command"] = script
    if "interpreter" not in properties:
        properties["provider"] = "shell"
    if "2>&1" in script:
        context.note("standard error of the command counts as its output")


def _never_fails(entry: Entry) -> None:
    line = str(entry.properties["command"])
    if entry.properties.get("provider") == "shell":
        entry.properties["command"] = (
            f"({line}) || true" if "\n" not in line else f"(\n{line.rstrip()}\n) || true"
        )
        return
    entry.properties["command"] = f"sh -c {single_quoted(line + ' || true')}"


def exit_codes(condition: Any, register: str) -> list[int] | None:
    """The exit codes that are not failures; None for other conditions."""
    parts = [str(one) for one in listed(condition)]
    text = " and ".join(parts).strip()
    name = re.escape(register)
    match = re.fullmatch(rf"{name}\.rc not in \[([\d, ]+)\]", text)
    if match:
        return [int(one) for one in match.group(1).split(",") if one.strip()]
    match = re.fullmatch(rf"{name}\.rc > (\d+)", text)
    if match:
        return list(range(int(match.group(1)) + 1))
    found = re.findall(rf"{name}\.rc != (\d+)", text)
    if found and re.fullmatch(rf"(?:{name}\.rc != \d+)(?: and {name}\.rc != \d+)*", text):
        return [int(one) for one in found]
    return None


def _changes(task: Task, context: Context, entries: list[Entry]) -> None:
    changed = task.keywords.get("changed_when")
    if changed is None or text_rewriter.as_bool(changed) is True:
        return
    if text_rewriter.as_bool(changed) is False:
        if any(one.type == "exec" for one in entries):
            context.note("ccm counts each run of the command as a change")
        return
    used = task.keywords.get("notify") is not None or task.keywords.get("register") is not None
    text = f"the original counts it as a change only if {shown(changed)}"
    if task.keywords.get("notify") is not None:
        context.check(text)
    elif used:
        context.note(text)


def shown(value: Any) -> str:
    """The conditions of a keyword on one line."""
    return " and ".join(" ".join(str(one).split()) for one in listed(value))


def _tries(task: Task, context: Context, entries: list[Entry]) -> None:
    words = task.keywords
    if words.get("until") is None and words.get("retries") is None:
        return
    if task.module == "uri":
        return  # a condition to wait for has its own times
    register = str(words.get("register", ""))
    wanted = shown(words.get("until"))
    plain = (
        f"{register} is succeeded", f"{register} is success", f"{register}.rc == 0",
        f"{register} is not failed", f"not {register}.failed", f"not {register} is failed",
        f"{register} is successful", f"{register}.failed == false", f"{register} is not failure",
        f"{register} | success", f"{register}|success", f"{register}.rc==0",
    )  # fmt: skip
    if words.get("until") is not None and wanted not in plain:
        if task.module in ("get_url", "unarchive", "git", "pip", "package", "apt", "yum", "dnf"):
            context.check(f"it is retried until it succeeds; the original retries until {wanted}")
        elif any(one.type != "exec" for one in entries):
            raise NotConvertible(f"until: {wanted}")
        else:
            for entry in entries:
                _tested(task, context, entry=entry, condition=words["until"], word="until")
    retries, delay = words.get("retries", 3), words.get("delay", 5)
    for entry in entries:
        if entry.type not in _RETRIED:
            context.check("the original retries if this fails")
            continue
        entry.properties["tries"] = _number(retries, context, 1)
        entry.properties["try_sleep"] = f"{_number(delay, context, 0)}s"
    if any(one.type == "package" for one in entries):
        context.note("only downloads are retried")


def _number(value: Any, context: Context, more: int) -> Any:
    number = number_or_text(value) if isinstance(value, str) else value
    if isinstance(number, int):
        return number + more
    text = text_rewriter.text(str(value), context.scope)
    if more and text.startswith("{{"):
        return "{{ " + f"({text[2:-2].strip()}) | int + {more}" + " }}"
    return text
