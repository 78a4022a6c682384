"""Reads YAML files as Ansible does, in the directories that an import may read (controller).

YAML 1.1 with ``!vault`` and ``!unsafe``, with the lines of values. Ansible reads backslashes in the
expressions of YAML files literally.
"""

import datetime
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, TemplateSyntaxError

from orchestrator.ansible.problems import bad_input

_directories: ContextVar[list[Path] | None] = ContextVar("directories", default=None)
"""The directories that an import reads. A project may be untrusted: it may name any file, and
contain links to any path. Files elsewhere, such as the user's keys, must not end up in the site.
"""


@contextmanager
def reading_only(directory: Path) -> Iterator[None]:
    """Within this context, only files of this directory are readable. Outside it, all are."""
    token = _directories.set([directory.resolve()])
    try:
        yield
    finally:
        _directories.reset(token)


def admit(directory: Path) -> None:
    """Make the files of another directory readable, such as a role on the role path."""
    directories = _directories.get()
    if directories is not None and not is_readable(directory):
        directories.append(directory.resolve())


def is_readable(path: Path) -> bool:
    """Whether a path, with its links followed, leads into one of the directories."""
    directories = _directories.get()
    resolved = path.resolve()
    return directories is None or any(resolved.is_relative_to(one) for one in directories)


_LEXER = Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)


def kept_backslashes(text: str) -> str:
    r"""Return a string in which Jinja2 reads ``'\1'`` within ``{{ }}`` as a backslash and a digit.

    Ansible does the same to text from YAML, but not to template files and conditions.
    """
    if "\\" not in text or "{{" not in text:
        return text
    found: list[str] = []
    inside = False
    try:
        for _, kind, written in _LEXER.lex(text):
            inside = kind == "variable_begin" or (inside and kind != "variable_end")
            is_literal = inside and kind == "string"
            found.append(written.replace("\\", "\\\\") if is_literal else written)
    except TemplateSyntaxError:
        return text
    return "".join(found)


MAX_BYTES = 4 * 1024 * 1024
MAX_VALUES = 500_000
"""The maximum number of values in a file, with each alias counted as its values."""
MAX_DIGITS = 1_000
_INT = "tag:yaml.org,2002:int"
_UNFIT = re.compile("[\0\ud800-\udfff]")


class Vaulted(str):
    """A string encrypted with ansible-vault, unchanged from the file."""


class Unsafe(str):
    """A string that is not a template."""


class VaultFileError(Exception):
    """The whole file is encrypted with ansible-vault."""


class Map(dict[str, Any]):
    """A mapping with the first and last line that it occupies in its file, counted from 1."""

    path: str = ""
    line: int = 0
    end: int = 0

    def __init__(self, *raw: Any) -> None:
        super().__init__(*raw)
        self.lines: dict[str, int] = {}


class _Loader(yaml.SafeLoader):
    """Records lines, and refuses content that could overload a reader."""

    path = ""


def _own_last_line(mark: yaml.Mark, flows: bool) -> int:
    """1 if the line at the end of a mapping belongs to it and not to the next element, else 0."""
    at_end = mark.buffer is not None and mark.buffer[mark.pointer] == "\0"
    return int(bool(mark.column) and (flows or at_end))


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Map:
    loader.flatten_mapping(node)
    result = Map()
    result.path = loader.path
    result.line = node.start_mark.line + 1
    result.end = max(
        result.line, node.end_mark.line + _own_last_line(node.end_mark, node.flow_style)
    )
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, (datetime.date, datetime.datetime)):
            key = key_node.value
        if not isinstance(key, (str, int, float, bool)) and key is not None:
            raise yaml.constructor.ConstructorError(
                None, None, "a key must be text or a number", key_node.start_mark
            )
        name = key if isinstance(key, str) else str(key_node.value)
        result[name] = loader.construct_object(value_node, deep=True)
        result.lines[name] = key_node.start_mark.line + 1
    return result


def _vault(loader: _Loader, node: yaml.ScalarNode) -> Vaulted:
    return Vaulted(loader.construct_scalar(node))


