"""``@require``, ``@validate`` and ``@secret`` in the comments under ``data`` (controller)."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar, Sequence, comments_before
from orchestrator.expressions import EvaluationError, Expression, FactsUnavailableError, Scope
from remote_runtime.errors import InputError, Position, Problem
from remote_runtime.reporting.masking import SHORTEST
from remote_runtime.text.suggestions import nearest

_WORD = r"@([A-Za-z_]\w*)\s*(.*)\Z"
_QUOTED_OR_NEXT = r"""(?<!\w)'[^']*'|"[^"]*"|`[^`]*`|\s(?=@[A-Za-z_])"""
_TRAILING = r"\s#\s*(@[A-Za-z_].*)\Z"
_KNOWN = ("require", "required", "validate", "secret")
_VALUE_NAMES = ("value", "Value")

Path = tuple[str, ...]
"""Keys below ``data``; ``*`` matches every entry of a list."""


class Annotation(NamedTuple):
    """One annotation of one key. ``check`` belongs to ``validate``."""

    word: str
    path: Path
    where: Position
    check: Expression | None = None


def read_annotations(
    data: Node | None, problems: list[Problem], warnings: list[Problem]
) -> list[Annotation]:
    """Every annotation below ``data``. Unreadable annotations become problems or warnings."""
    if not isinstance(data, Mapping) or "@" not in data.source.text:
        return []
    result = []
    for path, key, value in _walk(data, ()):
        for word, rest in _marks(_comments(key, value)):
            if word not in _KNOWN:
                likely = nearest(word, _KNOWN)
                hint = f"did you mean @{likely}?" if likely else "known: @" + ", @".join(_KNOWN)
                message = f"@{word} is not an annotation"
                warnings.append(Problem(message, key.position, hint, "input.annotation"))
                continue
            check = _check(rest, key.position, problems) if word == "validate" else None
            word = "require" if word == "required" else word
            result.append(Annotation(word, path, key.position, check))
    return result


def check_annotations(annotations: list[Annotation], data: Any, scope: Scope) -> list[Problem]:
    """The problems of merged data that does not satisfy its annotations."""
    problems = []
    seen = set()
    for annotation in annotations:
        # Those in the entries of a list share a path, which covers all entries: one is enough.
        check = annotation.check
        meaning = annotation.word, annotation.path, check.source if check is not None else ""
        if annotation.word == "secret" or meaning in seen:
            continue
        seen.add(meaning)
        name = "data." + ".".join(annotation.path)
        for value in _values(data, annotation.path) or [None]:
            if annotation.word == "require" and value in (None, "", [], {}):
                message = f"{name} is required and has no value"
                hint = "set it under data, in an override, with --hiera or with --data"
                problems.append(Problem(message, annotation.where, hint, "data.required"))
            elif annotation.check is not None and value not in (None, ""):
                message = _refusal(annotation.check, value, scope)
                if message:
                    problems.append(
                        Problem(f"{name}: {message}", annotation.where, "", "data.invalid")
                    )
    return problems


def secrets(annotations: list[Annotation], data: Any) -> list[str]:
    """Return the strings that ``@secret`` marks, of at least ``SHORTEST`` characters."""
    result: dict[str, None] = {}
    # Those in the entries of a list share a path, which covers all entries.
    for path in dict.fromkeys(one.path for one in annotations if one.word == "secret"):
        for value in _values(data, path):
            result.update(dict.fromkeys(_texts(value)))
    return [text for text in result if len(text) >= SHORTEST]


def _marks(comments: list[str]) -> Iterator[tuple[str, str]]:
    """The ``@words`` of comments, each with the text up to the next one."""
    for comment in comments:
        if not re.match(_WORD, comment):
            continue
        breaks = [m.start() for m in re.finditer(_QUOTED_OR_NEXT, comment) if m[0].isspace()]
        for start, end in zip([0, *breaks], [*breaks, None], strict=True):
            match = re.match(_WORD, comment[start:end].strip())
            if match is not None:
                yield match[1], match[2]


def _comments(key: Scalar, value: Node) -> list[str]:
    lines = key.source.lines
    comments = comments_before(key)
    numbers = {key.line - 1}
    if isinstance(value, Scalar) and "\n" not in value.text:
        numbers.add(value.line - 1)
    for number in sorted(numbers):
        match = re.search(_TRAILING, lines[number])
        quoted = isinstance(value, Scalar) and match is not None and match.group(1) in value.text
        if match and not quoted:
            comments.append(match.group(1))
    return comments


def _walk(node: Node, path: Path) -> Iterator[tuple[Path, Scalar, Node]]:
    if isinstance(node, Mapping):
        for key, value in node.pairs():
            yield (*path, key.text), key, value
            yield from _walk(value, (*path, key.text))
    elif isinstance(node, Sequence):
        for value in node.nodes:
            yield from _walk(value, (*path, "*"))


def _check(text: str, where: Position, problems: list[Problem]) -> Expression | None:
    if not text:
        hint = "write, for example, @validate isIP"
        problems.append(Problem("@validate requires a condition", where, hint, "input.annotation"))
        return None
    from orchestrator.manifest.checks.validators import VALIDATORS

    try:
        return Expression.parse(text, where, extra=(*_VALUE_NAMES, *VALIDATORS))
    except InputError as error:
        problems.extend(error.problems)
        return None


def _refusal(check: Expression, value: Any, scope: Scope) -> str:
    from orchestrator.manifest.checks.validators import VALIDATORS

    names = {**dict.fromkeys(_VALUE_NAMES, value), **VALIDATORS}
    source = check.source.strip()
    try:
        validator = VALIDATORS.get(source)
        result = validator(value) if validator else check.evaluate(scope, names)
    except EvaluationError as error:
        if isinstance(error, FactsUnavailableError) and scope.facts.are_partial:
            return ""  # the host decides
        return f"@validate {source}: {error.message}"
    if result is True:
        return ""
    if result is False:
        what = "the value"
        if validator and isinstance(value, list):
            what = f"entry {next(i for i, e in enumerate(value) if not validator(e))}"
        return f"{what} does not satisfy @validate {source}"
    return f"@validate {source} returns {result!r}, not true or false"


def _values(tree: Any, path: Path) -> list[Any]:
    if not path:
        return [tree]
    if path[0] == "*" and isinstance(tree, list):
        return [value for entry in tree for value in _values(entry, path[1:])]
    if isinstance(tree, dict) and path[0] in tree:
        return _values(tree[path[0]], path[1:])
    return []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _texts(entry)
    elif isinstance(value, str):
        yield value
    elif value is not None and not isinstance(value, bool):
        yield str(value)
