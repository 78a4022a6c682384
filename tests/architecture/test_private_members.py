"""Private members of the standard library and of libraries: each in one listed place, or not used.

Those of the SSH libraries are in ``test_ssh_internals.py``.
"""

import argparse
import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.source import PRODUCT, ROOT, modules, nodes, shown

PUBLIC = {"_replace", "_asdict", "_fields", "_field_defaults", "_make"}  # of named tuples
PUBLIC |= {"_exit"}  # os._exit
PUBLIC |= {"_fail_with_undefined_error", "_undefined_name"}  # documented by Jinja2 for Undefined
PUBLIC_MODULES = {"__future__", "_thread"}  # documented by the standard library
SSH = ROOT / "orchestrator" / "transport" / "ssh_internals.py"

IMPORTS = {
    "orchestrator/support/hashing.py": {"hashlib._Hash": "the type of a hash; for types only"},
    "orchestrator/verify/pytest_run/collection.py": {
        "_pytest.junitxml": "no public access to the JUnit report of one item"
    },
    "orchestrator/verify/pytest_run/terminal_report.py": {
        "_pytest.terminal": "pytest exports the class only in its newer releases"
    },
    "remote_runtime/bootstrap.py": {"_frozen_importlib_external": "importlib.util costs 2 ms"},
    "remote_runtime/facts/netlink.py": {"_socket": "socket costs a target 4 ms"},
    "remote_runtime/facts/network.py": {"_socket": "socket costs a target 4 ms"},
    "remote_runtime/health/kinds/port.py": {"_socket": "socket costs a target 4 ms"},
    "remote_runtime/stdlib_light/json_text.py": {"_json": "json imports re; it is the fallback"},
}
MEMBERS = {
    "orchestrator/cluster/dask_api.py": {
        "_start": "the results of tasks are not deserialized",
        "_ensure_connected": "the results of tasks are not deserialized",
    },
    "orchestrator/language/jinja/environment.py": {"_generate": "a hook for subclasses of Jinja2"},
    "orchestrator/language/sandbox.py": {"_undefined_message": "errors in the terms of manifests"},
    "orchestrator/registration/nats_stream.py": {
        "_process_info": "no login without TLS; checked when the module is used"
    },
    "remote_runtime/downloads/http_get.py": {
        "_create_connection": "http.client has no public way to pass a connected socket"
    },
}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def own_package(module: str) -> bool:
    return module.split(".")[0] in {path.split("/")[0] for path in PRODUCT}


def private_imports(node: ast.AST) -> Iterator[str]:
    """The private modules and names of others that an import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        private = any(map(is_private, node.module.split(".")))
        imported = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [node.module] if private else imported
    else:
        return
    for name in names:
        parts = [part for part in name.split(".") if is_private(part)]
        if parts and not own_package(name) and name.split(".")[0] not in PUBLIC_MODULES:
            yield name


def defined(path: Path) -> Iterator[str]:
    """The private names that a module gives functions, attributes and variables of its own."""
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            own = isinstance(node, ast.Name) or ast.unparse(node.value) in ("self", "cls")
            if own:
                yield node.id if isinstance(node, ast.Name) else node.attr


def foreign(path: Path) -> Iterator[ast.Attribute]:
    """The private attributes of objects other than ``self`` and ``cls``."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            mine = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not mine:
                yield node


@cache
def of_argparse() -> frozenset[str]:
    """Every private name of argparse and of its objects."""
    source = inspect.getsource(argparse)
    return frozenset(filter(is_private, re.findall(r"\b_\w+", source)))


def test_private_modules_and_names_are_imported_where_they_are_listed() -> None:
    """Each import of one has its reason in the list, and the list has no other entries."""
    found = defaultdict(set)
    for path in modules(*PRODUCT):
        for node in nodes(path):
            for name in private_imports(node):
                found[shown(path)].add(name)
    assert found == {path: set(names) for path, names in IMPORTS.items()}


def test_private_members_of_libraries_are_used_where_they_are_listed() -> None:
    """A private attribute that no module of the product defines has its reason in the list."""
    own = {name for path in modules(*PRODUCT) for name in defined(path)}
    overridden = {name for names in MEMBERS.values() for name in names}
    found = defaultdict(set)
    for path in modules(*PRODUCT):
        if path != SSH:
            for node in foreign(path):
                if node.attr not in own - overridden:
                    found[shown(path)].add(node.attr)
    assert found == {path: set(names) for path, names in MEMBERS.items()}


def test_no_private_member_of_argparse_is_used() -> None:
    """Not of an object, and not by a class derived from one of its classes."""
    found = []
    for path in modules(*PRODUCT, "docs"):
        if "argparse" not in path.read_text(encoding="utf-8"):
            continue
        own = set(defined(path))
        found += [
            f"{shown(path)}:{node.lineno} {ast.unparse(node)}"
            for node in foreign(path)
            if node.attr in of_argparse() and node.attr not in own
        ]
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and "argparse." in ",".join(
                map(ast.unparse, node.bases)
            ):
                names = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
                found += [f"{shown(path)} {node.name}.{name}" for name in names & of_argparse()]
    assert found == []
