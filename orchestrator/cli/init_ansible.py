"""An Ansible inventory as the start of a project (controller)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from inventory.declaration_reader import read_declaration
from inventory.problem_collector import Checker
from inventory.resolution import resolve
from inventory.yaml_document import parse_document
from orchestrator.ansible.conversion.inventory_files import data_files, hosts_text, read_layers
from orchestrator.ansible.conversion.project_converter import Project
from orchestrator.ansible.source.inventories import read_inventory
from remote_runtime.errors import UsageError


class Converted(NamedTuple):
    """The inventory in ccm's format, data files by their path, the entries of the hierarchy, and
    notes on parts that were not converted.
    """

    hosts: str
    data: dict[str, str]
    order: list[str]
    notes: list[str]


def convert_inventory(path: str, become: bool) -> Converted:
    """Convert an inventory in INI or YAML, with the group_vars and host_vars next to it.

    Runs no program. UsageError and InputError for a file that is not an inventory, or that has no
    hosts.
    """
    if not os.path.isfile(path):
        raise UsageError(f"{path} is not a file", hint="specify an inventory in INI or YAML")
    if os.access(path, os.X_OK):
        hint = f"ccm runs inventory programs itself: set 'inventory: {path}' in ccm.yaml"
        raise UsageError(f"{path} is a program", hint=hint)
    project = Project([])
    project.hosts = read_inventory([Path(path)])
    if not project.hosts.hosts:
        raise UsageError(f"{path} lists no hosts", hint="specify an inventory in INI or YAML")
    read_layers(project, [Path(path).parent])
    data = data_files(project)
    text = hosts_text(project, "", become)
    checker = Checker()
    root = parse_document(text, f"hosts.yaml, from {path}")
    resolve(read_declaration(root, os.path.dirname(path), checker), checker)
    order = list(dict.fromkeys(layer.order for layer in project.layers))
    return Converted(text, data, order, project.notes)
