"""Reads YAML into nodes that keep their positions; shared by the inventory and the manifest.

Runs on the controller. PyYAML's C parser delivers events, and the tree is built straight from them:
``yaml.compose`` costs several times more, because it resolves every tag in Python.

    root = read_document("hosts.yaml")          # Node tree, InputError with every problem
    root.get("hosts").position                  # hosts.yaml:3:3
    to_plain(root)                              # dict, list, str, int, float, bool, None
    comments_before(root.key("hosts"))          # the comment lines above the key

Refused, each with its position: broken YAML, a second document, duplicate keys, keys that are not
text or a number, tags beyond YAML's own scalars, more than a hundred %TAG directives, an alias that
contains itself, aliases that expand to more than a million nodes, nesting deeper than 100, a
document beyond 64 MiB.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from inventory.builder import Builder
from inventory.document_nodes import (
    EncryptedScalar,
    Mapping,
    Node,
    Scalar,
    Sequence,
    Source,
    comments_before,
    node_at,
    to_plain,
)
from remote_runtime.errors import InputError, Position, Problem

__all__ = [
    "EncryptedScalar",
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "Source",
    "ambiguous_values",
    "comments_before",
    "node_at",
    "parse_data",
    "parse_document",
    "read_data",
    "read_document",
    "read_text",
    "refuse_encrypted",
    "to_plain",
]

MAX_BYTES = 64 * 1024 * 1024
MAX_TAG_DIRECTIVES = 100

# a pair, or any other escape, so that an escaped backslash is never taken for the start of a pair
_ESCAPE = r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})|\\."
_TAG_DIRECTIVE = "(?:^|[\n\r\x85\u2028\u2029])\ufeff?%TAG"
_JSON = r'\s*\{\s*("|\Z)'
_OF_JSON = {
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Unterminated string starting at": "the string that starts here is not closed",
    "Invalid control character at": "unescaped line break in a string",
    "Extra data": "unexpected text after the last bracket",
}
_BRACKET = "a bracket is not closed, or a comma is missing"
_OF_YAML = (
    ("cannot start any token", "a value cannot start with this character", "put it in quotes"),
    (
        "mapping values are not allowed",
        "a key is not allowed here",
        "check the indentation, or quote text that contains ': '",
    ),
    (
        "could not find expected ':'",
        "the key on line {} has no colon",
        "write 'key: value', with a space after the colon",
    ),
    (
        "block sequence entries are not allowed",
        "a list item is not allowed here",
        "start the list on a new line",
    ),
    (
        "found unexpected end of stream",
        "the quoted text that starts on line {} is not closed",
        "add the missing quote",
    ),
    ("expected ',' or ']'", "expected a comma or ] in the list that starts on line {}", _BRACKET),
    ("expected ',' or '}'", "expected a comma or } in the map that starts on line {}", _BRACKET),
    (
        "did not find expected key",
        "expected a key of the map that starts on line {}",
        "all lines of one map must start in the same column",
    ),
    (
        "did not find expected '-'",
        "expected '- ' in the list that starts on line {}",
        "all items of one list must start in the same column",
    ),
    ("did not find expected node content", "expected a value", _BRACKET),
    ("found undefined alias", "the alias has no anchor", "quote text that begins with *"),
    (
        "did not find expected hexdecimal number",  # libyaml's spelling
        "expected hexadecimal digits after \\x, \\u or \\U",
        "write \\\\ for a backslash",
    ),
    ("found unknown escape", "unknown escape in quoted text", "write \\\\ for a backslash"),
    ("<document start>", "unexpected text after the end of the value", ""),
)
"""Parts of the errors of libyaml with ccm's messages and hints; {} is the line of the context."""


def read_document(path: str | Path, problems: list[Problem] | None = None) -> Node:
    """Read one YAML (or JSON) file; see ``parse_document``. The file's name is used as given."""
    return parse_document(read_text(path), str(path), problems)


def parse_document(
    text: str, name: str, problems: list[Problem] | None = None, *, yaml11: bool = False
) -> Node:
    """Read one YAML document; an empty one is a null scalar at line 1.

    Scalars are read by the core schema of YAML 1.2, with ``yaml11`` by YAML 1.1. Values with the
    tags ``!vault`` and ``!age`` are refused; ``parse_data`` accepts them.

    With a list of ``problems``, problems that leave the tree usable (a duplicate key, an
    unsupported tag) are appended to it, so that the caller can report them together with its own.
    Without one, they are raised. Invalid YAML always raises InputError.
    """
    collected: list[Problem] = [] if problems is None else problems
    root = _root(text, name, collected, yaml11)
    refuse_encrypted(root.source.encrypted, collected)
    if problems is None and collected:
        raise InputError(collected)
    return root


def read_data(path: str | Path, problems: list[Problem] | None = None) -> Node:
    """Read one file whose values may be encrypted; see ``parse_data``."""
    return parse_data(read_text(path), str(path), problems)


def parse_data(text: str, name: str, problems: list[Problem] | None = None) -> Node:
    """Read one document as ``parse_document`` does; values with the tags ``!vault`` and ``!age``
    are nodes of the class ``EncryptedScalar``.
    """
    collected: list[Problem] = [] if problems is None else problems
    root = _root(text, name, collected, False)
    if problems is None and collected:
        raise InputError(collected)
    return root


def _root(text: str, name: str, problems: list[Problem], yaml11: bool) -> Node:
    source = Source(name, _without_surrogates(text.removeprefix("\ufeff")))
    refuse_control_characters(source)
    refuse_tag_directives(source)
    try:
        return Builder(source, problems, yaml11=yaml11).build()
    except yaml.YAMLError as error:
        raise InputError([*problems, _syntax_problem(error, source)]) from error


