"""The arguments of a task, read by the mapper of its module (controller)."""

import re
import shlex
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import (
    holds_vaulted,
    in_role,
    is_template,
    only_expression,
    path_of,
)
from orchestrator.ansible.jinja.possible_values import loses_newline, sample_of
from orchestrator.ansible.jinja.scope import Sample, Scope
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.jinja.value_expressions import printed
from orchestrator.ansible.modules.omissions import Omissions, OmitChoice, omitted
from orchestrator.ansible.problems import NotConvertible, TemplateArgument
from orchestrator.ansible.source.yaml_reader import MAX_DIGITS, Vaulted

LOST_NEWLINE = "Ansible 2.19 and later write no newline after a value that is not text"
_SYMBOLS = {"r": 4, "w": 2, "x": 1}
_SPECIAL = {("u", "s"): 0o4000, ("g", "s"): 0o2000, ("o", "t"): 0o1000}
_OMIT = re.compile(r"default\(\s*omit\s*\)")
_BETWEEN = re.compile(r",(?![^{]*\}\})")
"""A comma that is not within braces."""


class Arguments:
    """Returns arguments by name, and finally refuses those that no mapper has read."""

    def __init__(self, arguments: dict[str, Any], scope: Scope, omits: dict[str, bool]) -> None:
        self._args = {name: one for name, one in arguments.items() if one is not None}
        self.scope = scope
        self._read: set[str] = set()
        self.notes: list[str] = []
        self.checks: list[str] = []
        self.omissions = Omissions(scope, omits, self.notes)

    def raw(self, *names: str) -> Any:
        """Return the unconverted value of the first of these names; None if it is omitted."""
        self._read.update(names)
        for name in names:
            if name in self._args:
                return self._without_omit(name, self._args[name])
        return None

    def names(self) -> list[str]:
        """The arguments that are set."""
        return list(self._args)

    def ignore(self, *names: str) -> None:
        """Ignore arguments that make no difference here."""
        self._read.update(names)

    def refuse(self, *names: str, unless: tuple[Any, ...] = (), **usual: Any) -> None:
        """Refuse arguments without an equivalent; NotConvertible if one has a different value than
        those of ``unless``, or than its ``usual`` one.
        """
        for name in self.others(*names, unless=unless):
            raise NotConvertible(f"ccm has no equivalent of the parameter {name}")
        for name, value in usual.items():
            self.refuse(name, unless=(value,))

    def others(self, *names: str, unless: tuple[Any, ...] = ()) -> list[str]:
        """Those of these arguments that have a different value and are not empty."""
        found: list[str] = []
        for name in names:
            value = self.raw(name)
            if value is None or value in unless or self._is_empty(name, value):
                continue
            known = text_rewriter.as_bool(value)
            if known is None or known not in unless:
                found.append(name)
        return found

    def _is_empty(self, name: str, value: Any) -> bool:
        """Whether a variable is empty text wherever the project sets it."""
        if not is_template(value):
            return bool(value == "")
        found = self.sample(name)
        empty = bool(found.values) and not found.open and not found.kinds
        if not empty or any(one not in ("", None) for one in found.values):
            return False
        self.notes.append(f"{name} is omitted because {value} is empty")
        return True

    def text(self, *names: str) -> str | None:
        """Return a string in ccm's syntax."""
        value = self.raw(*names)
        if value is None:
            return None
        if isinstance(value, bool):
            return "True" if value else "False"
        if isinstance(value, (int, float)):
            return str(value)
        if not isinstance(value, str):
            raise NotConvertible(f"{names[0]} is not text")
        return text_rewriter.text(value, self.scope)

    def piece(self, prefix: str, *names: str, quote: bool = True) -> str:
        """A part of a command: the prefix and the value as one word, empty if it is omitted.

        If only some elements omit it, the part is an expression that is empty for these.
        """
        self._read.update(names)
        for name in names:
            value = self._args.get(name)
            if value is None:
                continue
            node = only_expression(value) if is_template(value) and "omit" in value else None
            inner = omitted(node) if node is not None else None
            if inner is None or isinstance(inner, nodes.CondExpr):
                text = self.text(name)
                if text is None or text == "":
                    return ""
                return prefix + (shell_word(text) if quote else text)
            while isinstance(inner, nodes.Filter) and inner.name in ("default", "d") and inner.node:
                inner = inner.node
            found = unparse(translate(inner, self.scope))
            shown = f"({found} | string | quote)" if quote else f"({found})"
            return "{{ " + f"'{prefix}' ~ {shown} if {found} | default('', true) else ''" + " }}"
        return ""

    def rewrite(self, name: str, pattern: re.Pattern[str], new: str) -> bool:
        """Write an argument that matches in another form; return whether it does."""
        value = self._args.get(name)
        if not isinstance(value, str) or pattern.fullmatch(value) is None:
            return False
        self._args[name] = pattern.sub(new, value)
        return True

    def text_or(self, usual: str, *names: str) -> str | None:
        """A string, with the usual value for elements that omit the argument."""
        try:
            return self.text(*names)
        except OmitChoice:
            self._fill(names, usual)
            return self.text(*names)

    def _fill(self, names: tuple[str, ...], usual: Any) -> None:
        """Write the usual value in place of ``omit``. To call in a handler of OmitChoice."""
        given = {one: self._args[one] for one in names if one in self._args}
        filled = {
            one: _OMIT.sub(f"default({usual!r})", text) if isinstance(text, str) else text
            for one, text in given.items()
        }
        if filled == given:
            raise
        self._args.update(filled)

    def required(self, *names: str) -> str:
        """The same for a required argument."""
        found = self.text(*names)
        if found is None or found == "":
            raise NotConvertible(f"the parameter {names[0]} is missing")
        return found

    def path(self, *names: str) -> str:
        """A required path on the host, in ccm's form. NotConvertible."""
        from orchestrator.ansible.modules.mapping_context import clean_path

        return clean_path(self.at_home(self.required(*names)))

    def at_home(self, path: str) -> str:
        """A path with root's home directory in place of ``~``, which is marked."""
        variable = re.match(r"\{\{ Data\.(\w+) \}\}", path)
        known = self.scope.values.get(variable[1], []) if variable else []
        if not any(str(one).startswith("~/") for one in [path + "/", *known]):
            return path
        text = "this assumes that root's home directory is /root"
        if text not in self.checks:
            self.checks.append(text)
        if variable is None:
            return "/root" + path[1:]
        inner = f"Data.{variable[1]} | regex_replace('^~/', '/root/')"
        return "{{ " + inner + " }}" + path[variable.end() :]

    def replace(self, name: str, value: Any) -> None:
        """A replacement value for an argument, or None."""
        if value is None:
            self._args.pop(name, None)
        else:
            self._args[name] = value

    def source(self, *names: str) -> str:
        """The path of a project file, relative to the role; NotConvertible."""
        value = self.raw(*names)
        if isinstance(value, str):
            for name in names:
                if name in self._args:
                    self._args[name] = in_role(self._of_element(value))
        return self.required(*names)

    def _of_element(self, value: str) -> str:
        """The text of ``{{ item.src }}`` for a literal element that names a path in the role."""
        node = only_expression(value)
        path = path_of(node) if node is not None else None
        found: Any = self.scope.task_vars.get(path[0]) if path is not None else None
        for key in path[1] if path is not None else []:
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, str) and in_role(found) != found else value

    def literal(self, *names: str, default: str | None = None, exact: bool = False) -> str | None:
        """Return a plain string; that of a variable unless it must be ``exact``."""
        value = self.raw(*names)
        if value is None:
            return default
        if is_template(value):
            found = self._single(value)
            if found is None and not exact:
                found = self._set_once(names[0], value)
            if found is None:
                raise TemplateArgument(names[0], value)
            return str(found)
        return str(value)

    def _single(self, value: str) -> Any:
        """The value of ``{{ item.state }}`` for a literal element."""
        node = only_expression(value)
        if node is None:
            return None
        path = path_of(node)
        if path is None or path[0] not in self.scope.task_vars:
            return None
        found = sample_of(node, self.scope)
        known = found.values[:1] if not found.open and len(found.values) == 1 else []
        return known[0] if known and isinstance(known[0], (str, int, bool)) else None

    def _set_once(self, name: str, value: str) -> Any:
        """The value of a variable that the project always sets to the same value; marked."""
        if only_expression(value) is None:
            return None
        node = only_expression(value)
        assert node is not None
        fallback = self._fallback(node)
        if fallback is not None:
            self.checks.append(f"{name} is {fallback} for all hosts; {value} is not computed")
            return fallback
        found = sample_of(node, self.scope)
        if found.open or found.kinds or not found.values:
            return None
        first = found.values[0]
        same = all(type(one) is type(first) and one == first for one in found.values)
        if not same or not isinstance(first, (str, int, bool)) or is_template(first):
            return None
        self.checks.append(
            f"{name} is {first}, because the project sets {value}; it is not computed"
        )
        return first

    def _fallback(self, node: nodes.Expr) -> Any:
        """The default in ``item.key | default('x')`` if no element is known to have the key."""
        if not isinstance(node, nodes.Filter) or node.name not in ("default", "d") or not node.args:
            return None
        inner, first = node.node, node.args[0]
        path = path_of(inner) if inner is not None else None
        if inner is None or path is None or not isinstance(first, nodes.Const):
            return None
        known = (self.scope.values, self.scope.locals, self.scope.task_vars, self.scope.registers)
        if not path[1]:
            is_fact = path[0].startswith("ansible_") or any(path[0] in one for one in known)
            return None if is_fact else first.value
        is_element = path[0] in self.scope.locals or path[0] in self.scope.place
        if not is_element or sample_of(inner, self.scope).values:
            return None
        return first.value

    def boolean(self, *names: str) -> Any:
        """True, False, an expression in braces, or None."""
        value = self.raw(*names)
        return None if value is None else text_rewriter.boolean(value, self.scope)

    def boolean_or(self, usual: bool, *names: str) -> Any:
        """The same, with the usual value for elements that omit the argument."""
        try:
            return self.boolean(*names)
        except OmitChoice:
            self._fill(names, usual)
            return self.boolean(*names)

    def flag(self, *names: str, default: bool) -> bool:
        """A boolean that must be literal."""
        value = self.raw(*names)
        if value is None:
            return default
        arguments = value
        if is_template(value):
            once = self._single(value)
            value = self._set_once(names[0], value) if once is None else once
        found = text_rewriter.as_bool(value)
        if found is None:
            if is_template(arguments):
                raise TemplateArgument(names[0], arguments)
            raise NotConvertible(f"{names[0]} is neither true nor false: {arguments}")
        return found

    def value(self, *names: str) -> Any:
        """A value of any kind in ccm's syntax."""
        value = self.raw(*names)
        if holds_vaulted(value):
            raise NotConvertible("a vaulted value in this place; move it to a variable")
        return None if value is None else text_rewriter.value(value, self.scope)

    def sample(self, *names: str) -> Sample:
        """The possible values."""
        from orchestrator.ansible.jinja.possible_values import resolve

        value = self.raw(*names)
        return resolve(value, self.scope)

    def texts(self, *names: str) -> list[str] | str | None:
        """Return a list of strings, or an expression that returns a list."""
        value = self.raw(*names)
        if value is None:
            return None
        if isinstance(value, list):
            return [text_rewriter.text(str(one), self.scope) for one in value]
        if isinstance(value, str) and not is_template(value):
            return [
                text_rewriter.plain_text(one.strip()) for one in value.split(",") if one.strip()
            ]
        parts = [one.strip() for one in _BETWEEN.split(str(value)) if one.strip()]
        known = self.sample(next(one for one in names if one in self._args))
        single = known.all_kinds() == {"text"} and not known.open and bool(known.values)
        if len(parts) > 1 or (single and not any("," in str(one) for one in known.values)):
            return [text_rewriter.text(one, self.scope) for one in parts]
        return text_rewriter.text(str(value), self.scope)

    def listed(self, *names: str) -> list[str]:
        """The same as a list, or as one expression if the value is one; empty if it is omitted."""
        found = self.texts(*names)
        return found if isinstance(found, list) else [found] if found else []

    def texts_by_name(self, *names: str, **others: str) -> dict[str, str]:
        """Return the strings that are set, by property name. In ``others``, an argument has another
        name than its property.
        """
        own = {**dict.fromkeys(names), **others}
        found = {key: self.text(name or key) for key, name in own.items()}
        return {key: text for key, text in found.items() if text is not None}

    def booleans_by_name(self, *names: str, default: bool | None = None) -> dict[str, Any]:
        """The booleans that are set, except those with ccm's default value."""
        found = {
            name: self.boolean(name) if default is None else self.boolean_or(default, name)
            for name in names
        }
        return {name: one for name, one in found.items() if one is not None and one is not default}

    def printed(self, name: str) -> str | None:
        """Return a string in which a possible boolean variable is formatted as by Ansible."""
        raw = self.raw(name)
        node = only_expression(raw) if is_template(raw) else None
        if node is None or "bool" not in self.sample(name).all_kinds():
            return self.text(name)
        return "{{ " + printed(node, self.scope) + " }}"

    def check_text(self, name: str) -> None:
        """NotConvertible for a value that may be a list or map, which Ansible writes as JSON.

        Marked if Ansible drops a newline.
        """
        value = str(self.raw(name))
        if not is_template(value):
            return
        if self.sample(name).all_kinds() - {"text", "number", "bool"}:
            raise NotConvertible("content that might not be text, which Ansible writes as JSON")
        if loses_newline(value, self.scope):
            self.checks.append(LOST_NEWLINE)

    def mode(self, *names: str, directory: bool = False) -> str | None:
        """An octal mode, None if none is set. X means x for a directory."""
        value = self.raw(*names)
        if value is None or value == "":
            return None
        if isinstance(value, bool):
            raise NotConvertible("mode is a boolean")
        if isinstance(value, int):
            return f"{value:04o}"
        if is_template(value):
            return text_rewriter.text(value, self.scope)
        text = str(value).strip()
        if re.fullmatch(r"(0o)?[0-7]{3,5}", text):
            return text if text.startswith("0") or len(text) > 3 else f"0{text}"
        return symbolic_mode(text.replace("X", "x") if directory else text)

    def finish(self) -> None:
        """NotConvertible if an argument was not read."""
        left = sorted(set(self._args) - self._read)
        if left:
            which = f"parameter{'s' if left[1:] else ''} {', '.join(left)}"
            raise NotConvertible(f"ccm has no equivalent of the {which}")

    def is_omitted(self, name: str, value: str) -> bool:
        """Whether an argument with this value would be omitted."""
        return self._without_omit(name, value) is None

    def _without_omit(self, name: str, value: Any) -> Any:
        if isinstance(value, Vaulted) or not is_template(value) or "omit" not in value:
            return value
        node = only_expression(value)
        if node is None:
            return value
        decided = self.omissions.decided(name, node)
        if decided is node:
            return value
        return None if decided is None else "{{ " + unparse(decided) + " }}"


