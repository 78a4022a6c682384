"""A request of ``ccm ensure api pipe``: one resource as a document (controller)."""

import json
from typing import Any, BinaryIO, NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar, parse_document, to_plain
from orchestrator.manifest.adhoc_site import known_type
from orchestrator.manifest.data_source import refuse_unknown_keys
from orchestrator.manifest.resource_types import Type, Types
from remote_runtime.errors import InputError, Problem

PROTOCOL = "io.choria.ccm.v1.resource.ensure.request"
MAX_BYTES = 16 << 20
_KEYS = ("protocol", "type", "properties")
_NAME = "stdin"


class Request(NamedTuple):
    """A requested resource; ``properties`` exclude the name and have their positions."""

    type: Type
    name: Scalar
    properties: Mapping
    types: Types

    @property
    def id(self) -> str:
        """``type#name``."""
        return f"{self.type.name}#{self.name.text}"


def read_request(stream: BinaryIO, types: Types) -> Request:
    """Read one JSON or YAML document to its end; InputError with every problem."""
    problems: list[Problem] = []
    root = _document(_text(stream), problems)
    if not isinstance(root, Mapping):
        message = f"a request must be a map, not {root.describe()}"
        hint = f"it can contain {', '.join(_KEYS)}"
        raise InputError([*problems, Problem(message, root.position, hint, "input.type")])
    refuse_unknown_keys(root, _KEYS, what="a request", problems=problems)
    _check_protocol(root, problems)
    type_name = _scalar(root, "type", problems)
    properties = root.get("properties")
    if not isinstance(properties, Mapping):
        where = (properties or root).position
        problems.append(Problem("properties must be a map with a name", where, "", "input.type"))
        raise InputError(problems)
    name = _scalar(properties, "name", problems)
    type_ = None
    if type_name is not None:
        try:
            type_ = known_type(type_name.text, type_name.position, types)
        except InputError as error:
            problems += error.problems
    if problems or type_ is None or name is None:
        raise InputError(problems)
    rest = Mapping(properties.source, properties.line, properties.column)
    rest.entries = {key: entry for key, entry in properties.entries.items() if key != "name"}
    return Request(type_, name, rest, types)


def _text(stream: BinaryIO) -> str:
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        message = f"the request is larger than {MAX_BYTES >> 20} MiB"
        hint = "put large content in a file, and set source to its path"
        raise InputError([Problem(message, None, hint, "input.too_large")])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            [Problem("the request is not UTF-8 text", kind="input.encoding")]
        ) from error
    if not text.strip():
        hint = "pipe one JSON or YAML document to it"
        raise InputError([Problem("there is no request on standard input", None, hint)])
    return text


def _document(text: str, problems: list[Problem]) -> Node:
    """The tree of the text. If JSON and YAML read the text differently, JSON is used."""
    given = _json(text)
    if given is None:
        return parse_document(text, _NAME, problems)
    try:
        root = parse_document(text, _NAME)
    except InputError:
        root = None
    if root is None or to_plain(root) != given[0]:
        root = parse_document(json.dumps(given[0], indent=1), _NAME, problems)
    return root


def _json(text: str) -> tuple[Any] | None:
    """The text parsed as JSON; None for other text or with a duplicate key."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object of these pairs; ValueError for a duplicate key."""
        if len(dict(pairs)) < len(pairs):
            raise ValueError("it has a duplicate key")
        return dict(pairs)

    try:
        return (json.loads(text, object_pairs_hook=unique),)
    except (ValueError, RecursionError):
        return None


def _check_protocol(root: Mapping, problems: list[Problem]) -> None:
    node = root.get("protocol")
    if isinstance(node, Scalar) and node.text == PROTOCOL:
        return
    where = (node or root).position
    said = repr(node.text[:80]) if isinstance(node, Scalar) else "missing"
    message = f"the protocol is {said}, expected {PROTOCOL!r}"
    problems.append(Problem(message, where, "", "input.protocol"))


def _scalar(mapping: Mapping, key: str, problems: list[Problem]) -> Scalar | None:
    node = mapping.get(key)
    if isinstance(node, Scalar) and node.kind == "str" and node.text:
        return node
    what = "is missing" if node is None else f"must be text, not {node.describe()}"
    problems.append(Problem(f"{key} {what}", (node or mapping).position, "", "input.type"))
    return None