def refuse_encrypted(values: Iterable[EncryptedScalar], problems: list[Problem]) -> None:
    """Report encrypted values in places where they would not be decrypted."""
    for node in values:
        message = f"a value encrypted with !{node.tag} is allowed only in data and overrides"
        hint = "put it into the data, and read it with {{ Data.NAME }}"
        problems.append(Problem(message, node.position, hint, "input.encrypted"))


def ambiguous_values(root: Node) -> list[Problem]:
    """A note for each unquoted value of a document that is text here but something else in YAML
    1.1.
    """
    source = root.source
    return [
        Problem(
            f"{text} is text here; YAML 1.1 reads {reading}",
            source.position(line, column),
            f'write "{text}"' + (f", or {reading}" if reading in ("true", "false") else ""),
            "input.yaml11",
        )
        for line, column, text, reading in source.ambiguous
    ]


def read_text(path: str | Path) -> str:
    """The text of a file; InputError if it is missing, unreadable, too large or not UTF-8."""
    name = str(path)
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        hint = "check the path" if isinstance(error, FileNotFoundError) else ""
        problem = Problem(f"cannot read {name}: {error.strerror}", None, hint, "input.unreadable")
        raise InputError([problem]) from error
    if len(data) > MAX_BYTES:
        message = f"{name} is larger than {MAX_BYTES // 1024 // 1024} MiB"
        raise InputError([Problem(message, None, "split it", "input.too_large")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        where = _position_at(Source(name, good), len(good))
        problem = Problem("this is not UTF-8 text", where, "save it as UTF-8", "input.encoding")
        raise InputError([problem]) from error


def _without_surrogates(text: str) -> str:
    """Join surrogate pairs, because JSON writes a character such as an emoji as two escapes, which
    YAML does not support.
    """
    if not text.lstrip().startswith(("{", "[")):
        return text
    return re.sub(_ESCAPE, _join_pair, text)


def _join_pair(match: re.Match[str]) -> str:
    if match["high"] is None:
        return match.group()
    high, low = int(match["high"], 16), int(match["low"], 16)
    return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08X}"


def refuse_control_characters(source: Source) -> None:
    """InputError for the first character that YAML does not allow."""
    match = yaml.reader.Reader.NON_PRINTABLE.search(source.text)
    if match is None:
        return
    message = f"the character U+{ord(match.group()):04X} is not allowed in YAML"
    where = _position_at(source, match.start())
    hint = 'write it as an escape inside double quotes, such as "\\u0007"'
    raise InputError([Problem(message, where, hint, "input.yaml")])


def refuse_tag_directives(source: Source) -> None:
    """InputError for an unreasonable number of them, because libyaml needs quadratic time for them
    and blocks all other threads.
    """
    if source.text.count("%TAG") <= MAX_TAG_DIRECTIVES:
        return
    found = [match.end() - len("%TAG") for match in re.finditer(_TAG_DIRECTIVE, source.text)]
    if len(found) > MAX_TAG_DIRECTIVES:
        message = f"more than {MAX_TAG_DIRECTIVES} %TAG directives"
        where = _position_at(source, found[MAX_TAG_DIRECTIVES])
        raise InputError(
            [Problem(message, where, "shorten the list, or write tags in full", "input.yaml")]
        )


def _position_at(source: Source, index: int) -> Position:
    before = Source(source.name, source.text[:index]).lines
    return Position(source.name, len(before), len(before[-1]) + 1)


def _json_problem(source: Source) -> Problem | None:
    """Return the syntax error of a JSON document; None if it is valid or not JSON."""
    import json

    if not re.match(_JSON, source.text):
        return None
    try:
        json.loads(source.text)
    except json.JSONDecodeError as error:
        if error.msg not in _OF_JSON:
            return None
        end = len(source.text.rstrip())
        at, message = error.pos, _OF_JSON[error.msg]
        if at >= end:
            at, message = end - 1, "unexpected end: a bracket is not closed"
        hint = "is the file complete?" if error.msg.startswith("Unterm") or error.pos >= end else ""
        where = _position_at(source, at)
        return Problem(f"invalid JSON: {message}", where, hint, "input.yaml")
    except (ValueError, RecursionError):
        pass
    return None


def _syntax_problem(error: yaml.YAMLError, source: Source) -> Problem:
    name = source.name
    is_json = source.text.lstrip().startswith("{") and not name.endswith((".yaml", ".yml"))
    form = "JSON" if is_json else "YAML"
    if is_json and (problem := _json_problem(source)) is not None:
        return problem
    if not isinstance(error, yaml.MarkedYAMLError):
        return Problem(f"invalid {form}: {error}", Position(name, 1, 1), "", "input.yaml")
    text = error.problem or error.context or "it cannot be parsed"
    mark = error.problem_mark or error.context_mark
    where = Position(name, mark.line + 1, mark.column + 1) if mark else Position(name, 1, 1)
    began = error.context_mark.line + 1 if error.context_mark else where.line
    told = (
        (words.replace("{}", str(began)), hint) for part, words, hint in _OF_YAML if part in text
    )
    message, hint = next(told, (text, ""))
    line = source.lines[where.line - 1] if where.line <= len(source.lines) else ""
    if line[where.column - 1 : where.column] == "\t":
        hint = "indent with spaces, not with tabs"
    return Problem(f"invalid {form}: {message}", where, hint, "input.yaml")
