"""Rewrites whole templates: text between the tags is not changed (controller)."""

import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import trailing_newline
from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import parse_expression, parse_template
from orchestrator.ansible.jinja.possible_values import below, elements, map_values, sample_of
from orchestrator.ansible.jinja.scope import OPEN, Sample, Scope
from orchestrator.ansible.jinja.tags import Piece, pieces
from orchestrator.ansible.jinja.unparse import iterable, literal, unparse
from orchestrator.ansible.jinja.value_expressions import printed
from orchestrator.ansible.problems import NotConvertible

_HEADER = re.compile(r"#jinja2:[^\n]*\n")
_FLAG = re.compile(r"\b(trim_blocks|lstrip_blocks)\s*:\s*['\"]?(true|yes)?", re.IGNORECASE)
_CHANGE = re.compile(r"(?:set\s+\w+\s*=\s*|do\s+)(\w+)\.(append|extend|update)\((.*)\)", re.DOTALL)
"""A statement that changes a list or a map."""
_NEW_VALUE = re.compile(r"set\s+(\w+)\s*=\s*(?![\w.]+\s*$).*", re.DOTALL)
"""A value that no other variable has, too."""


@dataclass
class Rewritten:
    """A converted template, and the parts that could not be converted, by line."""

    text: str
    problems: list[tuple[int, str]] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)


def template_text(text: str, scope: Scope) -> str:
    """Return a string with statements in ccm's syntax. NotConvertible."""
    result = rewrite(text, scope)
    if result.problems:
        raise NotConvertible(result.problems[0][1])
    return result.text


def rewrite(
    text: str, scope: Scope, *, path: str = "", header: str = "", included: bool = False
) -> Rewritten:
    """Convert a whole template. ``path`` is relative to the templates of its role.

    ``header`` is an additional line with options for Jinja. ``included``: only other templates
    read it.
    """
    found = _HEADER.match(text)
    own = found.group() if found else ""
    result = Rewritten("")
    if re.search(r"(variable|block|comment)_(start|end)_string", own):
        result.text = text
        result.problems.append((1, "a template with custom delimiters"))
        return result
    changed = _changed_names(text) - _shared_names(parse_template(text))
    writer = _Writer(scope.having(whole=True), path, result, changed)
    if included:
        text = trailing_newline.of_included(text)
    else:
        flags = {match[1]: bool(match[2]) for match in _FLAG.finditer(header + own)}
        strips, trims = flags.get("lstrip_blocks", False), flags.get("trim_blocks", True)
        end = trailing_newline.adapted(text[len(own) :], scope, strips_left=strips, trims=trims)
        text = own + end
    result.text = header + "".join(writer.piece(one) for one in pieces(text))
    return result


def _changed_names(text: str) -> set[str]:
    """The lists and maps of a template that it changes: each becomes the value of a namespace."""
    statements = [one.text.strip() for one in pieces(text) if one.kind == "statement"]
    changed = {match[1] for one in statements if (match := _change_of(one))}
    made = {match[1] for one in statements if (match := _NEW_VALUE.fullmatch(one))}
    return changed & made


def _change_of(statement: str) -> re.Match[str] | None:
    """The parts of a statement that does nothing but change a list or a map."""
    match = _CHANGE.fullmatch(statement)
    if match is None:
        return None
    try:
        call = parse_expression(statement[match.start(1) :])
    except NotConvertible:
        return None
    method = call.node if isinstance(call, nodes.Call) else None
    is_alone = isinstance(method, nodes.Getattr) and isinstance(method.node, nodes.Name)
    return match if is_alone else None


def _shared_names(tree: nodes.Template) -> set[str]:
    """The names whose values are also those of other variables, or in lists and maps."""
    values = [one.node for one in tree.find_all(nodes.Assign)]
    values += [one.value for one in tree.find_all(nodes.Pair)]
    values += [item for one in tree.find_all(nodes.List) for item in one.items]
    values += [item for one in tree.find_all(nodes.Tuple) for item in one.items]
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Getattr) and call.node.attr == "append":
            values += call.args
    return {one.name for one in values if isinstance(one, nodes.Name)}


