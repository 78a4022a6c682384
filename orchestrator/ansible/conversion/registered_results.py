"""Results of ``register``: lookups for reads, resources for changes (controller)."""

import re
import shlex
from typing import Any

from jinja2.nodes import Name

from orchestrator.ansible.conversion import keywords
from orchestrator.ansible.conversion.loops import Loop, element_scope, read_loop
from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template, only_expression, path_of
from orchestrator.ansible.jinja.result_members import one_result
from orchestrator.ansible.jinja.scope import Register, Scope
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.modules.commands import command_properties, guard_of
from orchestrator.ansible.modules.find import found_files, search_of_all, temporary_path
from orchestrator.ansible.modules.mapping_context import Context
from orchestrator.ansible.modules.module_arguments import Arguments
from orchestrator.ansible.modules.shell_tests import opposite
from orchestrator.ansible.output.manifest_entries import CHECK, Entry, Record, both, numbered
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.read_only_commands import changes, only_reads
from orchestrator.ansible.source.tasks import Task, listed

COMMANDS = frozenset(["command", "shell", "raw"])


def uses_of(builder: Conversion, name: str) -> set[str]:
    """The members of a result that the role reads: ``rc``, ``stdout``, ``changed`` …"""
    return set(_members(name, builder.sources))


def _members(name: str, text: str) -> list[str]:
    found = re.findall(
        rf"\b{re.escape(name)}\b(?:\s*\|\s*(\w+)|\s+is\s+(?:not\s+)?(\w+)|\.(\w+)|"
        rf"\[['\"](\w+)['\"]\])",
        text,
    )
    return [next(word for word in one if word) for one in found]


def _judged(task: Task) -> str:
    """The ``failed_when`` of a task if it tests more than the exit code, else ""."""
    failed = task.keywords.get("failed_when")
    name = str(task.keywords.get("register", ""))
    if failed is None or text_rewriter.as_bool(failed) is not None:
        return ""
    if keywords.exit_codes(failed, name) is not None:
        return ""
    return " and ".join(" ".join(str(one).split()) for one in listed(failed))


def is_reading(builder: Conversion, task: Task) -> bool:
    """Whether a command with ``register`` is run only for its result."""
    if task.module == "uri":
        return _reads_page(builder, task)
    if task.module == "find":
        return bool(task.keywords.get("register"))
    if task.module not in COMMANDS or not task.keywords.get("register"):
        return False
    if task.keywords.get("until") is not None:
        return False
    name = str(task.keywords["register"])
    used = uses_of(builder, name)
    own = _members(name, _judged(task))
    if own and len(own) >= len(_members(name, builder.sources)):
        return False  # the task itself tests its result
    never = text_rewriter.as_bool(task.keywords.get("changed_when")) is False
    check = text_rewriter.as_bool(task.keywords.get("check_mode")) is False
    line = task.free_form or str(task.args.get("cmd", ""))
    if not used and never and only_reads(line):
        return True  # it has no effect; only its failure counts
    if not used - {"changed", "failed", "defined", "skipped", "change"} and "failed" not in used:
        return False
    if "creates" in task.args:
        return False
    return not changes(line) if never or check else only_reads(line)


def _reads_page(builder: Conversion, task: Task) -> bool:
    """Whether a request is made only for its response."""
    name = str(task.keywords.get("register") or "")
    until = " ".join(str(task.keywords.get("until", "")).split())
    plain = ("", f"{name}.status == 200", f"{name} is succeeded", f"{name} is not failed",
             f"{name} is success")  # fmt: skip
    return bool(name and uses_of(builder, name) & {"json", "content"} and until in plain)


