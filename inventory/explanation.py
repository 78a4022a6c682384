"""The source of each value of a host, and the groups as a tree (controller; prints nothing)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from inventory.declaration import Declaration, Layer
from remote_runtime.errors import Position


class ExplainedValue(NamedTuple):
    """One resolved value: ``property`` is a name such as ``port`` or ``vars.role``.

    ``origin`` is the place that set it (``host db1``, ``group web``, ``defaults``), or what it is
    without one; ``position`` is the position of the value, None without one.
    """

    property: str
    value: Any
    origin: str
    position: Position | None

    def __str__(self) -> str:
        place = f" at {self.position}" if self.position else ""
        return f"{self.property}: {self.value!r} ({self.origin}{place})"


def layers_of(
    name: str, groups: tuple[str, ...], declaration: Declaration
) -> Iterator[tuple[str, Layer]]:
    """Yield the layers of a host, nearest first: the host, its groups, ``all``, the defaults."""
    yield f"host {name}", declaration.hosts[name].layer
    for group in groups:
        yield f"group {group}", declaration.groups[group].layer
    if "all" in declaration.groups:
        yield "group all", declaration.groups["all"].layer
    yield "defaults", declaration.defaults


def explain_host(
    name: str, groups: tuple[str, ...], declaration: Declaration
) -> list[ExplainedValue]:
    """Every resolved value of the host: properties first, then ``vars.NAME`` by name."""
    properties: dict[str, ExplainedValue] = {}
    variables: dict[str, ExplainedValue] = {}
    for origin, layer in layers_of(name, groups, declaration):
        for key, setting in layer.properties.items():
            if key not in properties:
                where = setting.node.position
                properties[key] = ExplainedValue(key, setting.value, origin, where)
        for key, value in layer.vars.items():
            if key not in variables:
                where = layer.var_node(key).position
                variables[key] = ExplainedValue(f"vars.{key}", value, origin, where)
    properties.setdefault("address", ExplainedValue("address", name, "the host's name", None))
    properties.setdefault(
        "connection", ExplainedValue("connection", "ssh", "built-in default", None)
    )
    ordered = sorted(properties.values()), sorted(variables.values(), key=lambda e: e.property)
    return [*ordered[0], *ordered[1]]


def group_tree(declaration: Declaration) -> str:
    """The tree that ``ccm inventory --graph`` shows.

    A group with two parents is listed below both; its content is shown only the first time.
    """
    groups = declaration.groups
    inner = {child for name, group in groups.items() if name != "all" for child in group.children}
    member = {host for name, group in groups.items() if name != "all" for host in group.hosts}
    lines = ["@all:"]
    shown: set[str] = set()
    # a line to write, and the group whose content follows it
    pending = [(f"  |--{name}", "", "") for name in declaration.hosts if name not in member]
    pending.reverse()
    tops = [name for name in groups if name != "all" and name not in inner]
    pending.extend(_group_line(name, "  |--") for name in reversed(tops))
    while pending:
        line, name, indent = pending.pop()
        if name and name in shown:
            line += " (shown above)"
        lines.append(line)
        if name and name not in shown:
            shown.add(name)
            group = groups[name]
            pending.extend((indent + host, "", "") for host in reversed(group.hosts))
            pending.extend(_group_line(child, indent) for child in reversed(group.children))
    return "\n".join(lines) + "\n"


def _group_line(name: str, indent: str) -> tuple[str, str, str]:
    return f"{indent}@{name}:", name, "  |" + indent