def shell_word(text: str) -> str:
    """Return a ccm string as one shell word; NotConvertible if it cannot be quoted."""
    if "{{" not in text:
        return shlex.quote(text)
    plain = re.sub(r"\{\{.*?\}\}", "", text, flags=re.DOTALL)
    if re.search(r'["$`\\]', plain):
        raise NotConvertible("quotes around a variable in a word of a command")
    return f'"{text}"'


def symbolic_mode(text: str) -> str:
    """A mode such as ``u=rw,g=r,o=`` in octal; NotConvertible if it depends on the file."""
    bits: dict[str, int] = {}
    special = 0
    for part in text.replace(" ", "").split(","):
        match = re.fullmatch(r"([ugoa]*)=([rwxXst]*)", part)
        if match is None or "X" in match.group(2):
            raise NotConvertible(f"the mode {text}, which depends on the current mode")
        number = sum(_SYMBOLS[one] for one in set(match.group(2)) if one in _SYMBOLS)
        special |= sum(_SPECIAL.get((who, one), 0) for who in match.group(1) or "a"
                       for one in set(match.group(2)))  # fmt: skip
        for who in match.group(1) or "a":
            bits.update({who: number} if who != "a" else {"u": number, "g": number, "o": number})
    if set(bits) != {"u", "g", "o"}:
        raise NotConvertible(f"the mode {text}, which depends on the current mode")
    return f"{special >> 9}{bits['u']}{bits['g']}{bits['o']}"


def number_or_text(text: str) -> int | str:
    """Return a string as a number if it is one."""
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else text


def expression_of(value: Any, scope: Scope) -> str:
    """A value as an expression without braces."""
    from orchestrator.ansible.jinja.parsing import tree_of

    return unparse(translate(tree_of(value), scope))
