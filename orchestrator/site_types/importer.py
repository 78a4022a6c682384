"""Imports the custom types of a site on the controller, from memory (controller).

Their modules have the names that they have on a target, below ``remote_runtime.resources``, so that
the same imports work. Only one site is imported at a time: another site's types with the same names
replace them. No bytecode is written next to the manifest.
"""

import importlib
import sys
import traceback
from collections.abc import Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import RLock
from types import ModuleType
from typing import Any, NamedTuple

from remote_runtime import resources
from remote_runtime.base import StateType
from remote_runtime.errors import InputError, Position, Problem

_PACKAGE = resources.__name__
_PROVIDERS = "PROVIDERS"
_LOCK = RLock()


class Module(NamedTuple):
    """The source of one module, and the file that it was read from, as shown to the user."""

    source: bytes
    file: str
    is_package: bool


class _Finder(MetaPathFinder, Loader):
    """Finds the modules in its map; one for the process."""

    def __init__(self) -> None:
        self.modules: dict[str, Module] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of a custom type; None for any other, which the next finder gets."""
        module = self.modules.get(name)
        if module is None:
            return None
        spec = ModuleSpec(
            name,
            self,
            origin=module.file,
            is_package=module.is_package,
        )
        spec.has_location = True
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the creation of the module to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        found = self.modules[module.__name__]
        exec(compile(found.source, found.file, "exec", dont_inherit=True), module.__dict__)


_FINDER = _Finder()


def import_resource(type_name: str, modules: Mapping[str, Module]) -> type[StateType]:
    """The class ``Resource`` of a type; InputError if it cannot be imported, or could bypass the
    ports: if it is not a state type, or has providers.

    ``modules`` has the modules of the type by their path in its directory, without the suffix.
    """
    found = import_member(type_name, modules, "resource", "Resource")
    if not (isinstance(found, type) and issubclass(found, StateType)):
        message = "Resource is not derived from StateType of remote_runtime.base"
        hint = "derive it from StateType and define read, desired, apply and remove"
        where = _place(modules["resource"], "class Resource")
        raise InputError([Problem(message, where, hint, "input.python")])
    if hasattr(sys.modules[f"{_PACKAGE}.{type_name}"], _PROVIDERS):
        hint = f"remove {_PROVIDERS}, and let the methods of Resource use the ports of host"
        where = _place(modules["__init__"], _PROVIDERS)
        raise InputError([Problem("a custom type has no providers", where, hint, "input.python")])
    return found


def _place(module: Module, text: str) -> Position:
    """Return the position of a module's last line that begins with a string."""
    lines = module.source.decode().splitlines()
    numbers = [number for number, line in enumerate(lines, 1) if line.startswith(text)]
    return Position(module.file, numbers[-1] if numbers else 1, 1)


def import_member(type_name: str, modules: Mapping[str, Module], stem: str, name: str) -> Any:
    """An attribute of a type's module; InputError if it cannot be imported."""
    package = f"{_PACKAGE}.{type_name}"
    with _LOCK:
        _provide(package, modules)
        try:
            found = getattr(importlib.import_module(f"{package}.{stem}"), name)
        except (Exception, SystemExit) as error:
            files = {module.file for module in modules.values()}
            text = f"cannot import the type {type_name}: {described(error)}"
            where = position(error, files) or Position(modules[stem].file, 1, 1)
            raise InputError([Problem(text, where, "", "input.python")]) from error
    return found


def _provide(package: str, modules: Mapping[str, Module]) -> None:
    """Make the modules importable, and remove another site's modules with these names."""
    wanted = {_module_name(package, path): module for path, module in modules.items()}
    below = {name for name in _FINDER.modules if _is_of(name, package)}
    if {name: _FINDER.modules[name] for name in below} == wanted:
        return
    for name in below:
        del _FINDER.modules[name]
    for name in [name for name in sys.modules if _is_of(name, package)]:
        del sys.modules[name]
    _FINDER.modules.update(wanted)
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)


def _module_name(package: str, path: str) -> str:
    dotted = path.replace("/", ".")
    return package if dotted == "__init__" else f"{package}.{dotted.removesuffix('.__init__')}"


def _is_of(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


def described(error: BaseException) -> str:
    """An exception from a type's code in one line."""
    return " ".join("".join(traceback.format_exception_only(error)).split())


def position(error: BaseException, files: set[str]) -> Position | None:
    """The innermost position in one of the files through which the exception passed."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if frame.filename in files:
            return Position(frame.filename, frame.lineno or 1, 1)
    return None
