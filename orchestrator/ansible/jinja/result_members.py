"""Members of results, converted to answers of the host: ``rc``, ``stat.exists``,
``json`` (controller).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import members, parse_expression, tree_of
from orchestrator.ansible.jinja.scope import Register, Scope
from orchestrator.ansible.problems import NotConvertible


def one_result(register: Register, scope: Scope, index: int) -> Register:
    """The result of a reading task's loop for one literal element."""
    element = register.loop.elements[index]
    assert register.look_up_of is not None
    variables = {**scope.task_vars, register.loop.variable: element}
    return Register(
        f"{register.name}_{index + 1}", register.look_up_of.kind, register.task_name,
        register.look_up_of(scope.having(task_vars=variables)), position=register.position,
        certain=register.certain, element=tree_of(element),
    )  # fmt: skip


Answer = Callable[[Register, list[Any]], Any]


def results(register: Register, keys: list[Any], scope: Scope, answer: Answer) -> Any:
    """A member of ``x.results`` as a list of maps. NotConvertible."""
    if keys[0] == "results" and register.kind == "found":  # all files as those of one result
        files = answer(replace(register, kind="find"), ["files"])
        whole = nodes.Dict([nodes.Pair(nodes.Const("files"), files)])
        return members(nodes.List([whole]), keys[1:])
    if keys[0] != "results" or register.loop.elements is None:
        raise NotConvertible(f"the results of the loop '{register.task_name}'")
    parts = [one_result(register, scope, n) for n in range(len(register.loop.elements))]
    if len(keys) > 2 and isinstance(keys[1], int) and -len(parts) <= keys[1] < len(parts):
        return answer(parts[keys[1]], keys[2:])
    return members(nodes.List([_as_map(one, answer) for one in parts]), keys[1:])


_MEMBERS = {
    "command": ("rc", "stdout", "stderr", "stdout_lines"),
    "find": ("files", "matched"),
}


def _as_map(register: Register, answer: Answer) -> nodes.Dict:
    found = {"item": answer(register, ["item"])}
    if register.kind in _MEMBERS:
        found.update({word: answer(register, [word]) for word in _MEMBERS[register.kind]})
    else:
        words = ("exists", "isdir", "isreg", "islnk")
        inner = {word: answer(register, ["stat", word]) for word in words}
        found["stat"] = nodes.Dict([nodes.Pair(nodes.Const(k), one) for k, one in inner.items()])
    return nodes.Dict([nodes.Pair(nodes.Const(key), one) for key, one in found.items()])


def found_answer(name: str, keys: list[Any]) -> nodes.Expr | None:
    """``files`` and ``matched`` in the result of ``find``."""
    lines = f"Asked.{name}.stdout.splitlines()"
    if keys == ["matched"]:
        return parse_expression(f"{lines} | length")
    if keys[0] != "files":
        return None
    body = f"[{{% for one in {lines} %}}{{{{ {{'path': one}} | to_json }}}},{{% endfor %}}]"
    made = nodes.Call(nodes.Name("template", "load"), [nodes.Const(body)], [], None, None)
    return members(nodes.Filter(made, "from_yaml", [], [], None, None), keys[1:])


def page_answer(answer: nodes.Expr, keys: list[Any]) -> nodes.Expr | None:
    """A member of the result of ``uri``. curl shows only success or failure: status 200 or 0."""
    text = nodes.Getattr(answer, "stdout", "load")
    if keys[0] == "json":
        return members(nodes.Filter(text, "from_json", [], [], None, None), keys[1:])
    if keys == ["content"]:
        return text
    if keys == ["status"]:
        worked = nodes.Compare(
            nodes.Getattr(answer, "exit_code", "load"), [nodes.Operand("eq", nodes.Const(0))]
        )
        return nodes.CondExpr(worked, nodes.Const(200), nodes.Const(0))
    return None


def command_answer(answer: nodes.Expr, keys: list[Any]) -> nodes.Expr | None:
    """Return a member of a command's result; None if ccm does not have it."""

    def stripped(word: str) -> nodes.Expr:
        text = nodes.Getattr(answer, word, "load")
        return nodes.Call(
            nodes.Getattr(text, "rstrip", "load"), [nodes.Const("\r\n")], [], None, None
        )

    first, rest = keys[0], keys[1:]
    if first == "rc" and not rest:
        return nodes.Getattr(answer, "exit_code", "load")
    if first in ("stdout", "stderr"):
        return members(stripped(str(first)), rest)
    if first in ("stdout_lines", "stderr_lines"):
        lines = nodes.Getattr(stripped(str(first)[:6]), "splitlines", "load")
        return members(nodes.Call(lines, [], [], None, None), rest)
    return None


def stat_answer(answer: nodes.Expr, key: str) -> nodes.Expr | None:
    """Return a member of ``stat`` of a result; None if ccm does not have it."""
    kinds = {"isdir": "directory", "isreg": "file", "islnk": "symlink"}
    if key == "exists":
        return nodes.Getattr(answer, "exists", "load")
    if key in kinds:
        kind = nodes.Getattr(answer, "kind", "load")
        return nodes.Compare(kind, [nodes.Operand("eq", nodes.Const(kinds[key]))])
    words = {"mode": "mode", "pw_name": "owner", "gr_name": "group", "size": "size",
             "lnk_source": "target"}  # fmt: skip
    return nodes.Getattr(answer, words[key], "load") if key in words else None
