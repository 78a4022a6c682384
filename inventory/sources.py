"""Loads inventories from the sources named by ``-i`` (controller).

A source is a YAML or JSON file in the documented form or in that of ``ansible-inventory --list``,
an executable that prints either, or a list of host names with a comma in it (``web1,web2`` or
``web1,``). If several sources set the same value, the later one takes precedence.
"""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from inventory.ansible_output import is_ansible_file, is_ansible_list, is_ini, read_ansible_list
from inventory.declaration import Declaration
from inventory.declaration_reader import TOP_LEVEL, read_declaration
from inventory.document_nodes import Mapping, Node, Scalar, Source
from inventory.gc_pause import collection_paused
from inventory.model import Inventory
from inventory.name_rules import host_name_fault
from inventory.problem_collector import Checker
from inventory.resolution import resolve
from inventory.yaml_document import ambiguous_values, parse_document, read_text
from remote_runtime.errors import InputError, Position, Problem

_TEXT_ENDINGS = (".yaml", ".yml", ".json")


def load(sources: str | Path | Iterable[str | Path]) -> Inventory:
    """The inventory of one or several sources; InputError with every problem in all of them.

    Reads files and may run a program (30 s at most); contacts no host.
    """
    paths = [sources] if isinstance(sources, (str, Path)) else list(sources)
    checker = Checker()
    declared: list[Declaration] = []
    with collection_paused():
        for path in paths:
            try:
                declared.append(_declared(str(path), checker))
            except InputError as error:
                checker.problems.extend(error.problems)
        if not paths:
            hint = "specify a file with -i"
            checker.problems.append(Problem("no inventory", None, hint, "inventory.missing"))
        declaration, *later = declared or [Declaration()]
        for other in later:
            declaration.merge(other)
        return resolve(declaration, checker)


def this_host() -> Inventory:
    """The inventory for commands that need none: the machine on which they run,
    as ``localhost``.
    """
    checker = Checker()
    root = parse_document("hosts: {localhost: {connection: local}}", "this host")
    return resolve(read_declaration(root, os.getcwd(), checker), checker)


def _declared(path: str, checker: Checker) -> Declaration:
    if "," in path and not os.path.exists(path):
        return _listed(path, checker)
    if os.path.isdir(path):
        hint = "specify its files, each with its own -i"
        raise InputError([Problem(f"{path} is a directory", None, hint, "inventory.directory")])
    if is_program(path):
        from inventory.dynamic import run_program

        text, name = run_program(path), f"{path} --list"
    else:
        _require(path)
        text, name = read_text(path), path
    root = _parsed(text, name, checker, of_program=name != path)
    directory = os.path.dirname(os.path.abspath(path))
    if is_ansible_list(root):
        if not root.source.is_json:
            root = parse_document(text, name, [], yaml11=True)
        return read_ansible_list(root, directory, checker)
    if not root.source.is_json:
        checker.notes += ambiguous_values(root)
    return read_declaration(root, directory, checker)


def is_program(path: str) -> bool:
    """Whether a source is run: an executable file whose name does not have a document's
    extension.
    """
    if path.lower().endswith(_TEXT_ENDINGS):
        return False
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _require(path: str) -> None:
    """InputError if the file does not exist, with a hint if the word may be a host."""
    if not path:
        hint = "specify a file, a program or names of hosts"
        raise InputError([Problem("the name of the inventory is empty", None, hint)])
    if os.path.lexists(path) or "/" in path or host_name_fault(path) is not None:
        return
    hint = f"to name a single host, add a comma: -i {path},"
    raise InputError(
        [Problem(f"the inventory {path} does not exist", None, hint, "inventory.missing")]
    )


def _parsed(text: str, name: str, checker: Checker, of_program: bool) -> Node:
    """Return the document; InputError for an Ansible inventory."""

    def ini() -> bool:
        """Whether it is INI; the output of a program must have brackets, because it may be any
        text.
        """
        return is_ini(text) and not (of_program and "[" not in text)

    problems = list(checker.problems)
    try:
        root = _read_json(text, name)
        if root is None:
            root = parse_document(text, name, problems)
    except InputError:
        if ini():
            raise _ansibles(name, "INI", of_program) from None
        raise
    if is_ansible_file(root):
        raise _ansibles(name, "YAML", of_program)
    if not isinstance(root, Mapping) and ini():
        raise _ansibles(name, "INI", of_program)
    if isinstance(root, Mapping) and not any(key in root for key in TOP_LEVEL):
        _refuse_manifest(root)
    checker.problems[:] = problems
    return root


def _read_json(text: str, name: str) -> Node | None:
    """The document if it is JSON; None if it must be read as YAML."""
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return None
    from inventory.json_nodes import read_json

    return read_json(text, name)


def _refuse_manifest(root: Mapping) -> None:
    for key in ("ccm", "stages"):
        if key in root:
            message = "this is a manifest, not an inventory"
            hint = "specify the inventory with -i, and the manifest without an option"
            where = root.key(key).position
            raise InputError([Problem(message, where, hint, "inventory.manifest")])


def _ansibles(name: str, form: str, of_program: bool) -> InputError:
    file = shlex.quote(name)
    made = shlex.quote(f"{name}.ccm.json")
    hint = f"convert it with Ansible: ansible-inventory -i {file} --list > {made}"
    if of_program:
        hint = "a program must print the format of ccm or of ansible-inventory --list"
    message = f"this looks like an Ansible inventory in {form}"
    return InputError([Problem(message, Position(name, 1, 1), hint, "inventory.ansible_output")])


def _listed(text: str, checker: Checker) -> Declaration:
    """The hosts of ``-i web1,web2,``; positions are columns of that text."""
    declaration = Declaration()
    source = Source("-i", text)
    column = 1
    for part in text.split(","):
        name = part.strip()
        node = Scalar(source, 1, column=column, text=name, kind="str", value=name, plain=True)
        column += len(part) + 1
        if not name:
            continue
        fault = host_name_fault(name)
        if fault:
            checker.report(node, *fault, kind="inventory.name")
        else:
            declaration.host(name, node)
    return declaration
