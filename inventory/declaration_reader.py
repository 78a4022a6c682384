"""Reads the documented form (``defaults``, ``hosts``, ``groups``) of an inventory (controller)."""

import functools

from inventory import passwords
from inventory.connection_properties import PROPERTIES, CheckedValues, RefusedError, check_property
from inventory.declaration import Declaration, Layer, SetProperty
from inventory.document_nodes import Mapping, Node, Scalar, Sequence, to_plain
from inventory.name_rules import group_name_fault, host_name_fault, is_range
from inventory.problem_collector import Checker, is_null

TOP_LEVEL = ("defaults", "hosts", "groups")
_LAYER_KEYS = (*PROPERTIES, "vars")
_GROUP_KEYS = (*_LAYER_KEYS, "hosts", "children")


def read_declaration(root: Node, directory: str, checker: Checker) -> Declaration:
    """The declarations in a document; paths are relative to ``directory``. Problems are reported to
    the checker.
    """
    return _Reader(directory, checker).read(root)


def _written(node: Node) -> str | None:
    """A name as written, regardless of its type in YAML: 3750, 1e3 and yes are names, like keys of
    a map. None for null, a list or a map."""
    return node.text if isinstance(node, Scalar) and node.kind != "null" else None


class _Reader:
    def __init__(self, directory: str, checker: Checker) -> None:
        self._values = CheckedValues(functools.partial(check_property, directory=directory))
        self._checker = checker
        self._declaration = Declaration()

    def read(self, root: Node) -> Declaration:
        """Turn the document into a declaration; mistakes are reported to the checker."""
        top = self._checker.mapping(root, "an inventory")
        if top is None:
            return self._declaration
        for key, node in top.pairs():
            if key.text == "defaults":
                self._defaults(node)
            elif key.text == "hosts":
                self._hosts(node, "hosts")
            elif key.text == "groups":
                self._groups(node)
            elif key.text == "all":
                hint = "for Ansible's YAML form, use the output of 'ansible-inventory --list'"
                self._checker.report(
                    key, "the inventory: unknown key 'all'", hint, "input.unknown_key"
                )
            else:
                self._checker.unknown_key(key, TOP_LEVEL, "the inventory")
        return self._declaration

    def _defaults(self, node: Node) -> None:
        mapping = self._checker.mapping(node, "defaults")
        if mapping is not None:
            self._layer(mapping, self._declaration.defaults, "defaults", _LAYER_KEYS)

    def _groups(self, node: Node) -> None:
        mapping = self._checker.mapping(node, "groups")
        for key, body in mapping.pairs() if mapping is not None else ():
            fault = group_name_fault(key.text)
            if fault:
                self._checker.report(key, *fault, kind="inventory.name")
            else:
                self._group(key, body)

    def _group(self, key: Scalar, body: Node) -> None:
        group = self._declaration.group(key.text, key)
        what = f"group {key.text}"
        mapping = self._checker.mapping(body, what)
        if mapping is None:
            return
        self._layer(mapping, group.layer, what, _GROUP_KEYS)
        hosts = mapping.get("hosts")
        if hosts is not None:
            group.hosts.update(dict.fromkeys(self._hosts(hosts, f"hosts of {what}")))
        children = self._checker.sequence(mapping.get("children"), f"children of {what}")
        for child in children or ():
            name = self._name(child, f"a child of {what}")
            if name is not None:
                group.children.setdefault(name, child)

    def _hosts(self, node: Node, what: str) -> list[str]:
        """Declare the hosts of a list or a map; return their names."""
        if isinstance(node, Sequence):
            return self._host_list(node, what)
        hosts: list[str] = []
        if not isinstance(node, Mapping):
            if not is_null(node):
                hint = "write [one, two] or 'one: {}'"
                message = f"{what} must be a list or a map, not {node.describe()}"
                self._checker.report(node, message, hint)
            return hosts
        for key, body in node.pairs():
            for name in self._good_hosts(key):
                hosts.append(name)
                self._host(name, key, body)
            if is_range(key.text):
                self._checker.forget_repeated()
        return hosts

    def _host_list(self, node: Sequence, what: str) -> list[str]:
        result: list[str] = []
        known = self._declaration.hosts
        for index, text in enumerate(node.texts()):
            name = text if text is not None else _written(node.nodes[index])
            if name is None:
                self._refuse_name(node.nodes[index], f"an item of {what}")
            elif name in known:
                result.append(name)
            else:
                for one in self._good_hosts(node.nodes[index]):
                    result.append(one)
                    self._declaration.host(one, node.nodes[index])
        return result

    def _name(self, node: Node, what: str) -> str | None:
        name = _written(node)
        if name is None:
            self._refuse_name(node, what)
        return name

    def _refuse_name(self, node: Node, what: str) -> None:
        hint = "" if isinstance(node, Scalar) else "list names only; use a map for properties"
        self._checker.report(node, f"{what} must be a name, not {node.describe()}", hint)

    def _good_hosts(self, node: Node) -> list[str]:
        """Return the name itself, or the names of its ranges; none for an invalid name."""
        assert isinstance(node, Scalar)
        names, fault = [node.text], None
        if is_range(node.text):
            from inventory.ranges import BadRangeError, expanded

            try:
                names = expanded(node.text)
            except BadRangeError as error:
                fault = str(error), error.hint
        fault = fault or next(filter(None, map(host_name_fault, names)), None)
        if fault:
            self._checker.report(node, *fault, kind="inventory.name")
        return [] if fault else names

    def _host(self, name: str, key: Scalar, body: Node) -> None:
        entry = self._declaration.host(name, key)
        what = f"host {key.text}"
        if body.__class__ is Mapping or self._checker.mapping(body, what) is not None:
            assert isinstance(body, Mapping)
            self._layer(body, entry.layer, what, _LAYER_KEYS)

    def _layer(self, mapping: Mapping, layer: Layer, what: str, known: tuple[str, ...]) -> None:
        """Fill a layer with the properties and vars of a map; other known keys are left to the
        caller.
        """
        for name in mapping:
            if name in PROPERTIES:
                self._property(name, mapping, layer, what)
            elif name == "vars":
                self._vars(mapping.value(name), layer, what)
            elif name in known:
                continue
            elif passwords.is_password_property(name):
                self._refuse_password(mapping.key(name), what)
            else:
                self._checker.unknown_key(mapping.key(name), known, what)

    def _property(self, name: str, mapping: Mapping, layer: Layer, what: str) -> None:
        try:
            value = self._values.value(name, mapping, name)
        except RefusedError as error:
            self._checker.report(
                mapping.value(name), f"{what}: {error.message}", error.hint, "inventory.property"
            )
            return
        before = layer.properties.get(name)
        if before is not None and before.value != value:
            self._refuse_second(mapping.key(name), before.node, what)
        layer.properties[name] = SetProperty(value, mapping, name)

    def _vars(self, node: Node, layer: Layer, what: str) -> None:
        mapping = self._checker.mapping(node, f"vars of {what}")
        if mapping is None:
            return
        values = to_plain(mapping)
        for name in mapping:
            if passwords.is_password_variable(name):
                self._refuse_password(mapping.key(name), f"vars of {what}")
            elif name in layer.vars and layer.vars[name] != values[name]:
                self._refuse_second(mapping.key(name), layer.var_node(name), what)
        layer.add_vars(values, mapping)

    def _refuse_second(self, key: Scalar, before: Node, what: str) -> None:
        """Report different values under ``hosts`` and in a group, which must be equal."""
        message = f"{what}: {key.text} already has another value at {before.position}"
        self._checker.report(key, message, "keep one of the two values", "inventory.conflict")

    def _refuse_password(self, key: Scalar, what: str) -> None:
        message = f"{what}: {key.text!r} contains a password"
        self._checker.report(key, message, passwords.HINT, "inventory.password")
