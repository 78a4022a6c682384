"""Conditions on the result of a command as tests of a shell (controller).

The script runs the command once, keeps its output and its exit code, and tests these.
"""

import re
import shlex
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import condition_tree, names_in, path_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.output.manifest_entries import as_test
from orchestrator.ansible.problems import NotConvertible

_NUMBERS = {"eq": "-eq", "ne": "-ne", "gt": "-gt", "gteq": "-ge", "lt": "-lt", "lteq": "-le"}
_PLAIN_PATTERN = re.compile(r"[\w /:=<>,;@%!~\"'-]+")
_SHELL_SIGNS = re.compile(r"[$`*?<>|;&(){}\[\]~#!\n]")


def tested(line: str, condition: Any, *, shell: bool, register: str, scope: Scope) -> str:
    """A script that succeeds if a command has run and a condition on its result is true.

    NotConvertible if the condition has no test.
    """
    parts = condition if isinstance(condition, list) else [condition]
    reader = _Tests(register, scope)
    tests = [reader.of(condition_tree(one)) for one in parts]
    plain = re.sub(r"\{\{.*?\}\}", "", line, flags=re.DOTALL)
    if not shell and _SHELL_SIGNS.search(re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", plain)):
        raise NotConvertible("a command with shell syntax, whose result is tested")
    both = " 2>&1" if reader.reads_errors else ""
    body = line.strip()
    inner = f"\n{body}\n" if "\n" in body or "#" in body else body
    return (
        f"out=$({{ {inner}; }}{both}); rc=$?; printf '%s\\n' \"$out\"; "
        f"{' && '.join(_grouped(one) for one in tests)}"
    )


def opposite(condition: Any) -> Any:
    """``failed_when`` as the condition for success: the opposite of these conditions together."""
    parts = condition if isinstance(condition, list) else [condition]
    texts_ = [str(one) for one in parts]
    return "not (" + " and ".join(f"({one})" for one in texts_) + ")"


def _value(node: Any) -> Any:
    return node.value if isinstance(node, nodes.Const) else None


def _grouped(test: str) -> str:
    return f"{{ {test}; }}" if " || " in test or " && " in test else test


class _Tests:
    def __init__(self, register: str, scope: Scope) -> None:
        self.register, self.scope = register, scope
        self.reads_errors = False

    def of(self, node: Any) -> str:
        """One condition as a test."""
        if isinstance(node, nodes.Not):
            return f"! {_grouped(self.of(node.node))}"
        if isinstance(node, (nodes.And, nodes.Or)):
            sign = " && " if isinstance(node, nodes.And) else " || "
            return sign.join(_grouped(self.of(one)) for one in (node.left, node.right))
        if self.register not in names_in(node):
            condition = as_test([text_rewriter.condition_of(node, self.scope)])
            return f"[ -n \"{{{{ 'x' if {condition} else '' }}}}\" ]"
        if isinstance(node, nodes.Test):
            return self._test(node)
        if isinstance(node, nodes.Filter) and node.name == "bool" and node.node is not None:
            return self.of(node.node)
        if isinstance(node, nodes.Compare) and len(node.ops) == 1:
            return self._compare(node.expr, node.ops[0].op, node.ops[0].expr)
        member = self._member(node)
        if member in ("failed", "rc"):
            return "[ $rc -ne 0 ]"
        if member in ("stdout", "stderr", "stdout_lines"):
            return '[ -n "$out" ]'
        raise NotConvertible("a condition on a result without an equivalent shell test")

    def _member(self, node: Any) -> str:
        path = path_of(node)
        if path is None or path[0] != self.register or len(path[1]) != 1:
            return ""
        if path[1][0] in ("stderr", "msg", "stderr_lines"):
            self.reads_errors = True
        return str(path[1][0]).replace("msg", "stderr").replace("stderr_lines", "stdout_lines")

    def _test(self, node: nodes.Test) -> str:
        path = path_of(node.node)
        if path == (self.register, []):
            if node.name in ("succeeded", "success", "successful"):
                return "[ $rc -eq 0 ]"
            if node.name in ("failed", "failure"):
                return "[ $rc -ne 0 ]"
        if node.name == "defined" and path is not None:
            return "true"
        member = self._member(node.node)
        if node.name in ("search", "match") and member in ("stdout", "stderr") and node.args:
            word = node.args[0]
            if isinstance(word, nodes.Const) and _PLAIN_PATTERN.fullmatch(str(word.value)):
                sign = "" if node.name == "search" else "^"
                return f'printf "%s\\n" "$out" | grep -q -- {shlex.quote(sign + str(word.value))}'
        raise NotConvertible(f"the test {node.name} of a result")

    def _compare(self, left: Any, operator: str, right: Any) -> str:
        if operator in ("in", "notin"):
            return self._contained(left, operator == "notin", right)
        if isinstance(_value(right), bool):
            test = self.of(left)
            same = _value(right) is (operator == "eq")
            return test if same else f"! {_grouped(test)}"
        found = self._found(left)
        if found is not None and (_value(right) == -1 or isinstance(right, nodes.Neg)):
            return f"! {found}" if operator == "eq" else found
        if isinstance(left, nodes.Filter) and left.node is not None:
            return self._filtered(left, operator, right)
        return self._plain(self._member(left), operator, right)

    def _plain(self, member: str, operator: str, right: Any) -> str:
        if member == "rc" and operator in _NUMBERS:
            return f"[ $rc {_NUMBERS[operator]} {self._word(right)} ]"
        if member in ("stdout", "stderr") and operator in ("eq", "ne"):
            return f'[ "$out" {"=" if operator == "eq" else "!="} {self._word(right)} ]'
        if member == "stdout" and operator in _NUMBERS:
            return f'[ "$out" {_NUMBERS[operator]} {self._word(right)} ]'
        raise NotConvertible("a condition on a result without an equivalent shell test")

    def _filtered(self, left: nodes.Filter, operator: str, right: Any) -> str:
        """``x.stdout | int > 1`` and ``x.stdout_lines | length == 0``."""
        if left.name in ("int", "trim"):
            return self._compare(left.node, operator, right)
        inner, value = self._member(left.node), _value(right)
        if left.name in ("length", "count") and inner:
            if (operator, value) in (("gt", 0), ("ne", 0), ("gteq", 1)):
                return '[ -n "$out" ]'
            if (operator, value) in (("eq", 0), ("lt", 1)):
                return '[ -z "$out" ]'
            if inner == "stdout_lines" and isinstance(value, int) and operator in _NUMBERS:
                count = 'printf "%s\\n" "$out" | grep -c ""'
                return f'[ "$({count})" {_NUMBERS[operator]} {value} ]'
        raise NotConvertible("a condition on a result without an equivalent shell test")

    def _found(self, node: Any) -> str | None:
        """``x.stdout.find('word')``."""
        if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Getattr):
            return None
        if node.node.attr != "find" or len(node.args) != 1 or not self._member(node.node.node):
            return None
        return f'printf "%s\\n" "$out" | grep -qF -- {self._word(node.args[0])}'

    def _contained(self, left: Any, negative: bool, right: Any) -> str:
        if isinstance(right, (nodes.List, nodes.Tuple)) and self._member(left):
            member = self._member(left)
            either = " || ".join(self._plain(member, "eq", one) for one in right.items)
            return f"! {{ {either}; }}" if negative else either
        member = self._member(right)
        if isinstance(right, nodes.Filter) and right.node is not None:
            member = member or self._member(right.node)  # `| default('')`, `| lower`
            if right.name == "lower":
                member = ""
        if isinstance(right, nodes.Add):
            members = {self._member(right.left), self._member(right.right)}
            member = "stdout" if members <= {"stdout", "stderr"} else ""
        if member in ("stdout", "stderr", "stdout_lines"):
            sign = "-qxF" if member == "stdout_lines" else "-qF"
            test = f'printf "%s\\n" "$out" | grep {sign} -- {self._word(left)}'
            return f"! {{ {test}; }}" if negative else test
        raise NotConvertible("a condition on a result without an equivalent shell test")

    def _word(self, node: Any) -> str:
        if isinstance(node, nodes.Const):
            return shlex.quote(text_rewriter.plain_text(str(node.value)))
        if self.register in names_in(node):
            raise NotConvertible("a condition that compares two parts of a result")
        return '"{{ ' + unparse(translate(node, self.scope)) + ' }}"'