class Question:
    """The lookups of a reading task, for each element of its loop. NotConvertible."""

    def __init__(self, builder: Conversion, task: Task) -> None:
        self.builder, self.task = builder, task
        self.unset: list[str] = []
        self.kind = {"stat": "stat", "uri": "uri", "find": "find"}.get(task.module, "command")

    def __call__(self, scope: Scope) -> dict[str, Any]:
        """The lookup."""
        arguments = Arguments(keywords.arguments(self.task), scope, {})
        found: dict[str, Any]
        if self.kind == "stat":
            found = {"stat": _stat_path(arguments)}
        elif self.kind == "uri":
            found = _page(arguments)
        elif self.kind == "find":
            found = {"command": found_files(arguments)}
        else:
            found = self._command(scope, arguments)
        arguments.finish()
        if _is_secret(self.task):
            found["sensitive"] = True
        if "Asked." in str(found):
            raise NotConvertible("a lookup that reads the answer of another one")
        return found

    def _command(self, scope: Scope, arguments: Arguments) -> dict[str, Any]:
        task = self.task
        context = Context(task, scope, self.builder.files, lambda text: text)
        user = task.keywords.get("become_user")
        if user is not None:
            context.become_user = text_rewriter.text(str(user), scope)
        variables = dict(keywords.environment(task) or {})
        if keywords.TEMPLATE in variables:
            raise NotConvertible("environment is a template")
        self.unset = [one for one in variables if keywords.may_be_empty(variables[one], scope)]
        context.environment = [
            f"{key}={text_rewriter.text(str(one), scope)}"
            for key, one in variables.items()
            if key not in self.unset
        ]
        return guard_of(command_properties(context, arguments))


def note_reading(builder: Conversion, task: Task, record: Record) -> None:
    """Record a task that only reads; readers of its result query the host. NotConvertible."""
    name = str(task.keywords["register"])
    scope = builder.scope_of(task)
    question = Question(builder, task)
    register = Register(
        name, question.kind, task.name or task.module,
        position=len(builder.manifest.entries()), certain=builder.is_untouched,
    )  # fmt: skip
    joined = search_of_all(task) if question.kind == "find" and task.loop else None
    if joined is not None:
        if re.search(r"\bitem(\.0|\[0\]|\.item)|\bmatched\b", builder.sources):
            raise NotConvertible("the results of find for each element of a list")
        register.kind, register.look_up = "found", Question(builder, joined)(scope)
    elif task.loop is not None:
        loop = read_loop(task, scope, builder.files)
        if loop is None or loop.index or question.kind == "uri":
            raise NotConvertible("a loop of this kind whose results are read")
        register.kind, register.loop, register.look_up_of = "loop", loop, question
        question(_element_scope(loop, scope))
    else:
        register.look_up = question(scope)
    _set(builder, name, register)
    _note(
        builder,
        task,
        record,
        "later resources that use the result read it as "
        f"Asked.{register.name} or test it in a condition",
    )
    for one in question.unset:
        builder.mark(record, CHECK, f"{one} may be empty, and is not set for the lookup")
    if question.kind == "command":
        _note_failure(builder, task, record)
    if question.kind == "uri":
        text = "curl reads the page before the first change; its status is 200 for success, or 0"
        builder.comment(record, text)


def _set(builder: Conversion, name: str, register: Register) -> None:
    """Set a result; its lookup gets its own name where an earlier result had this variable."""
    earlier = builder.scope.registers.get(name)
    if earlier is None or earlier.loop is not None or earlier.look_up != register.look_up:
        register.name = numbered(name, builder.answers | set(builder.scope.uses.asks), "{}_{}")
    else:
        register.name = earlier.name
    builder.answers.add(register.name)
    builder.scope.registers[name] = register


_SUCCEEDS = re.compile(r"(?:\|\||;)\s*(?:true|:|exit 0|echo\b[^|;&]*)\s*$")


def _note_failure(builder: Conversion, task: Task, record: Record) -> None:
    """A command that fails ends the original: an assertion before the first change, else a mark."""
    failed, ignored = task.keywords.get("failed_when"), task.keywords.get("ignore_errors")
    line = task.free_form or str(task.args.get("cmd", ""))
    if text_rewriter.as_bool(failed) is False or text_rewriter.as_bool(ignored) is True:
        return
    if failed is None and _SUCCEEDS.search(line):
        return
    name = str(task.keywords["register"])
    codes = [0] if failed is None else keywords.exit_codes(failed, name)
    works = opposite(failed) if codes is None else f"{name}.rc in {codes}"
    works = f"{name}.rc == 0" if codes == [0] else works
    if builder.is_untouched and not builder.is_rescued and task.loop is None and not ignored:
        try:
            that = _where_it_runs(builder, task, works)
            message = text_rewriter.plain_text(f"'{task.name or line}' fails")
            builder.manifest.assertions.append({"that": that, "message": message})
            return
        except NotConvertible:
            pass  # a mark instead
    shown = _judged(task) or ("the command does" if failed is None else keywords.shown(failed))
    text = f"the original fails if {shown}; here, the answer is only read"
    builder.comment(record, text)


