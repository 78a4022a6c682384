"""``ccm.ask``: lookups on a host before its plan is made (controller)."""

import re
from typing import Any, NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar, to_plain
from orchestrator.expressions import EvaluationError, Expression, NeedFileError, Scope
from orchestrator.expressions.scan import holds_expression
from orchestrator.expressions.template import render_value
from orchestrator.manifest.checks.schema_errors import suggestion
from orchestrator.manifest.resource_types import Types
from orchestrator.manifest.value_compiler import compile_node, expressions_in, flag
from remote_runtime.errors import Position, Problem
from remote_runtime.text import duration
from remote_runtime.validation.command_rules import of_settings, of_words

KEY = "ask"
MAX_LOOKUPS = 64
MAX_SECONDS = 10.0  # of an answer
SENSITIVE = "sensitive"
_COMMAND = "command"
_PATHS = ("file", "stat")
_ANSWERS = {
    _COMMAND: ("exit_code", "stdout", "stderr"),
    "file": ("exists", "content"),
    "stat": ("exists", "kind", "mode", "owner", "group", "size", "target"),
}
_SETTINGS = ("cwd", "environment", "path", "user", "group", "umask", "timeout")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_FORM = "write NAME: {command: COMMAND}, {file: PATH} or {stat: PATH}"

Question = dict[str, Any]


class Ask(NamedTuple):
    """One lookup: its ``kind``, its subject ``of``, and ``settings`` for running a command, all
    with templates.

    ``sensitive``: the result is masked. ``types`` are those of the site, which may answer
    lookups.
    """

    name: str
    kind: str
    of: Any
    settings: dict[str, Any]
    sensitive: bool
    where: Position
    types: Types

    def expressions(self) -> list[Expression]:
        """Every expression of the lookup."""
        expressions = [*expressions_in(self.of)]
        return [
            *expressions,
            *(e for value in self.settings.values() for e in expressions_in(value)),
        ]

    def question(self, scope: Scope) -> Question:
        """The question for the host; EvaluationError."""
        try:
            of = _text(render_value(self.of, scope))
            settings = {key: _fitting(render_value(v, scope)) for key, v in self.settings.items()}
        except NeedFileError as error:
            message = (
                f"{self.told}: {error.path!r} is a file on the target, which a lookup cannot read"
            )
            raise EvaluationError(message, self.where) from error
        for message in complaints(self.kind, of, settings, self.types):
            raise EvaluationError(f"{self.told}: {message}", self.where, KEY)
        return {"kind": self.kind, "of": of, **settings}

    @property
    def answers(self) -> list[str]:
        """The names of the values in its answer."""
        return list(_ANSWERS.get(self.kind) or answers_of(self.kind, self.types))

    @property
    def told(self) -> str:
        """The name of the lookup in messages."""
        return f"{KEY}.{self.name}"


Asks = dict[str, Ask]


def read_asks(node: Node | None, types: Types, problems: list[Problem]) -> Asks:
    """The lookups below ``ccm.ask``; mistakes are appended to ``problems``."""
    if not isinstance(node, Mapping) or not node.entries:
        if node is not None:
            what = "an empty map" if isinstance(node, Mapping) else node.describe()
            message = f"{KEY} must be a map of lookups, not {what}"
            problems.append(Problem(message, node.position, _FORM, "input.type"))
        return {}
    if len(node.entries) > MAX_LOOKUPS:
        message = f"{KEY} has {len(node.entries)} lookups; at most {MAX_LOOKUPS} are allowed"
        problems.append(Problem(message, node.position, "", "input"))
    result = {}
    for key, value in node.pairs():
        if not _NAME.match(key.text):
            message = f"{key.text!r} cannot be the name of a lookup"
            hint = "use letters, digits and underscores, so that Asked.NAME can be written"
            problems.append(Problem(message, key.position, hint, "input"))
            continue
        ask = _read(key, value, types, problems)
        if ask is not None:
            result[key.text] = ask
    return result


