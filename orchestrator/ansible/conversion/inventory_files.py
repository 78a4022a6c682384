"""The inventory of the site, and data files of groups and hosts (controller)."""

import re
from pathlib import Path
from typing import Any

from inventory.name_rules import is_range
from inventory.passwords import is_password_variable
from inventory.ranges import expanded
from orchestrator.ansible.conversion.project_converter import Project
from orchestrator.ansible.conversion.variables import Layer
from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import literal
from orchestrator.ansible.output.manifest_text import data_text
from orchestrator.ansible.output.yaml_text import lines, scalar
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.inventories import Hosts, directory_variables
from orchestrator.ansible.source.yaml_reader import Map, Vaulted

_CONNECTION = {
    "ansible_host": "address", "ansible_ssh_host": "address", "ansible_port": "port",
    "ansible_ssh_port": "port", "ansible_user": "user", "ansible_ssh_user": "user",
    "ansible_ssh_private_key_file": "key_file", "ansible_private_key_file": "key_file",
    "ansible_python_interpreter": "python", "ansible_become": "become",
}  # fmt: skip
_DROPPED = frozenset(
    [
        "ansible_password",
        "ansible_ssh_pass",
        "ansible_become_pass",
        "ansible_become_password",
        "ansible_become_method",
        "ansible_become_user",
        "ansible_connection",
        "ansible_ssh_common_args",
        "ansible_ssh_extra_args",
        "ansible_ssh_pipelining",
        "ansible_pipelining",
        "ansible_group_priority",
        "ansible_shell_type",
        "ansible_ssh_args",
        "ansible_sudo_pass",
        "ansible_ssh_transfer_method",
    ]
)
_FACTS = frozenset(("host", "cpu", "memory", "network", "partition"))
_JUMP = re.compile(r"ProxyJump[= ]([\w.@:,-]+)|-J\s*([\w.@:,-]+)")


def read_layers(project: Project, places: list[Path]) -> None:
    """Merge the variables of the inventory with group_vars and host_vars, the weakest first."""
    hosts = project.hosts
    groups: dict[str, Map] = {}
    singles: dict[str, Map] = {}
    directories = [
        (
            directory_variables(one, "group_vars", project.notes),
            directory_variables(one, "host_vars", project.notes),
        )
        for one in places
    ]
    shared = {key for found, _ in directories for key in found.get("all", {})}
    for name, group in hosts.groups.items():
        weaker = {} if name == "all" else shared
        groups[name] = _plain({k: v for k, v in group.variables.items() if k not in weaker})
    for written, variables in hosts.hosts.items():
        for name in expanded(written) if is_range(written) else [written]:
            singles.setdefault(name, Map()).update(_plain(variables))
    for of_groups, of_hosts in directories:
        _join_connections(hosts, of_groups, of_hosts)
        for name, found in of_groups.items():
            groups.setdefault(name, Map()).update(_plain(found))
        for name, found in of_hosts.items():
            singles.setdefault(name, Map()).update(_plain(found))
    depths = hosts.depths()
    ordered = sorted(groups, key=lambda one: (one != "all", depths.get(one, 0), one))
    for name in ordered:
        if groups[name]:
            order = "default"
            if name != "all":
                order = (
                    "group:{{ "
                    + f"{literal(name)} if {literal(name)} in Host.groups else ''"
                    + " }}"
                )
            file = "default.yaml" if name == "all" else f"group/{name}.yaml"
            project.layers.append(Layer(name, order, groups[name], file))
    together = Map()
    for name, found in singles.items():
        if found:
            project.layers.append(Layer(name, "host:{{ Host.name }}", found, f"host/{name}.yaml"))
            together.update(found)
    _note_shared(project)


def _note_shared(project: Project) -> None:
    """Record which variables other hosts can read."""
    for layer in project.layers:
        for key, value in layer.values.items():
            known = project.fleet.known.get(key, "")
            project.fleet.known[key] = known or _why_not_shared(key, value)


def _why_not_shared(name: str, value: Any) -> str:
    """Return why a variable cannot be in the inventory, where other hosts can read it, or ""."""
    if name in _FACTS:
        return "the inventory cannot set it, because it would hide the facts of this name"
    if is_password_variable(name):
        return "an inventory never contains passwords"
    if isinstance(value, Vaulted):
        return "its value is encrypted"
    if isinstance(value, str) and is_template(value):
        return "its value is a template"
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for one in inner if (found := _why_not_shared("", one))), "")


def _join_connections(hosts: Hosts, of_groups: dict[str, Map], of_hosts: dict[str, Map]) -> None:
    """Move connection variables from group_vars and host_vars to the inventory."""
    for name, found in of_groups.items():
        connection = _connection(found)
        if connection and (name == "all" or name in hosts.groups):
            hosts.group(name).variables.update(connection)
    names = set(hosts.names())
    for name, found in of_hosts.items():
        connection = _connection(found)
        if connection and name in names:
            hosts.host(name).update(connection)