_LOOP = Sample([{"first": True, "last": True}])
_ARGUMENT = Sample(kinds={"text", "bool"}, open=True)
"""An argument of a macro: if it is a boolean, Ansible prints it as Python does."""


class _Writer:
    def __init__(self, scope: Scope, path: str, result: Rewritten, changed: set[str]) -> None:
        self.scopes = [scope]
        self.changed = changed
        self.folder = posixpath.dirname(path)
        self.result = result

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    def piece(self, piece: Piece) -> str:
        """Convert a piece; if it has a problem, record the problem and return the piece
        unchanged.
        """
        if piece.kind in ("text", "comment"):
            return piece.before + piece.text + piece.after
        try:
            if piece.kind == "expression":
                body = self._expression(piece.text)
            else:
                body = self._statement(piece.text)
        except NotConvertible as error:
            self.result.problems.append((piece.line, error.reason))
            body = piece.text
            if piece.kind == "statement":
                self._keep_nesting(piece.text)
        return piece.before + body + piece.after

    def _expression(self, text: str) -> str:
        tree = parse_expression(text)
        new = printed(tree, self.scope)
        return text if new == unparse(tree) else new

    def _written(self, text: str) -> tuple[Any, str]:
        tree = parse_expression(text)
        new = unparse(translate(tree, self.scope))
        return tree, (text if new == unparse(tree) else new)

    def _keep_nesting(self, text: str) -> None:
        if _words(text)[0] in ("for", "macro", "call"):
            self.scopes.append(self.scope)

    def _statement(self, text: str) -> str:
        change = _change_of(text.strip())
        if change is not None and change[1] in self.changed:
            return self._change(*change.groups())
        word, rest = _words(text)
        method = getattr(self, f"_{word}_tag", None)
        if word in ("if", "elif"):
            return f"{word} {self._written(rest)[1]}"
        if method is not None:
            found: str = method(rest)
            return found
        if word in ("endfor", "endmacro", "endcall"):
            self.scopes.pop()
            return text
        if word in ("else", "endif", "endset", "raw", "endraw", "endfilter", "block", "endblock",
                    "endwith", "break", "continue"):  # fmt: skip
            if word in ("break", "continue"):
                raise NotConvertible(f"ccm has no {{% {word} %}}")
            return text
        raise NotConvertible(f"the statement {word}")

    def _for_tag(self, rest: str) -> str:
        tree = parse_template("{% for " + rest + " %}{% endfor %}").body[0]
        assert isinstance(tree, nodes.For)
        assert isinstance(tree.iter, nodes.Expr)
        outer = self.scope
        whole = sample_of(tree.iter, outer)
        sample = elements(whole)
        names: dict[str, Sample] = {"loop": _LOOP}
        if isinstance(tree.target, nodes.Name):
            names[tree.target.name] = sample
        else:
            words = [one.name for one in tree.target.find_all(nodes.Name)]
            pair = _of_items(tree.iter, outer) if len(words) == 2 else None
            for index, name in enumerate(words):
                names[name] = pair[index] if pair else below(sample, [index])
        iterated = iterable(translate(tree.iter, outer))
        self.scopes.append(outer.with_locals(names))
        text = f"for {unparse(tree.target).strip('()')} in {iterated}"
        if isinstance(tree.test, nodes.Expr):
            text += f" if {unparse(translate(tree.test, self.scope))}"
        return text + (" recursive" if tree.recursive else "")

    def _set_tag(self, rest: str) -> str:
        name, sign, expression = rest.partition("=")
        names = [one.strip() for one in name.split(",")]
        if not sign:
            self.scopes[-1] = self.scope.with_locals({names[0].split("|")[0].strip(): OPEN})
            return f"set {rest}"
        tree, new = self._written(expression.strip())
        sample = sample_of(tree, self.scope)
        if name.strip() in self.changed:
            name = name.strip()
            self._define(name, OPEN)
            renames = {**self.scope.renames, name: f"{name}.value"}
            self.scopes[-1] = self.scope.having(renames=renames)
            return f"set {name} = namespace(value={new})"
        if "." not in name:
            for one in names:
                self._define(one, sample if len(names) == 1 else OPEN)
        return f"set {name.strip()} = {new}"

    def _change(self, name: str, method: str, argument: str) -> str:
        """A change of a list or map, as a new value of its namespace."""
        _, new = self._written(argument)
        if method == "update":
            return f"set {name}.value = {name}.value | combine({new})"
        return (
            f"set {name}.value = {name}.value + {f'[{new}]' if method == 'append' else f'({new})'}"
        )

    def _define(self, name: str, sample: Sample) -> None:
        self.scopes[-1] = self.scope.with_locals({name: sample})

    def _macro_tag(self, rest: str) -> str:
        tree = parse_template("{% macro " + rest + " %}{% endmacro %}").body[0]
        assert isinstance(tree, nodes.Macro)
        names = {one.name: _ARGUMENT for one in tree.args}
        self._define(tree.name, OPEN)
        words = [one.name for one in tree.args]
        first = len(words) - len(tree.defaults)
        for index, default in enumerate(tree.defaults):
            words[first + index] += f"={unparse(translate(default, self.scope))}"
        extra = {"varargs": OPEN, "kwargs": OPEN, "caller": OPEN}
        self.scopes.append(self.scope.with_locals({**names, **extra}))
        return f"macro {tree.name}({', '.join(words)})"

    def _call_tag(self, rest: str) -> str:
        if rest.startswith("("):
            raise NotConvertible("{% call %} with arguments")
        _, new = self._written(rest)
        self.scopes.append(self.scope)
        return f"call {new}"

    def _filter_tag(self, rest: str) -> str:
        self._written(f"'' | {rest}")
        return f"filter {rest}"

    def _do_tag(self, rest: str) -> str:
        raise NotConvertible("{% do %}, which changes a value")

    def _with_tag(self, rest: str) -> str:
        raise NotConvertible("{% with %}")

    def _include_tag(self, rest: str) -> str:
        path, match = self._other("include", r"(.*)$", rest)
        return f"include {path}{match[3]}"

    def _extends_tag(self, rest: str) -> str:
        path, _ = self._other("extends", r"$", rest)
        return f"extends {path}"

    def _import_tag(self, rest: str) -> str:
        path, match = self._other("import", r"\s+as\s+(\w+)(.*)$", rest)
        self._define(match[3], OPEN)
        return f"import {path} as {match[3]}{match[4] or ' with context'}"

    def _from_tag(self, rest: str) -> str:
        path, match = self._other("from", r"\s+import\s+(.+?)(\s+with(?:out)? context)?$", rest)
        for word in match[3].split(","):
            self._define(word.split(" as ")[-1].strip(), OPEN)
        return f"from {path} import {match[3]}{match[4] or ' with context'}"

    def _other(self, word: str, behind: str, rest: str) -> tuple[str, re.Match[str]]:
        """The path of another template in ccm's form, and the rest of the text.

        Ansible's paths start at the templates of the role, ccm's at the template's directory.
        """
        match = re.match(r"(['\"])(.+?)\1" + behind, rest, re.DOTALL)
        if match is None:
            raise NotConvertible(f"{{% {word} %}} of a computed path")
        self.result.includes.append(match[2])
        return literal(posixpath.relpath(match[2], self.folder) if self.folder else match[2]), match


def _words(statement: str) -> tuple[str, str]:
    """The keyword of a statement, which a parenthesis may follow, and the rest of it."""
    match = re.match(r"\s*(\w*)(.*)", statement, re.DOTALL)
    assert match is not None
    return match[1], match[2].strip()


def _of_items(node: Any, scope: Scope) -> tuple[Sample, Sample] | None:
    """The keys and values of ``x.items()`` or ``x | dictsort``; None for other loops."""
    inner: Any = None
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        inner = node.node.node if node.node.attr in ("items", "iteritems") else None
    elif isinstance(node, nodes.Filter) and node.name == "dictsort":
        inner = node.node
    if inner is None:
        return None
    found = sample_of(inner, scope)
    return elements(found), map_values(found)
