"""Conditions of tasks: expressions, conditions on the host, and subscriptions (controller)."""

import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import condition_tree, names_in, parts_of, path_of
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Register, Scope
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.modules.commands import single_quoted
from orchestrator.ansible.output.manifest_entries import Entry, as_test
from orchestrator.ansible.problems import NotConvertible

_CHANGED = frozenset(["changed", "change"])
_KINDS = {"exists": "-e", "isdir": "-d", "isreg": "-f", "islnk": "-L", "executable": "-x"}


@dataclass
class Conditions:
    """The conversion of a ``when``."""

    expressions: list[str] = field(default_factory=list)
    control: dict[str, Any] = field(default_factory=dict)
    subscribe: list[str] = field(default_factory=list)
    on_change: bool = False
    either: list[str] = field(
        default_factory=list
    )  # tests of a shell, in addition to the subscriptions
    never: bool = False
    checks: list[str] = field(default_factory=list)


def read_conditions(conditions: list[Any], scope: Scope, entries: list[Entry]) -> Conditions:
    """The conditions of a task. ``entries`` are the resources before it. NotConvertible."""
    result = Conditions()
    for one in conditions:
        if isinstance(one, bool):
            result.never |= not one
            continue
        for part in _parts(one):
            _add(result, part, scope, entries)
    return result


def _parts(condition: Any) -> list[nodes.Expr]:
    if isinstance(condition, (int, float)) or condition is None:
        raise NotConvertible(f"the condition {condition!r} is not a boolean")
    return parts_of(condition_tree(condition), nodes.And)


def _add(result: Conditions, node: nodes.Expr, scope: Scope, entries: list[Entry]) -> None:
    changed = _changed(node, scope)
    if changed is not None:
        result.checks += _uncertainties_of_change(node, scope)
        result.subscribe += changed
        result.on_change = True
        result.never |= not changed
        return
    if _on_host(result, node, scope, entries):
        return
    if isinstance(node, nodes.Or) and _change_or(result, node, scope):
        return
    uncertainties = len(scope.uses.uncertainties)
    tree = text_rewriter.boolean_tree(node, scope)
    result.checks += scope.uses.uncertainties[uncertainties:]
    if isinstance(tree, nodes.Const) and isinstance(tree.value, bool):
        result.never |= not tree.value
        return
    result.expressions.append(unparse(tree))


def _change_or(result: Conditions, node: nodes.Or, scope: Scope) -> bool:
    """``a or b.changed``: subscriptions, and a guard for the other conditions."""
    parts = parts_of(node, nodes.Or)
    changes = [one for one in parts if _changed(one, scope) is not None]
    if not changes or result.either:
        return False
    for one in changes:
        result.checks += _uncertainties_of_change(one, scope)
        result.subscribe += _changed(one, scope) or []
    for one in parts:
        if one not in changes:
            result.either.append(_shell_test(one, scope))
    return True


def _shell_test(node: nodes.Expr, scope: Scope) -> str:
    """Return a condition as a command that tests the host, or facts on the controller."""
    names = names_in(node) & set(scope.registers)
    if len(names) == 1:
        register = scope.registers[next(iter(names))]
        found = None
        if register.kind in ("stat", "command") and not register.reason:
            found = _Tests(scope, register).of(node)
        if found is not None and isinstance(found[1], str):
            word, value = found
            signs = {"exists": f"test -e {value}", "absent": f"! test -e {value}"}
            return str(signs.get(word, value))
    test = as_test([text_rewriter.condition_of(node, scope)])
    return f"test -n \"{{{{ 'x' if {test} else '' }}}}\""


def _changed(node: nodes.Expr, scope: Scope) -> list[str] | None:
    """The resources of ``a is changed or b.changed``; None for other conditions."""
    if isinstance(node, nodes.Or):
        left, right = _changed(node.left, scope), _changed(node.right, scope)
        return [*left, *right] if left is not None and right is not None else None
    register = _register_of_change(node, scope)
    if register is None:
        return None
    if register.kind != "change" or not register.references:
        raise NotConvertible(
            register.reason or f"it tests whether '{register.task_name}' changed something"
        )
    return [] if register.never else register.references


def _uncertainties_of_change(node: nodes.Expr, scope: Scope) -> list[str]:
    """Return what ccm always counts as a change but the original counts only under a condition."""
    if isinstance(node, nodes.Or):
        return [
            *_uncertainties_of_change(node.left, scope),
            *_uncertainties_of_change(node.right, scope),
        ]
    register = _register_of_change(node, scope)
    if register is None or register.never or not register.reason:
        return []
    return [f"runs after each run of '{register.task_name}', regardless of its changed_when"]