def _unsafe(loader: _Loader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return Unsafe(loader.construct_scalar(node))
    return _marked_unsafe(loader.construct_object(_untagged(node), deep=True))


def _untagged(node: yaml.Node) -> yaml.Node:
    kind = "map" if isinstance(node, yaml.MappingNode) else "seq"
    node.tag = f"tag:yaml.org,2002:{kind}"
    return node


def _marked_unsafe(value: Any) -> Any:
    if isinstance(value, str):
        return Unsafe(value)
    if isinstance(value, list):
        return [_marked_unsafe(one) for one in value]
    if isinstance(value, Map):
        for key in list(value):
            value[key] = _marked_unsafe(value[key])
    return value


def _number(loader: _Loader, node: yaml.ScalarNode) -> int | float:
    """A number, which YAML 1.1 may write in base 60: converting a long one would take forever."""
    if len(node.value) <= MAX_DIGITS:
        try:
            return loader.construct_yaml_int(node) if node.tag == _INT else _float(loader, node)
        except OverflowError:
            pass
    raise yaml.constructor.ConstructorError(None, None, "a number is too large", node.start_mark)


def _float(loader: _Loader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_yaml_float(node))


def _as_written(loader: _Loader, node: yaml.ScalarNode) -> str:
    return str(node.value)


def _text(loader: _Loader, node: yaml.ScalarNode) -> str:
    text = str(loader.construct_scalar(node))
    if _UNFIT.search(text):
        raise yaml.constructor.ConstructorError(
            None, None, "a string contains a character that no path or file has", node.start_mark
        )
    return kept_backslashes(text)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:str", _text)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _as_written)
_Loader.add_constructor(_INT, _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
_Loader.add_constructor("!vault", _vault)
_Loader.add_constructor("!vault-encrypted", _vault)
_Loader.add_constructor("!unsafe", _unsafe)


def read_text(path: Path) -> str:
    """The text of a file; InputError if it cannot be read."""
    try:
        if not path.is_file():  # a pipe or a device has no end
            what = "is not a file" if path.exists() else "does not exist"
            raise bad_input(f"{path} {what}", hint="check the path")
        if not is_readable(path):
            raise bad_input(f"{path} is outside the project", hint="copy the file into the project")
        if path.stat().st_size > MAX_BYTES:
            raise bad_input(f"{path} is larger than 4 MiB", hint="split the file")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise bad_input(f"{path}: not UTF-8 text", hint="save the file as UTF-8") from error
    except OSError as error:
        raise bad_input(
            f"{path} cannot be read: {error.strerror}", hint="check the path and its mode"
        ) from error


def parse(text: str, path: str) -> Any:
    """The value of a YAML text, its mappings as ``Map``. InputError with the line of a mistake."""
    if text.startswith("$ANSIBLE_VAULT;"):
        raise VaultFileError(path)
    loader = _Loader(text)
    loader.path = path
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _count(node, {}) > MAX_VALUES:
            raise bad_input(
                f"{path}: its aliases expand to too many values", hint="use fewer aliases"
            )
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}" if mark else path
        form = "" if isinstance(error, yaml.constructor.ConstructorError) else "invalid YAML: "
        raise bad_input(
            f"{place}: {form}{error.problem or 'not YAML'}",
            hint="ansible-playbook cannot read it either",
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise bad_input(f"{path}: not YAML: {error}", hint="correct the file") from error
    finally:
        loader.dispose()


def _count(node: yaml.Node, known: dict[int, int]) -> int:
    """The number of values in a node. A node that contains itself exceeds the maximum."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = MAX_VALUES + 1
        inner = node.value
        if isinstance(node, yaml.MappingNode):
            inner = [one for pair in inner for one in pair]
        known[id(node)] = 1 + sum(_count(one, known) for one in inner)
    return known[id(node)]


def read(path: Path) -> Any:
    """The value of a YAML file. InputError, or VaultFileError if the whole file is encrypted."""
    return parse(read_text(path), str(path))


def read_map(path: Path) -> Map:
    """The mapping of a YAML file, empty if the file is empty. InputError."""
    found = read(path)
    if found is None:
        return Map()
    if not isinstance(found, Map):
        raise bad_input(f"{path}: expected a mapping", hint="write one `name: value` per line")
    return found
