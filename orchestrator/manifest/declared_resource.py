"""One resource as written in a manifest (controller)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar, Sequence
from orchestrator.expressions import Expression, Template
from orchestrator.manifest.resource_types import Type
from orchestrator.manifest.value_compiler import expressions_in
from remote_runtime.errors import Position

ABSENT = "absent"
LOOP_NAMES = ("item", "index", "key")
"""Names of one ``foreach`` iteration: ``index`` in a list, ``key`` in a map, ``item`` in both."""

NEVER_SECRET = frozenset(
    ("ensure", "owner", "group", "mode", "provider", "alias", "tags", "control", "foreach",
     "require", "subscribe", "sensitive", "render")
)  # fmt: skip


class Control(NamedTuple):
    """The conditions of a resource: two optional expressions, and compiled conditions that are
    ``asked`` on the host, by their keys.
    """

    if_: Expression | None
    unless: Expression | None
    asked: dict[str, Any] = {}

    def expressions(self) -> list[Expression]:
        """Every expression of the control."""
        expressions = [one for one in (self.if_, self.unless) if one is not None]
        return [*expressions, *(e for value in self.asked.values() for e in expressions_in(value))]


class DeclaredResource:
    """A resource of the manifest, after every check that needs no host.

    ``values`` has the properties under their documented names, plain or with templates, ``raw`` the
    same as plain data, and ``nodes`` their positions. Shared by all hosts and never changed after
    loading. ``inherited`` are the properties from defaults. ``written``: the resource was
    generated, and these are the properties that the user wrote. ``faulty``: a check found mistakes,
    so its values may have any form.
    """

    __slots__ = (
        "control",
        "faulty",
        "foreach",
        "inherited",
        "name",
        "name_node",
        "nodes",
        "raw",
        "require",
        "sensitive",
        "subscribe",
        "tags",
        "templated",
        "type",
        "values",
        "written",
    )

    def __init__(
        self,
        type_: Type,
        name_node: Scalar,
        nodes: dict[str, tuple[Scalar, Node]],
        inherited: frozenset[str] = frozenset(),
    ) -> None:
        self.type = type_
        self.name_node = name_node
        self.nodes = nodes
        self.name: str | Template = name_node.text
        self.values: dict[str, Any] = {}
        self.raw: dict[str, Any] = {}
        self.control: Control | None = None
        self.foreach: Expression | None = None
        self.require: tuple[str, ...] = ()
        self.subscribe: tuple[str, ...] = ()
        self.tags: tuple[str, ...] = ()
        self.sensitive = False
        self.faulty = False
        self.templated: tuple[str, ...] = ()
        self.written: str | None = None
        self.inherited = inherited

    @property
    def id(self) -> str:
        """``type#name`` as written; a name may still contain templates."""
        return f"{self.type.name}#{self.name_node.text}"

    def expressions(self) -> Iterator[Expression]:
        """Every expression of the resource."""
        yield from expressions_in(self.name)
        for key in self.templated:
            yield from expressions_in(self.values[key])
        if self.control:
            yield from self.control.expressions()
        if self.foreach:
            yield self.foreach

    @property
    def is_static(self) -> bool:
        """Whether it is the same on every host."""
        varies = self.templated or self.control or self.type.tree or self.foreach
        return not (varies or isinstance(self.name, Template))

    @property
    def child(self) -> str | None:
        """The path of the manifest that it applies, if it is the same on every host."""
        if "manifest" in self.raw:
            path = self.raw["manifest"]
            return path if isinstance(path, str) and "manifest" not in self.templated else None
        return self.name if isinstance(self.name, str) else None

    @property
    def loop_names(self) -> tuple[str, ...]:
        """The names that its templates may use in addition to those of every scope."""
        return LOOP_NAMES if "foreach" in self.nodes else ()

    def idle(self, ensure: Any) -> frozenset[str]:
        """The properties that have no meaning with this ``ensure`` and are ignored.

        With ``absent``, these are the properties that describe the present state, so that one word
        toggles a resource. With other values, only inherited properties are ignored; an explicit
        one is a mistake.
        """
        return frozenset(
            key
            for key in self.nodes
            if isinstance(ensure, str)
            and ensure in self.type.properties[key].not_with
            and (ensure == ABSENT or key in self.inherited)
        )

    def is_literal_text(self, text: str) -> bool:
        """Whether a string of the resource comes from the user, not from a host."""
        return self.written is None or text in self.written

    def hides(self, key: str, path: tuple[str | int, ...] | None = None) -> bool:
        """Whether messages must not show the value of a property, or the value at a path in it."""
        kind = self.type.properties.get(key)
        if kind is None or kind.secret:
            return kind is not None
        if kind.secret_where and (path is None or kind.may_hide(self.raw.get(key), path)):
            return True
        return self.raw.get("sensitive") is True and key not in NEVER_SECRET

    @property
    def position(self) -> Position:
        """The position of its name."""
        return self.name_node.position

    def where(self, path: tuple[str | int, ...]) -> Position:
        """The position of a property, or of a part of it; if unknown, the position of the name."""
        if not path or path[0] not in self.nodes:
            return self.position
        key, node = self.nodes[str(path[0])]
        position = node.position
        if isinstance(node, Scalar) and node.kind == "null":
            position = key.position
        for part in path[1:]:
            if isinstance(node, Sequence) and isinstance(part, int) and part < len(node.nodes):
                node = node.nodes[part]
            elif isinstance(node, Mapping) and str(part) in node:
                key, node = node.entries[str(part)]
                if len(path) and part == path[-1] and isinstance(node, Scalar):
                    return node.position
            else:
                return position
            position = node.position
        return position

    def scalar_at(self, path: tuple[str | int, ...]) -> Scalar | None:
        """The scalar at a path, if there is one."""
        if not path or path[0] not in self.nodes:
            return None
        node: Node | None = self.nodes[str(path[0])][1]
        for part in path[1:]:
            if isinstance(node, Sequence) and isinstance(part, int) and part < len(node.nodes):
                node = node.nodes[part]
            elif isinstance(node, Mapping):
                node = node.get(str(part))
            else:
                return None
        return node if isinstance(node, Scalar) else None