def _keeps_false(node: nodes.Filter) -> bool:
    """Whether a filter is ``bool`` or ``default(false)``."""
    if node.name == "bool":
        return True
    first = node.args[0] if node.args and node.name in ("default", "d") else None
    return isinstance(first, nodes.Const) and not first.value


def _register_of_change(node: nodes.Expr, scope: Scope) -> Register | None:
    if isinstance(node, (nodes.Filter, nodes.Test)) and node.name in _CHANGED and node.node:
        path = path_of(node.node)
        return scope.registers.get(path[0]) if path and not path[1] else None
    if isinstance(node, nodes.Filter) and node.node and _keeps_false(node):
        return _register_of_change(node.node, scope)
    if isinstance(node, nodes.Compare) and len(node.ops) == 1 and node.ops[0].op == "eq":
        operand = node.ops[0].expr
        if isinstance(operand, nodes.Const) and operand.value is True:
            return _register_of_change(node.expr, scope)
    path = path_of(node)
    if path is not None and path[1] == ["changed"]:
        return scope.registers.get(path[0])
    return None


# --- conditions that the host answers when the resource runs


def _on_host(result: Conditions, node: nodes.Expr, scope: Scope, entries: list[Entry]) -> bool:
    """Whether the condition became one of ``control.exists``, ``absent`` or ``command``."""
    names = names_in(node) & set(scope.registers)
    if len(names) != 1:
        return False
    register = scope.registers[names.pop()]
    if register.kind not in ("stat", "command") or register.reason:
        return False
    between = [one for one in entries[register.position :] if _touches(one, register)]
    if register.certain and between:
        return False  # the answer before the first change is the right one
    found = _Tests(scope, register).of(node)
    if found is None:
        return False
    word, value = found
    if word in result.control and word != "command":
        return False
    if word == "command" and "command" in result.control:
        value = _combined(result.control["command"], value)
    result.control[word] = value
    if between:
        result.checks.append(
            f"this is tested after {between[-1].reference}; the original tests it before that"
        )
    return True


def _combined(first: Any, second: Any) -> Any:
    texts_ = [one if isinstance(one, str) else one["command"] for one in (first, second)]
    if any(isinstance(one, dict) and set(one) != {"command"} for one in (first, second)):
        raise NotConvertible("two conditions on commands with different settings")
    return f"sh -c {single_quoted(' && '.join(f'{{ {one}; }}' for one in texts_))}"


def _touches(entry: Entry, register: Register) -> bool:
    """Whether a resource may change the result of a lookup."""
    if not entry.changes:
        return False
    if entry.type in ("exec", "apply", "package", "repository"):
        return (
            entry.type in ("exec", "apply") or register.kind == "command" or _of_package(register)
        )
    if register.kind == "command":
        return entry.type in ("service", "user", "group", "git", "archive", "download", "module")
    path = str(register.look_up.get("stat", ""))
    places = [entry.name, str(entry.properties.get("extract_parent", ""))]
    return (
        any(
            place and (path.startswith(place.rstrip("/")) or place.startswith(path.rstrip("/")))
            for place in places
        )
        or "{{" in path
    )


def _of_package(register: Register) -> bool:
    return str(register.look_up.get("stat", "")).startswith(
        ("/usr/", "/etc/", "/bin", "/sbin", "/lib")
    )