def _read(key: Scalar, node: Node, types: Types, problems: list[Problem]) -> Ask | None:
    told = f"{KEY}.{key.text}"
    if not isinstance(node, Mapping):
        message = f"{told} must be a map that says what to look up, not {node.describe()}"
        problems.append(Problem(message, node.position, _FORM, "input.type"))
        return None
    before = len(problems)
    named = [word for word, _ in node.pairs() if _is_kind(word.text, types)]
    kind = named[0].text if named else ""
    options = (SENSITIVE, *(_SETTINGS if kind in ("", _COMMAND) else ()))
    for word, _ in node.pairs():
        if word not in named and word.text not in options:
            hint = suggestion(word.text, [*options] if named else [*kinds(types), *options])
            message = f"{told}: there is no kind of lookup {word.text!r}"
            message = f"{told}: {kind}: unknown key {word.text!r}" if named else message
            problems.append(Problem(message, word.position, hint, "input.unknown"))
    if len(named) > 1:
        message = f"{told} has both {named[0].text} and {named[1].text}"
        hint = "a lookup answers one question: write two lookups"
        problems.append(Problem(message, named[1].position, hint, "input"))
    if not named and len(problems) == before:
        message = f"{told} must have one of {', '.join(kinds(types))}"
        problems.append(Problem(message, node.position, "", "input"))
    if len(problems) > before:
        return None
    ask = Ask(
        name=key.text,
        kind=kind,
        of=_compiled(told, kind, node.value(kind), problems),
        settings={
            word.text: _compiled(told, word.text, value, problems)
            for word, value in node.pairs()
            if word.text in _SETTINGS
        },
        sensitive=flag(node.get(SENSITIVE), f"{told}: {SENSITIVE}", problems),
        where=key.position,
        types=types,
    )
    if len(problems) == before:
        _check(ask, node, problems)
    return ask if len(problems) == before else None


def _is_kind(word: str, types: Types) -> bool:
    return word in (_COMMAND, *_PATHS) or bool(answers_of(word, types))


def kinds(types: Types) -> list[str]:
    """The kinds of lookups: built-in ones, and types that can report about a resource."""
    of_types = [name for name in types.names() if answers_of(name, types)]
    return [_COMMAND, *_PATHS, *(name for name in of_types if name not in _PATHS)]


def answers_of(kind: str, types: Types) -> dict[str, str]:
    """Return the answers of a type about a resource, by name."""
    type_ = types.get(kind)
    return dict(type_.answers) if type_ is not None else {}


def _compiled(told: str, key: str, node: Node, problems: list[Problem]) -> Any:
    is_list = key == "environment"
    if not is_list and not (isinstance(node, Scalar) and node.kind in ("str", "int")):
        message = f"{told}: {key} must be text, not {node.describe()}"
        problems.append(Problem(message, node.position, "", "input.type"))
        return ""
    plain = to_plain(node)
    if is_list and not (isinstance(plain, list) and all(isinstance(one, str) for one in plain)):
        message = f"{told}: {key} must be a list of KEY=value, not {node.describe()}"
        problems.append(Problem(message, node.position, "", "input.type"))
        return []
    return compile_node(node, problems)


def _check(ask: Ask, node: Mapping, problems: list[Problem]) -> None:
    """Check the parts of a lookup that are not templates."""
    for expression in ask.expressions():
        if "Asked" in expression.source:
            message = f"{ask.told} reads Asked, but a lookup cannot use the answer of another one"
            hint = "combine both in one command, or move this one to a child manifest"
            problems.append(Problem(message, expression.where, hint, "template"))
        for path in expression.target_files():
            message = f"{ask.told}: file({path!r}) reads a file on the target"
            problems.append(Problem(message, expression.where, "use a file lookup", "template"))
    of, plain = to_plain(node.value(ask.kind)), {}
    for key in ask.settings:
        value = to_plain(node.value(key))
        if not holds_expression(str(value)):
            plain[key] = _fitting(value)
    known = not holds_expression(str(of))
    messages = complaints(ask.kind, _text(of) if known else None, plain, ask.types)
    problems += [Problem(f"{ask.told}: {message}", ask.where, "", "input") for message in messages]


def complaints(kind: str, of: str | None, settings: dict[str, Any], types: Types) -> list[str]:
    """The problems of final values; None represents an unknown value."""
    if kind == _COMMAND:
        found = [*of_words(kind, of), *of_settings(kind, settings)]
        messages = [message for _, message in found]
        if not found and _seconds(settings.get("timeout")) > MAX_SECONDS:
            messages.append(
                f"timeout must be at most {MAX_SECONDS:.0f}s, not {settings['timeout']}"
            )
        return messages
    if of is None:
        return []
    if kind in _PATHS:
        is_path = of.startswith("/") and of.isprintable()
        return [] if is_path else [f"{kind} must be an absolute path, not {of!r:.200}"]
    type_ = types.get(kind)
    return [one.message for one in type_.name_complaints(of)] if type_ else []


def _seconds(text: Any) -> float:
    return duration.parse(str(text)) if text is not None else 0.0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _fitting(value: Any) -> Any:
    return value if isinstance(value, list) else _text(value)
