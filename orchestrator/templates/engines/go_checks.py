"""Finds paths of ``lookup`` in Go templates that a host must not be able to choose (controller).

gotpl has no hook between parsing and compiling, so its parser reads the text a second time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from gotpl.parse.nodes import (
    CommandNode,
    IdentifierNode,
    ParenthesizedNode,
    PipeNode,
    StringNode,
)
from gotpl.parse.parser import parse_template

from orchestrator.language.lookup_paths import BadPathError, PathText, check_path_text


def lookup_problems(
    text: str, delimiters: tuple[str, str], functions: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """The problems of the paths that a template looks up, each with its offset in the text.

    TemplateSyntaxError of gotpl.
    """
    left, right = delimiters
    parsed = parse_template(
        text, left_delimiter=left, right_delimiter=right, functions=frozenset(functions)
    )
    for pipe in _pipes(parsed):
        for number, command in enumerate(pipe.commands):
            words = [*command.arguments, *pipe.commands[number - 1 : number]]
            if _name(words[0]) != "lookup" or len(words) == 1:
                continue
            try:
                check_path_text(words[1], _path_text)
            except BadPathError as error:
                yield f"lookup: {error}", command.start


def _pipes(node: Any) -> Iterator[PipeNode]:
    if isinstance(node, PipeNode):
        yield node
    if isinstance(node, tuple):
        for one in node:
            yield from _pipes(one)
    elif is_dataclass(node):
        for field in fields(node):
            yield from _pipes(getattr(node, field.name))


def _name(node: Any) -> str:
    return node.name if isinstance(node, IdentifierNode) else ""


def _path_text(node: Any) -> PathText:
    """Return how a string is computed; a command is a part before a pipe."""
    if isinstance(node, ParenthesizedNode) and not node.fields:
        return _path_text(node.pipeline)
    if isinstance(node, PipeNode) and len(node.commands) == 1:
        return _path_text(node.commands[0])
    if isinstance(node, CommandNode):
        return _of_call(node.arguments)
    return PathText(node.value, literal=True) if isinstance(node, StringNode) else PathText()


def _of_call(words: Sequence[Any]) -> PathText:
    name, given = _name(words[0]), words[1:]
    if len(words) == 1:
        return _path_text(words[0])
    if name == "print":
        return PathText(joined=given)
    if name == "printf" and isinstance(given[0], StringNode):
        return PathText(given[0].value.split("%")[0], literal="%" not in given[0].value)
    if name == "ternary" and len(given) == 3:
        return PathText(either=given[:2])
    return PathText()