def _connection(variables: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in variables.items() if k in _CONNECTION or k in _DROPPED}


def _plain(variables: dict[str, Any]) -> Map:
    return Map({k: v for k, v in variables.items() if k not in _CONNECTION and k not in _DROPPED})


def data_files(project: Project) -> dict[str, str]:
    """Return the content of the data files."""
    found: dict[str, str] = {}
    values: dict[str, list[Any]] = {}
    for layer in project.layers:
        for key, one in layer.values.items():
            values.setdefault(key, []).append(one)
    scope = Scope(values)
    for layer in project.layers:
        result: dict[str, Any] = {}
        title: list[str] = []
        for key, one in layer.values.items():
            try:
                result[key] = text_rewriter.value(one, scope)
            except NotConvertible as error:
                title.append(f"NOT CONVERTED: {key}: {error.reason}")
                project.notes.append(
                    f"data/{layer.entry}: the variable {key} is not converted: {error.reason}"
                )
        if result:
            found[f"data/{layer.entry}"] = data_text(result, title)
    for name in scope.uses.tables:
        project.notes.append(
            f"data files read Data.ansible_{name}, which the manifest that uses them must set"
        )
    return found


def hosts_text(project: Project, user: str, become: bool) -> str:
    """The text of hosts.yaml, empty if the project has no inventory."""
    hosts = project.hosts
    if not hosts.hosts:
        return ""
    found: dict[str, Any] = {}
    general = _properties(hosts.groups["all"].variables, project) if "all" in hosts.groups else {}
    if user:
        general.setdefault("user", user)
    if become:
        general.setdefault("become", True)
    if general:
        found["defaults"] = general
    found["hosts"] = {name: _properties(one, project) or None for name, one in hosts.hosts.items()}
    groups: dict[str, Any] = {}
    for name, group in hosts.groups.items():
        if name in ("all", "ungrouped"):
            continue
        made: dict[str, Any] = {}
        if group.hosts:
            made["hosts"] = list(group.hosts)
        if group.children:
            made["children"] = list(group.children)
        made.update(_properties(group.variables, project))
        groups[name] = made
    if groups:
        found["groups"] = groups
    _share(project, found)
    return _written(found)


def _share(project: Project, group_vars: dict[str, Any]) -> None:
    """Add the variables that other hosts read, each where the original sets it."""
    for layer in project.layers:
        shared = {k: v for k, v in layer.values.items() if k in project.fleet.read}
        if not shared:
            continue
        if layer.name == "all":
            target = group_vars.setdefault("defaults", {})
        elif layer.order.startswith("host:"):
            target = group_vars["hosts"][layer.name] = group_vars["hosts"].get(layer.name) or {}
        elif layer.name in group_vars.get("groups", {}):
            target = group_vars["groups"][layer.name]
        else:
            continue
        target["vars"] = {**target.get("vars", {}), **shared}


def _written(group_vars: dict[str, Any]) -> str:
    result: list[str] = []
    if "defaults" in group_vars:
        result += ["defaults:", *lines(group_vars["defaults"], 2), ""]
    result.append("hosts:")
    for name, one in group_vars["hosts"].items():
        result += [f"  {scalar(name)}:"] if one is None else lines({name: one}, 2)
    if "groups" in group_vars:
        result += ["", "groups:", *lines(group_vars["groups"], 2)]
    return "\n".join(result) + "\n"


def _properties(variables: dict[str, Any], project: Project) -> dict[str, Any]:
    """The connection properties of a host or group."""
    found: dict[str, Any] = {}
    for key, value in variables.items():
        if isinstance(value, str) and "{{" in value and key in (*_CONNECTION, *_DROPPED):
            _note(project, f"{key} in the inventory is a template; it is not converted")
            continue
        if key in _CONNECTION:
            found[_CONNECTION[key]] = value
        elif key == "ansible_connection":
            if value == "local":
                found["connection"] = "local"
        elif key == "ansible_become_user" and value != "root":
            found["become"] = value
        elif key in ("ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_ssh_args"):
            match = _JUMP.search(str(value))
            if match:
                found["jump"] = match.group(1) or match.group(2)
            else:
                _note(project, f"{key} in the inventory: put SSH options into ~/.ssh/config")
        elif "pass" in key and key in _DROPPED:
            _note(
                project,
                f"{key} in the inventory is not converted: an inventory never contains passwords",
            )
    if isinstance(found.get("become"), str):
        known = text_rewriter.as_bool(found["become"])
        found["become"] = known if known is not None else found["become"]
    return found


def _note(project: Project, text: str) -> None:
    if text not in project.notes:
        project.notes.append(text)
