"""Text with expressions in it, and encrypted values as expressions (controller)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from inventory.yaml_document import EncryptedScalar
from orchestrator.expressions.expression import Expression
from orchestrator.expressions.inventory_view import NO_INVENTORY
from orchestrator.expressions.scan import UnclosedError, scan
from orchestrator.expressions.scope import Scope
from orchestrator.expressions.simple_paths import Runnable
from orchestrator.language.cost_limits import MAX_TEXT
from orchestrator.language.errors import EvaluationError
from orchestrator.language.value_types import as_text
from remote_runtime.errors import InputError, Position, Problem

Locate = Callable[[str, int], Position | None]
"""Returns the position of a piece of a string, from the piece as written and its offset."""


MAX_EXPRESSIONS = 100_000  # expressions of one text; each takes some microseconds per host
MAX_RENDERED = 4 * MAX_TEXT  # size of the text with all results of its expressions

_ALIKE = r"\b(?:Groups|Hosts|template|jet)\b"
"""Matches expressions that may take long and return the same result on every host."""


class Template:
    """A string with at least one expression; immutable, shared by all threads.

    ``may_be_alike``: rendering may take long and return the same text on every host.
    """

    __slots__ = ("may_be_alike", "pieces")

    def __init__(self, pieces: tuple[str | Expression, ...]) -> None:
        self.pieces = pieces
        self.may_be_alike = any(
            not isinstance(piece, str) and re.search(_ALIKE, piece.source) for piece in pieces
        )

    @classmethod
    def parse(
        cls, text: str, locate: Locate, lenient: bool = False, extra: tuple[str, ...] = ()
    ) -> Template:
        """Check every expression of a string; InputError with all problems. ``extra`` has names in
        addition to those of every scope.
        """
        try:
            found = scan(text)
        except UnclosedError as error:
            where = locate(text[error.start : error.start + 2], error.start)
            hint = "close it, or write {{ '{{' }} for literal braces"
            raise InputError([Problem(str(error), where, hint, "template")]) from error
        if len(found) > MAX_EXPRESSIONS:
            where = locate(text[found[0].start : found[0].end], found[0].start)
            what = (
                f"{len(found):,} expressions in one text; at most {MAX_EXPRESSIONS:,} are allowed"
            )
            hint = "use a loop in a template file, or split it"
            raise InputError([Problem(what, where, hint, "template")])
        pieces: list[str | Expression] = []
        problems: list[Problem] = []
        at = 0
        for source, start, end in found:
            if start > at:
                pieces.append(text[at:start])
            try:
                where = locate(text[start:end], start)
                inside = _Inside(text, source, start=start, end=end, locate=locate)
                pieces.append(
                    Expression.parse(source, where, lenient=lenient, extra=extra, locate=inside)
                )
            except InputError as error:
                problems += error.problems
            at = end
        if problems:
            raise InputError(problems)
        return cls((*pieces, text[at:]) if at < len(text) else tuple(pieces))

    @staticmethod
    @lru_cache(maxsize=256)
    def parse_file(text: str, name: str, lenient: bool, extra: tuple[str, ...]) -> Template:
        """The template of a local file; EvaluationError, because it is read while a
        host is planned.
        """
        from orchestrator.language.cursor import Positions  # only files need it

        positions = Positions(name, text)
        try:
            return Template.parse(text, lambda _, offset: positions.of(offset), lenient, extra)
        except InputError as error:
            raise EvaluationError("; ".join(map(str, error.problems))) from error

    @property
    def expressions(self) -> list[Expression]:
        """The expressions in the order in which they occur in the text."""
        return [piece for piece in self.pieces if isinstance(piece, Expression)]

    def render(self, scope: Scope) -> Any:
        """The text, or the value itself if the whole text is one expression."""
        if self.may_be_alike and scope.inventory is not NO_INVENTORY:
            return scope.inventory.renderings.render(self, scope, self._render)
        return self._render(scope)

    def _render(self, scope: Scope) -> Any:
        if len(self.pieces) == 1 and isinstance(self.pieces[0], Expression):
            return self.pieces[0].evaluate(scope)
        return self.render_text(scope)

    def render_text(self, scope: Scope, text_of: Callable[[Any], str] = as_text) -> str:
        """The text, even of a single expression; EvaluationError if it is larger than
        ``MAX_RENDERED``: values that read each other twice grow with every step.

        ``text_of`` returns the text of a value.
        """
        texts, size = [], 0
        for piece in self.pieces:
            if isinstance(piece, str):
                texts.append(piece)
                continue
            text = text_of(piece.evaluate(scope))
            size += len(text)
            if size > MAX_RENDERED:
                message = f"the text is longer than {MAX_RENDERED:,} characters"
                raise EvaluationError(message, piece.where)
            texts.append(text)
        return "".join(texts)


class _Inside:
    """Returns the position of an offset in one expression of a string."""

    def __init__(self, text: str, source: str, *, start: int, end: int, locate: Locate) -> None:
        self._text, self._end, self._locate = text, end, locate
        self._begin = text.index(source, start)

    def __call__(self, offset: int) -> Position | None:
        at = self._begin + offset
        return self._locate(self._text[at : self._end], at)


def render_value(value: Any, scope: Scope) -> Any:
    """Render every Template in a tree of lists and maps; parts without templates are shared."""
    if isinstance(value, Template):
        return value.render(scope)
    if isinstance(value, TemplatedMap):
        return {
            as_text(render_value(key, scope)): render_value(entry, scope)
            for key, entry in value.entries
        }
    if isinstance(value, TemplatedList):
        return [render_value(entry, scope) for entry in value.entries]
    return value


class TemplatedMap:
    """A map with a Template somewhere below it; keys may also be templates."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[tuple[Any, Any]]) -> None:
        self.entries = entries


class TemplatedList:
    """A list with a Template somewhere below it."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[Any]) -> None:
        self.entries = entries


TEMPLATED = (Template, TemplatedMap, TemplatedList)


class EncryptedValue(Runnable):
    """The program of such an expression: it decrypts the value when it is evaluated."""

    def __init__(self, tag: str, text: str) -> None:
        self.tag = tag
        self.text = text

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The plain text; EvaluationError."""
        return scope.encrypted(self.tag, self.text)


def encrypted_template(node: EncryptedScalar) -> Template:
    """The value as a template of one expression."""
    program = EncryptedValue(node.tag, node.text)
    return Template((Expression(f"!{node.tag}", node.position, program),))