def _where_it_runs(builder: Conversion, task: Task, works: str) -> str:
    """An expression for the hosts where a task runs; true on others. NotConvertible."""
    scope = builder.scope_of(task)
    that = text_rewriter.condition(works, scope)
    when = [text_rewriter.condition(one, scope) for one in listed(task.keywords.get("when"))]
    return f"not ({both(when)}) or {that}" if when else that


def _element_scope(loop: Loop, scope: Scope) -> Scope:
    """The scope of one element of a loop: the first one, or any one of a list."""
    if loop.elements is not None:
        first = loop.elements[0] if loop.elements else ""
        return scope.having(task_vars={**scope.task_vars, loop.variable: first})
    return element_scope(scope, loop)


def loop_of_results(builder: Conversion, task: Task) -> Register | None:
    """The register of a loop over which a task iterates with ``x.results``; None for others."""
    if task.loop is None:
        return None
    value = task.loop[1]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    node = only_expression(value) if is_template(value) else None
    path = path_of(node) if node is not None else None
    register = builder.scope.registers.get(path[0]) if path is not None else None
    if path is None or register is None or register.kind != "loop" or path[1] != ["results"]:
        return None
    return register


def result_scopes(task: Task, register: Register, scope: Scope) -> list[Scope] | Scope:
    """The scopes of the elements of ``x.results``: one for each element, or one for all elements of
    a variable.
    """
    control = task.keywords.get("loop_control") or {}
    if not isinstance(control, dict) or control.get("index_var") or control.get("extended"):
        raise NotConvertible("loop_control of a loop over results")
    variable = str(control.get("loop_var", "item"))
    if register.loop.elements is not None:
        return [
            scope.having(registers={**scope.registers, variable: one_result(register, scope, n)})
            for n in range(len(register.loop.elements))
        ]
    question = register.look_up_of
    assert isinstance(question, Question)
    inner = _element_scope(register.loop, scope)
    look_up = question(inner)
    one = Register(
        register.name, question.kind, register.task_name, look_up, position=register.position,
        certain=False, element=Name("item", "load"),
    )  # fmt: skip
    return inner.having(registers={**scope.registers, variable: one})


def _page(arguments: Arguments) -> dict[str, Any]:
    """A request that only reads, as a command. NotConvertible."""
    arguments.refuse("method", unless=("GET",))
    arguments.refuse(
        "body", "dest", "src", "client_cert", "client_key", "unix_socket", "creates", "removes"
    )
    arguments.refuse("status_code", unless=(200, "200"))
    arguments.refuse("body_format", unless=("raw", "json"))
    arguments.ignore("return_content", "http_agent", "force", "use_proxy", "force_basic_auth",
                 "follow_redirects", "timeout")  # fmt: skip
    words = ["curl", "--fail", "--silent", "--show-error", "--location"]
    if arguments.flag("validate_certs", default=True) is False:
        words.append("--insecure")
    headers = arguments.raw("headers") or {}
    if not isinstance(headers, dict):
        raise NotConvertible("headers as text")
    for key, one in headers.items():
        words += ["--header", _word(f"{key}: {text_rewriter.text(str(one), arguments.scope)}")]
    user = arguments.text("url_username", "user")
    password = arguments.text("url_password", "password")
    if user is not None or password is not None:
        login = ["--user", _word(f"{user or ''}:{password or ''}")]
        words += login if user is None or "default('')" not in user else [_if_set(user, login)]
    words.append(_word(arguments.required("url")))
    found: dict[str, Any] = {"command": " ".join(words)}
    if password is not None or headers:
        found["sensitive"] = True
    return found


