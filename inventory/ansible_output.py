"""Reads the output of ``ansible-inventory --list`` and of Ansible's inventory scripts (controller).

Ansible's connection variables become connection properties; everything else in a host or group
remains a variable. Passwords are refused, and so are connections that are neither SSH nor local.
"""

import re

from inventory import passwords
from inventory.connection_properties import (
    CheckedValues,
    PropertyValue,
    RefusedError,
    check_property,
)
from inventory.declaration import Declaration, GroupEntry, Layer, SetProperty
from inventory.declaration_reader import TOP_LEVEL
from inventory.document_nodes import Mapping, Node, Scalar, Sequence, to_plain
from inventory.name_rules import group_name_fault, host_name_fault
from inventory.problem_collector import Checker
from remote_runtime.errors import Problem

_PROPERTIES = {
    "ansible_host": "address",
    "ansible_ssh_host": "address",
    "ansible_port": "port",
    "ansible_ssh_port": "port",
    "ansible_user": "user",
    "ansible_ssh_user": "user",
    "ansible_ssh_private_key_file": "key_file",
    "ansible_private_key_file": "key_file",
    "ansible_python_interpreter": "python",
    "ansible_connection": "connection",
    "ansible_timeout": "connect_timeout",
    "ansible_ssh_timeout": "connect_timeout",
}
_SSH = {"ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh"}
_LOCAL = {"local", "ansible.builtin.local"}
_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}
_CONNECTION = (
    r"ansible_(ssh|sftp|scp|paramiko|become|shell|host_key|connection|executable|pipelining)(_|$)"
)
_BECOME = ("ansible_become", "ansible_become_user", "ansible_become_method")
_GROUP_KEYS = ("hosts", "children", "vars")
_NAMES = ("hosts", "children")
_INI = r"\[[^\]\s,]+\]\s*|(?!\[\])[\w.:\[\]-]+(\s+[\w-]+\s*=.*)?|[\w-]+\s*=.*"


def is_ansible_list(root: Node) -> bool:
    """Whether a document has Ansible's form: ``_meta``, or groups at the top level."""
    if not isinstance(root, Mapping):
        return False
    if "_meta" in root:
        return True
    names = list(root)
    if not names or any(name in TOP_LEVEL for name in names):
        return False
    return all(_looks_like_group(node) for _, node in root.pairs())


def is_ansible_file(root: Node) -> bool:
    """Whether a document is an Ansible inventory in YAML, in which groups contain maps of hosts.

    In the list form, groups contain only names, and variables are in ``_meta``.
    """
    if not is_ansible_list(root) or not isinstance(root, Mapping) or "_meta" in root:
        return False
    bodies = [node for _, node in root.pairs() if isinstance(node, Mapping)]
    return any(isinstance(body.get(key), Mapping) for body in bodies for key in _NAMES)


def is_ini(text: str) -> bool:
    """Whether a string has the form of Ansible's INI: sections, and hosts with ``key=value``."""
    lines = [line for line in map(str.strip, text.splitlines()) if line and line[0] not in "#;"]
    return bool(lines) and all(re.fullmatch(_INI, line) for line in lines)


def read_ansible_list(root: Node, directory: str, checker: Checker) -> Declaration:
    """The declarations of the list; problems go to the checker."""
    return _AnsibleReader(directory, checker).read(root)


def _looks_like_group(node: Node) -> bool:
    if isinstance(node, Mapping):
        return any(key in _GROUP_KEYS for key in node) and all(key in _GROUP_KEYS for key in node)
    return isinstance(node, Sequence)


