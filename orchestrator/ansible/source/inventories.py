"""Inventories of Ansible in INI and YAML, with their group_vars and host_vars (controller)."""

import ast
import re
import shlex
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inventory.name_rules import is_range
from inventory.ranges import BadRangeError, expanded
from orchestrator.ansible.problems import bad_input
from orchestrator.ansible.source.roles import ENDINGS, variables_at
from orchestrator.ansible.source.yaml_reader import Map, is_readable, read, read_text


@dataclass
class Group:
    """A group; ``hosts`` may be ranges."""

    hosts: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    variables: Map = field(default_factory=Map)


@dataclass
class Hosts:
    """An inventory: its hosts as written, with variables, and its groups."""

    hosts: dict[str, Map] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)

    def group(self, name: str) -> Group:
        """Return a group; create it if it is missing."""
        return self.groups.setdefault(name, Group())

    def host(self, name: str) -> Map:
        """Return the variables of a host; create the host if it is missing."""
        return self.hosts.setdefault(name, Map())

    def names(self) -> list[str]:
        """All hosts, with ranges expanded."""
        return [name for one in self.hosts for name in (expanded(one) if is_range(one) else [one])]

    def depths(self) -> dict[str, int]:
        """The depth of each group below the top; 0 for groups that contain themselves, and for
        those below them.
        """
        children = {
            name: set(one.children) & self.groups.keys() for name, one in self.groups.items()
        }
        parents = Counter(child for found in children.values() for child in found)
        depths = dict.fromkeys(self.groups, 0)
        waiting = [name for name in self.groups if not parents[name]]
        while waiting:
            name = waiting.pop()
            for child in children[name]:
                depths[child] = max(depths[child], depths[name] + 1)
                parents[child] -= 1
                if not parents[child]:
                    waiting.append(child)
        return {name: depth if not parents[name] else 0 for name, depth in depths.items()}


def find_inventories(root: Path) -> list[Path]:
    """The inventory of a project, found by the usual names."""
    config = root / "ansible.cfg"
    if config.is_file():
        match = re.search(
            r"^\s*inventory\s*=\s*(\S+)", config.read_text(errors="replace"), re.MULTILINE
        )
        path = root / match.group(1).split(",")[0] if match else None
        if path is not None and path.exists() and is_readable(path):
            return _files(path)
    for name in ("inventory", "inventories", "hosts"):
        for ending in ("", ".ini", ".yml", ".yaml", ".cfg", ".inv"):
            path = root / (name + ending)
            if path.exists():
                found = _files(path)
                if found:
                    return found
    return []


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return [
        one
        for one in sorted(path.iterdir())
        if one.is_file()
        and one.suffix in ("", ".ini", ".yml", ".yaml")
        and one.name[0] != "."
        and not one.stat().st_mode & 0o100
    ]


def read_inventory(paths: list[Path]) -> Hosts:
    """The hosts and groups of inventory files. InputError."""
    found = Hosts()
    for path in paths:
        if path.suffix in (".yml", ".yaml", ".json"):
            value = read(path)
            if isinstance(value, Map):
                for name, group in value.items():
                    _yaml_group(found, name, group, str(path))
        else:
            _ini(found, path)
        try:
            found.names()
        except BadRangeError as error:
            raise bad_input(f"{path}: {error}", hint=error.hint) from error
    return found


def _yaml_group(hosts: Hosts, name: str, value: Any, path: str) -> None:
    group = hosts.group(name)
    value = _mapping(value, f"{path}: the group {name}")
    for host, variables in _mapping(value.get("hosts"), f"{path}: hosts of {name}").items():
        hosts.host(host).update(_mapping(variables, f"{path}: the host {host}"))
        if host not in group.hosts:
            group.hosts.append(host)
    for child, inner in _mapping(value.get("children"), f"{path}: children of {name}").items():
        if child not in group.children:
            group.children.append(child)
        _yaml_group(hosts, child, inner, path)
    group.variables.update(_mapping(value.get("vars"), f"{path}: vars of {name}"))


def _mapping(value: Any, what: str) -> Map:
    """The value, which must be a map or nothing. InputError."""
    if value is None:
        return Map()
    if not isinstance(value, Map):
        raise bad_input(f"{what} must be a map", hint="write one `name:` per line")
    return value


def _ini(hosts: Hosts, path: Path) -> None:
    section, kind = "ungrouped", "hosts"
    for number, line in enumerate(read_text(path).split("\n"), 1):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        match = re.fullmatch(r"\[([^\]:]+)(?::(\w+))?\]\s*(?:#.*)?", text)
        if match:
            section, kind = match.group(1), match.group(2) or "hosts"
            if kind not in ("hosts", "children", "vars"):
                raise bad_input(
                    f"{path}:{number}: unknown section [{section}:{kind}]",
                    hint="use hosts, children or vars",
                )
            hosts.group(section)
            continue
        _ini_line(hosts, section, kind=kind, text=text, place=f"{path}:{number}")


def _ini_line(hosts: Hosts, section: str, *, kind: str, text: str, place: str) -> None:
    group = hosts.group(section)
    if kind == "vars":
        key, sign, value = text.partition("=")
        if not sign:
            raise bad_input(f"{place}: expected key=value", hint="write key=value")
        group.variables[key.strip()] = ini_value(value.strip())
        return
    if kind == "children":
        name = text.split("#")[0].strip()
        hosts.group(name)
        group.children.append(name)
        return
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise bad_input(f"{place}: {error}", hint="check the quotes") from error
    name = words[0] if words else ""
    port = re.fullmatch(r"([^:\[\]]+):(\d+)", name)
    variables = hosts.host(port.group(1) if port else name)
    if port:
        name, variables["ansible_port"] = port.group(1), int(port.group(2))
    for word in words[1:]:
        key, sign, value = word.partition("=")
        if not sign:
            raise bad_input(f"{place}: expected key=value, not {word}", hint="write key=value")
        variables[key] = ini_value(value)
    if name not in group.hosts:
        group.hosts.append(name)


def ini_value(text: str) -> Any:
    """A value in an INI inventory, which Ansible reads as a Python literal."""
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return found if isinstance(found, (str, int, float, bool, list, dict)) else text


def directory_variables(base: Path, folder: str, problems: list[str]) -> dict[str, Map]:
    """The variables of ``group_vars`` or ``host_vars`` in a directory, by name."""
    directory = base / folder
    found: dict[str, Map] = {}
    if not directory.is_dir():
        return found
    for one in sorted(directory.iterdir()):
        if one.name.startswith(".") or (one.is_file() and one.suffix not in (*ENDINGS, "")):
            name = one.name if one.is_dir() else ""
        else:
            name = one.name.removesuffix(one.suffix) if one.suffix in ENDINGS else one.name
        if name and name not in found:
            found[name] = variables_at(directory, name, problems)
    return found