def _if_set(user: str, login: list[str]) -> str:
    """Words of a command; none if the user is empty, because the original then sends no
    credentials.
    """
    return f"{{{{ {text_expression(' '.join(login))} if {text_expression(user)} else '' }}}}"


def _word(text: str) -> str:
    if "{{" not in text:
        return shlex.quote(text)
    if '"' in re.sub(r"\{\{.*?\}\}", "", text):
        raise NotConvertible("quotes in a request")
    return f'"{text}"'


def _note(builder: Conversion, task: Task, record: Record, text: str) -> None:
    condition = task.keywords.get("when")
    builder.report(
        task,
        record,
        text,
        *([f"the original requests it only if {keywords.shown(condition)}"] if condition else []),
    )


def note_change(builder: Conversion, task: Task, entries: list[Entry]) -> None:
    """Record which resources represent a result, for ``when: x is changed``."""
    name = task.keywords.get("register")
    if not name:
        return
    register = Register(str(name), "change", task.name or task.module)
    words = ("ignore_errors", "failed_when", "ignore_unreachable")
    register.tolerant = any(task.keywords.get(word) is not None for word in words)
    changed = task.keywords.get("changed_when")
    register.never = text_rewriter.as_bool(changed) is False
    if changed is not None and text_rewriter.as_bool(changed) is None:
        register.reason = f"it depends on the changed_when of '{register.task_name}'"
    if task.module == "tempfile":
        register.look_up = {"path": temporary_path(task)}
    if task.loop is None and not task.variables:
        register.members = _members_of(task)
    register.references = [builder.reference(one) for one in entries if one.changes]
    if not register.references:
        register.kind = "other"
        register.reason = f"it uses the result of '{register.task_name}'"
    builder.scope.registers[str(name)] = register


def _members_of(task: Task) -> dict[str, Any]:
    """The members of a result that the arguments of the task determine."""
    given = task.args
    if task.module in ("copy", "get_url", "template"):
        dest = given.get("dest")
        return {"dest": dest} if isinstance(dest, str) and not dest.endswith("/") else {}
    if task.module == "file":
        path = given.get("path") or given.get("dest") or given.get("name")
        return {"path": path, "dest": path} if path else {}
    name = given.get("name") or given.get("user")
    if task.module == "user" and isinstance(name, str):
        home = given.get("home") or ("/root" if name == "root" else f"/home/{name}")
        return {"name": name, "home": home, "group": given.get("group") or name}
    return {}


def _stat_path(arguments: Arguments) -> str:
    arguments.ignore("get_checksum", "get_md5", "get_mime", "get_attributes", "checksum_algorithm",
                "checksum", "mime", "get_selinux_context")  # fmt: skip
    arguments.flag("follow", default=False)
    return arguments.required("path", "dest", "name")


def stat(builder: Conversion, task: Task, record: Record) -> None:
    """``stat``: a lookup, or a condition of later tasks."""
    name = str(task.keywords.get("register") or "")
    used = uses_of(builder, name) if name else set()
    if not name or (task.loop is not None and not used):
        _note(builder, task, record, "nothing reads the result")
        return
    follow = text_rewriter.as_bool(keywords.arguments(task).get("follow", False))
    if follow is not False and used - {"stat", "exists"}:
        raise NotConvertible("stat with follow")
    note_reading(builder, task, record)


def _is_secret(task: Task) -> bool:
    """Whether the result of a task is masked."""
    return text_rewriter.as_bool(task.keywords.get("no_log") or False) is not False


def slurp(builder: Conversion, task: Task, record: Record) -> None:
    """``slurp``: a lookup of a file."""
    arguments = Arguments(keywords.arguments(task), builder.scope, {})
    path = arguments.required("src", "path")
    arguments.finish()
    name = str(task.keywords.get("register") or "")
    if not name or task.loop is not None:
        raise NotConvertible("ccm cannot convert slurp in a loop or without register")
    register = Register(
        name, "file", task.name or "slurp",
        {"file": path, "sensitive": True} if _is_secret(task) else {"file": path},
        position=len(builder.manifest.entries()), certain=builder.is_untouched,
    )  # fmt: skip
    _set(builder, name, register)
    _note(builder, task, record, f"the answer is Asked.{register.name}")