class _AnsibleReader:
    def __init__(self, directory: str, checker: Checker) -> None:
        self._directory = directory
        self._values = CheckedValues(self._value)
        self._checker = checker
        self._declaration = Declaration()
        self._warned: set[str] = set()

    def read(self, root: Node) -> Declaration:
        """Turn the list into a declaration; mistakes are reported to the checker."""
        assert isinstance(root, Mapping)
        for key, node in root.pairs():
            if key.text == "_meta":
                continue
            fault = group_name_fault(key.text, has_all=True)
            if fault:
                self._checker.report(key, *fault, kind="inventory.name")
            else:
                self._group(key, node)
        self._add_missing_children()
        meta = self._checker.mapping(root.get("_meta"), "_meta")
        hostvars = None if meta is None else meta.get("hostvars")
        mapping = self._checker.mapping(hostvars, "_meta.hostvars")
        for key, node in mapping.pairs() if mapping is not None else ():
            self._host(key, node)
        return self._declaration

    def _group(self, key: Scalar, node: Node) -> None:
        group = self._declaration.group(key.text, key)
        what = f"group {key.text}"
        hosts: Node | None = node
        if not isinstance(node, Sequence):
            mapping = self._checker.mapping(node, what)
            if mapping is None:
                return
            hosts = mapping.get("hosts")
            self._layer(mapping.get("vars"), group.layer, what)
            for child in self._names(mapping.get("children"), f"children of {what}"):
                if child.text != "all":
                    group.children.setdefault(child.text, child)
        names = self._checker.sequence(hosts, f"hosts of {what}")
        if names is not None:
            self._hosts(names, group, what)

    def _hosts(self, names: Sequence, group: GroupEntry, what: str) -> None:
        known = self._declaration.hosts
        for index, name in enumerate(names.texts()):
            if name is None:
                self._refuse_name(names.nodes[index], f"hosts of {what}")
            elif name in known:
                group.hosts.setdefault(name)
            elif self._good_host(name, names.nodes[index]):
                group.hosts.setdefault(name)
                self._declaration.host(name, names.nodes[index])

    def _add_missing_children(self) -> None:
        """Add groups that Ansible lists only as children because they are empty."""
        for group in list(self._declaration.groups.values()):
            for child, node in list(group.children.items()):
                fault = group_name_fault(child, has_all=True)
                if fault:
                    self._checker.report(node, *fault, kind="inventory.name")
                else:
                    self._declaration.group(child, node)

    def _names(self, node: Node | None, what: str) -> list[Scalar]:
        items = self._checker.sequence(node, what)
        names: list[Scalar] = []
        for item in items or ():
            if isinstance(item, Scalar) and item.kind == "str":
                names.append(item)
            else:
                self._refuse_name(item, what)
        return names

    def _refuse_name(self, item: Node, what: str) -> None:
        self._checker.report(item, f"{what} must be names, not {item.describe()}")

    def _good_host(self, name: str, node: Node) -> bool:
        fault = host_name_fault(name)
        if fault:
            self._checker.report(node, *fault, kind="inventory.name")
        return fault is None

    def _host(self, key: Scalar, node: Node) -> None:
        if self._good_host(key.text, key):
            layer = self._declaration.host(key.text, key).layer
            self._layer(node, layer, f"host {key.text}")

    def _layer(self, node: Node | None, layer: Layer, what: str) -> None:
        mapping = self._checker.mapping(node, f"vars of {what}")
        if mapping is None:
            return
        values = to_plain(mapping)
        taken = []
        for name in mapping:
            if passwords.is_password_variable(name):
                message = f"{what}: {name!r} contains a password"
                key = mapping.key(name)
                self._checker.report(key, message, passwords.HINT, "inventory.password")
            elif name in _PROPERTIES:
                taken.append(name)
                self._property(name, mapping, layer, what)
            elif name == "ansible_become":
                taken.append(name)
            else:
                self._warn_ignored(name, mapping)
        if taken:
            values = {name: value for name, value in values.items() if name not in taken}
        layer.add_vars(values, mapping)
        self._become(mapping, layer, what)

    def _warn_ignored(self, name: str, mapping: Mapping) -> None:
        """Warn, once for each, about variables that affect how Ansible reaches a host but
        not ccm.
        """
        if name in _BECOME or not re.match(_CONNECTION, name) or name in self._warned:
            return
        self._warned.add(name)
        message = f"{name} is an ordinary variable in ccm: it does not affect the connection"
        hint = "see the connection properties in docs/reference/inventory.md, and ~/.ssh/config"
        where = mapping.key(name).position
        self._checker.warnings.append(Problem(message, where, hint, "inventory.property"))

    def _property(self, key: str, mapping: Mapping, layer: Layer, what: str) -> None:
        name, written = _PROPERTIES[key], mapping.scalar(key)
        if name == "python" and isinstance(written, str) and written.startswith("auto"):
            return
        try:
            value = self._values.value(name, mapping, key)
        except RefusedError as error:
            self._checker.report(
                mapping.value(key), f"{what}: {error.message}", error.hint, "inventory.property"
            )
        else:
            layer.properties[name] = SetProperty(value, mapping, key)

    def _value(self, name: str, node: Node) -> PropertyValue:
        if isinstance(node, Scalar):
            if name in ("port", "connect_timeout") and node.kind == "str" and node.text.isdecimal():
                node = node.as_number(int(node.text[:12]))
            elif name == "connection" and node.text in _SSH | _LOCAL:
                return "ssh" if node.text in _SSH else "local"
        return check_property(name, node, self._directory)

    def _become(self, mapping: Mapping, layer: Layer, what: str) -> None:
        """Set ``become`` from ``ansible_become`` and ``ansible_become_user``."""
        method = mapping.get("ansible_become_method")
        if method is not None and to_plain(method) not in ("sudo", "ansible.builtin.sudo"):
            message = f"{what}: ansible_become_method is {str(to_plain(method))[:40]!r}"
            self._checker.report(method, message, "ccm supports only sudo", "inventory.property")
        setting = mapping.get("ansible_become")
        if setting is None:
            return
        word = str(to_plain(setting)).lower()
        if word not in _TRUE | _FALSE:
            message = f"{what}: ansible_become must be true or false, not {word[:40]!r}"
            self._checker.report(setting, message, "", "inventory.property")
            return
        become: PropertyValue = word in _TRUE
        user = mapping.get("ansible_become_user")
        if become and user is not None and to_plain(user) != "root":
            try:
                become = check_property("become", user, self._directory)
            except RefusedError as error:
                message = f"{what}: {error.message}"
                self._checker.report(user, message, error.hint, "inventory.property")
        layer.properties["become"] = SetProperty(become, mapping, "ansible_become")
