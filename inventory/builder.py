"""Builds the node tree from parser events (controller). See ``yaml_document``."""

from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from inventory.document_nodes import (
    ENCRYPTED_TAGS,
    EncryptedScalar,
    Mapping,
    Node,
    Scalar,
    Sequence,
    Source,
)
from inventory.gc_pause import collection_paused
from inventory.scalars import (
    BadScalarError,
    Resolved,
    other_reading,
    resolve_plain,
    resolve_tagged,
    resolve_yaml11,
    show_tag,
)
from remote_runtime.errors import InputError, Problem

MAX_ALIASED = 1_000_000
MAX_DEPTH = 100

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COLLECTION_TAGS = {None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


class Builder:
    """One pass over one text; ``problems`` receives problems that leave the tree usable.

    With ``yaml11``, scalars are read by YAML 1.1 instead of the core schema of YAML 1.2.
    """

    def __init__(self, source: Source, problems: list[Problem], *, yaml11: bool = False) -> None:
        self._source = source
        self._resolve = resolve_yaml11 if yaml11 else resolve_plain
        self._notes_readings = not yaml11
        self._problems = problems
        self._resolved: dict[str, Resolved] = {}
        self._ambiguous: dict[str, str] = {}
        self._root: Node | None = None
        self._open: Mapping | Sequence | None = None
        self._key: Node | None = None
        self._stack: list[tuple[Mapping | Sequence | None, Node | None]] = []
        self._merges: dict[int, list[tuple[Scalar, Node]]] = {}
        # anchor -> node and the number of nodes below it, None while it is still open
        self._anchors: dict[str, tuple[Node, int | None]] = {}
        self._open_anchors: dict[int, tuple[str, int]] = {}
        self._count = 0
        self._aliased = 0

    def build(self) -> Node:
        """The document's root; raises yaml.YAMLError for invalid YAML, InputError for an excessive
        expansion.
        """
        loader = _Loader(self._source.text)
        try:
            with collection_paused():
                self._consume(loader)
        finally:
            loader.dispose()
        return self._nothing(1, 1) if self._root is None else self._root

    def _consume(self, loader: Any) -> None:
        next_event, attach = loader.get_event, self._attach
        resolved, source = self._resolved, self._source
        while True:
            event = next_event()
            kind = event.__class__
            if kind is ScalarEvent:
                known = resolved.get(event.value) if event.implicit[0] else None
                if known is None or event.anchor is not None:
                    attach(self._scalar(event))
                else:
                    mark = event.start_mark
                    line, column = mark.line + 1, mark.column + 1
                    attach(
                        Scalar(
                            source,
                            line,
                            column=column,
                            text=event.value,
                            kind=known[0],
                            value=known[1],
                            plain=True,
                        )
                    )
                    self._count += 1
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._start(event, Mapping if kind is MappingStartEvent else Sequence)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self._end()
            elif kind is AliasEvent:
                self._attach(self._alias(event))
            elif kind is DocumentStartEvent:
                self._begin_document(event)
            elif kind is StreamEndEvent:
                return

    def _begin_document(self, event: Any) -> None:
        if self._root is not None:
            mark = event.start_mark
            nothing = self._nothing(mark.line + 1, mark.column + 1)
            self._fail(nothing, "unexpected second document", "use one document per file")

    def _scalar(self, event: Any) -> Scalar:
        text = event.value
        plain = event.implicit[0]
        mark = event.start_mark
        try:
            if plain:
                resolved = self._resolved.get(text)
                if resolved is None:
                    resolved = self._resolve_once(text)
                kind, value = resolved
            elif event.implicit[1] or event.tag in ENCRYPTED_TAGS:
                kind, value = "str", text
            else:
                kind, value = resolve_tagged(event.tag, text, self._resolve)
        except BadScalarError as error:
            kind, value = "str", text
            nothing = self._nothing(mark.line + 1, mark.column + 1)
            self._report(
                nothing, str(error), "remove the tag; quote the value if it is text", "input.type"
            )
        is_encrypted = event.tag in ENCRYPTED_TAGS
        node = (EncryptedScalar if is_encrypted else Scalar)(
            self._source,
            mark.line + 1,
            column=mark.column + 1,
            text=text,
            kind=kind,
            value=value,
            plain=plain,
        )
        if isinstance(node, EncryptedScalar):
            node.tag = event.tag[1:]
            self._source.encrypted.append(node)
        self._count += 1
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, 1)
        if plain and text in self._ambiguous and not self._expects_key():
            self._source.ambiguous.append((node.line, node.column, text, self._ambiguous[text]))
        return node

    def _resolve_once(self, text: str) -> Resolved:
        """The value of a plain scalar. Scalars that YAML 1.1 reads differently are stored
        separately, because each of their positions gets a note.
        """
        resolved = self._resolve(text)
        if text in self._ambiguous:
            return resolved
        if self._notes_readings and resolved[0] == "str" and (reading := other_reading(text)):
            self._ambiguous[text] = reading
        else:
            self._resolved[text] = resolved
        return resolved

    def _expects_key(self) -> bool:
        """Whether the next node is a key, which is always text."""
        return self._open.__class__ is Mapping and self._key is None

    def _start(self, event: Any, kind: type[Mapping] | type[Sequence]) -> None:
        mark = event.start_mark
        node = kind(self._source, mark.line + 1, mark.column + 1)
        if event.tag not in _COLLECTION_TAGS:
            self._report(node, f"the tag {show_tag(event.tag)} is not supported", "remove it")
        self._attach(node)
        self._stack.append((self._open, self._key))
        self._open, self._key = node, None
        if len(self._stack) > MAX_DEPTH:
            self._fail(node, f"nested deeper than {MAX_DEPTH} levels", "flatten the structure")
        self._count += 1
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, None)
            self._open_anchors[id(node)] = (event.anchor, self._count + self._aliased)

    def _end(self) -> None:
        node = self._open
        assert node is not None
        if self._merges and isinstance(node, Mapping):
            self._merge(node, self._merges.pop(id(node), []))
        if self._open_anchors and id(node) in self._open_anchors:
            anchor, before = self._open_anchors.pop(id(node))
            if self._anchors[anchor][0] is node:
                self._anchors[anchor] = (node, self._count + self._aliased - before + 1)
        self._open, self._key = self._stack.pop()

    def _alias(self, event: Any) -> Node:
        mark = event.start_mark
        nothing = self._nothing(mark.line + 1, mark.column + 1)
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            hint = f"quote text that starts with *, or define &{event.anchor} above it"
            self._report(nothing, f"the alias *{event.anchor} is not defined", hint)
            return nothing
        node, size = anchored
        if size is None:
            self._report(
                nothing, f"the alias *{event.anchor} contains itself", "write the value out"
            )
            return nothing
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            self._fail(nothing, f"the aliases expand to more than {MAX_ALIASED} values", "")
        return node

    def _attach(self, node: Node) -> None:
        parent = self._open
        if parent.__class__ is Mapping:
            key = self._key
            if key is None:
                self._key = node
            else:
                self._key = None
                self._add(parent, key, node)
        elif parent is None:
            self._root = node
        else:
            parent.nodes.append(node)  # type: ignore[union-attr]  # no scalar is a parent

    def _add(self, mapping: Mapping, key: Node, value: Node) -> None:
        if key.__class__ is not Scalar:
            self._refuse_key(key)
            return
        assert isinstance(key, Scalar)
        text = key.text
        if text in mapping.entries:
            first = mapping.entries[text][0].line
            message = f"duplicate key {text!r}, first on line {first}"
            self._report(key, message, "remove or rename one", "input.duplicate_key")
        elif text == "<<" and key.plain:
            merges = self._merges.setdefault(id(mapping), [])
            if merges and self._notes_readings:  # YAML 1.1's readers take several
                message = f"duplicate key '<<', first on line {merges[0][0].line}"
                self._report(key, message, "write <<: [*a, *b]", "input.duplicate_key")
            merges.append((key, value))
        elif key.kind == "null" and key.plain:
            self._refuse_key(key)
        else:
            mapping.entries[text] = (key, value)

    def _refuse_key(self, key: Node) -> None:
        hint = "a key must be text"
        if self._source.lines[key.line - 1].startswith("{{", max(key.column - 2, 0)):
            hint = 'a value that starts with {{ must be quoted: "{{ ... }}"'
        self._report(key, f"{key.describe()} cannot be a key", hint, "input.type")

    def _merge(self, mapping: Mapping, merges: list[tuple[Scalar, Node]]) -> None:
        """Add the entries of ``<<``: own keys take precedence, then the earlier map in a list."""
        for _, value in merges:
            sources = value.nodes if isinstance(value, Sequence) else [value]
            for source in sources:
                if not isinstance(source, Mapping):
                    message = f"<< takes a map or a list of maps, not {source.describe()}"
                    self._report(source, message, "use an alias of a map", "input.type")
                    continue
                for text, entry in source.entries.items():
                    mapping.entries.setdefault(text, entry)

    def _nothing(self, line: int, column: int) -> Scalar:
        return Scalar(
            self._source, line, column=column, text="", kind="null", value=None, plain=True
        )

    def _report(self, node: Node, message: str, hint: str, kind: str = "input.yaml") -> None:
        self._problems.append(Problem(message, node.position, hint, kind))

    def _fail(self, node: Node, message: str, hint: str) -> NoReturn:
        raise InputError([*self._problems, Problem(message, node.position, hint, "input.yaml")])