class _Tests:
    """A condition on one result as a test on the host."""

    def __init__(self, scope: Scope, register: Register) -> None:
        self.scope = scope
        self.register = register

    def of(self, node: nodes.Expr, negative: bool = False) -> tuple[str, Any] | None:
        """Return the guard for a condition, or for its ``negative``; None if no guard exists."""
        if isinstance(node, nodes.Not):
            return self.of(node.node, not negative)
        if isinstance(node, nodes.Filter) and node.name == "bool" and node.node is not None:
            return self.of(node.node, negative)
        if isinstance(node, nodes.Compare) and len(node.ops) == 1:
            operand = node.ops[0].expr
            constant = operand.value if isinstance(operand, nodes.Const) else None
            if isinstance(constant, bool) and node.ops[0].op in ("eq", "ne"):
                opposite = (constant is False) != (node.ops[0].op == "ne")
                return self.of(node.expr, negative != opposite)
        if self.register.kind == "stat":
            return self._stat(node, negative)
        return self._command(node, negative)

    def _stat(self, node: nodes.Expr, negative: bool) -> tuple[str, Any] | None:
        if isinstance(node, nodes.Test) and node.name in ("defined", "undefined"):
            path = path_of(node.node)
            if path is None or path[1][:1] != ["stat"] or path[1][1:] == ["exists"]:
                return None
            missing = negative != (node.name == "undefined")
            return ("absent" if missing else "exists"), str(self.register.look_up["stat"])
        path = path_of(node)
        if path is None or len(path[1]) != 2 or path[1][0] != "stat":
            return None
        place = str(self.register.look_up["stat"])
        if path[1][1] == "exists":
            return ("absent" if negative else "exists"), place
        sign = _KINDS.get(str(path[1][1]))
        if sign is None:
            return None
        return "command", f"test {'! ' if negative else ''}{sign} {place}"

    def _command(self, node: nodes.Expr, negative: bool) -> tuple[str, Any] | None:
        script = self._script(node)
        if script is None:
            return None
        if negative:
            script = "! " + script if not script.startswith("! ") else script[2:]
        rest = {key: one for key, one in self.register.look_up.items() if key != "command"}
        line = self.register.look_up["command"]
        if script == "RUN":
            text = line
        else:
            text = f"sh -c {single_quoted(script.replace('RUN', _as_shell(line)))}"
        return "command", {"command": text, **rest} if rest else text

    def _script(self, node: nodes.Expr) -> str | None:
        """A script with RUN for the command."""
        if isinstance(node, nodes.Test):
            path = path_of(node.node)
            if path is None or path[1]:
                return None
            if node.name in ("succeeded", "success", "successful"):
                return "RUN"
            return "! RUN >/dev/null" if node.name in ("failed", "failure") else None
        path = path_of(node)
        if path is not None and path[1] in (["stdout"], ["stdout_lines"]):
            return '[ -n "$(RUN)" ]'
        if isinstance(node, nodes.Compare) and len(node.ops) == 1:
            return self._compared(node.expr, node.ops[0].op, node.ops[0].expr)
        return None

    def _compared(self, left: nodes.Expr, operator: str, right: nodes.Expr) -> str | None:
        path = path_of(left)
        if path is not None and path[1] == ["rc"]:
            number = right.value if isinstance(right, nodes.Const) else None
            if number == 0 and operator in ("eq", "ne", "gt"):
                return "RUN" if operator == "eq" else "! RUN >/dev/null"
            if isinstance(number, int) and operator in ("eq", "ne"):
                return f"RUN >/dev/null; [ $? -{operator} {number} ]"
            return None
        length = isinstance(left, nodes.Filter) and left.name in ("length", "count")
        inner = left.node if isinstance(left, nodes.Filter) and length else left
        path = path_of(inner) if inner is not None else None
        if path is not None and path[1] in (["stdout"], ["stdout_lines"]):
            return _of_output(operator, right, length, self._shell(right))
        return self._contained(left, operator, right)

    def _contained(self, left: nodes.Expr, operator: str, right: nodes.Expr) -> str | None:
        path = path_of(right)
        if path is None or operator not in ("in", "notin") or names_in(left) & {path[0]}:
            return None
        if path[1] not in (["stdout"], ["stdout_lines"]):
            return None
        word = self._shell(left)
        if word is None:
            return None
        sign = "-qxF" if path[1] == ["stdout_lines"] else "-qF"
        return f"{'! ' if operator == 'notin' else ''}RUN | grep {sign} -- {word}"

    def _shell(self, node: nodes.Expr) -> str | None:
        if isinstance(node, nodes.Const) and isinstance(node.value, (str, int)):
            text = str(node.value)
            return None if "\n" in text else shlex.quote(text_rewriter.plain_text(text))
        kinds = sample_of(node, self.scope).all_kinds()
        if kinds & {"list", "map", "bool"}:
            return None
        return '"{{ ' + unparse(translate(node, self.scope)) + ' }}"'


def _of_output(operator: str, right: nodes.Expr, length: bool, word: str | None) -> str | None:
    if not isinstance(right, nodes.Const) and length:
        return None
    value = right.value if isinstance(right, nodes.Const) else None
    if length:
        if (operator, value) in (("gt", 0), ("ne", 0), ("gteq", 1)):
            return '[ -n "$(RUN)" ]'
        return '[ -z "$(RUN)" ]' if (operator, value) in (("eq", 0), ("lt", 1)) else None
    if value == "" and operator in ("eq", "ne"):
        return '[ -z "$(RUN)" ]' if operator == "eq" else '[ -n "$(RUN)" ]'
    if word is None or operator not in ("eq", "ne"):
        return None
    return f'[ "$(RUN)" {"=" if operator == "eq" else "!="} {word} ]'


def _as_shell(line: str) -> str:
    match = re.fullmatch(r"sh -c '((?:[^']|'\"'\"')*)'", line)
    if match is None:
        return line
    return "{ " + match.group(1).replace("'\"'\"'", "'").strip() + "; }"
