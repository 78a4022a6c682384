"""All custom types of a site (controller)."""

import keyword
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from orchestrator.site_types.directory import (
    DIRECTORY,
    read_type,
    trust_problem,
    type_directories,
    unreadable,
)
from orchestrator.site_types.importer import (
    Module,
    described,
    import_member,
    import_resource,
    position,
)
from orchestrator.site_types.module_checks import controller_problems, module_problems
from orchestrator.site_types.schema import read_schema
from orchestrator.support.file_trust import trusted_owners
from remote_runtime import registry
from remote_runtime.base import StateType
from remote_runtime.errors import InputError, Problem, ResourceError

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_TAKEN = ("api",)  # `ccm ensure api pipe`
_NEEDED = ("__init__.py", "resource.py", "schema.json")
_VERIFY = "verify.py"


class SiteType:
    """One type: its schema and its modules, all checked but not imported.

    ``sources`` are the modules that targets need; ``verify`` is the module for the controller only,
    None without one.
    """

    def __init__(self, name: str, home: Path, files: dict[str, bytes]) -> None:
        self.name = name
        self.home = home
        self.schema: dict[str, Any] = {}
        self.providers = registry.PORTS
        modules = {path: data for path, data in files.items() if path.endswith(".py")}
        self.verify = modules.pop(_VERIFY, None)
        self.sources = modules
        self._class: type[StateType] | None = None

    def load(self) -> type[StateType]:
        """The class ``Resource``, imported on first use; InputError if that fails."""
        if self._class is None:
            self._class = import_resource(self.name, self._modules())
        return self._class

    def check(self, name: str, properties: dict[str, Any]) -> list[tuple[str, str]]:
        """Run ``Resource.check`` of the type; if the method itself fails, that is a problem of the
        resource, too.
        """
        resource = self.load()
        try:
            return [(str(key), str(text)) for key, text in resource.check(name, properties)]
        except (Exception, SystemExit) as error:  # a site's own type may raise anything
            files = {module.file for module in self._modules().values()}
            where = position(error, files)
            return [("name", f"check() of the type failed in {where}: {described(error)}")]

    def asking(self, method: str) -> Callable[..., list[Any]]:
        """Calls another class method of ``Resource``; InputError if that fails."""

        def ask(*given: Any) -> list[Any]:
            """Call the method and return its result."""
            resource = self.load()
            try:
                return list(getattr(resource, method)(*given))
            except (Exception, SystemExit) as error:
                where = position(error, {module.file for module in self._modules().values()})
                text = f"{method}() of the type {self.name} failed: {described(error)}"
                raise InputError([Problem(text, where, "", "input.python")]) from error

        return ask

    def expectations(self) -> Callable[[Any], list[Any]] | None:
        """``expectations`` of ``verify.py``, None without one; InputError if that fails.

        A failure of it is a ResourceError of the resource.
        """
        if self.verify is None:
            return None
        modules = self._modules()
        made = import_member(self.name, modules, "verify", "expectations")

        def expectations(subject: Any) -> list[Any]:
            """The custom expectations; an error in the module becomes a CcmError."""
            try:
                return list(made(subject))
            except (Exception, SystemExit) as error:
                where = position(error, {modules["verify"].file})
                text = f"{_VERIFY} of the type failed in {where}: {described(error)}"
                raise ResourceError(text, kind="resource.verify") from error

        return expectations

    def file(self, path: str) -> str:
        """A file of the type, under the path that the user knows."""
        return str(self.home / path)

    def _modules(self) -> dict[str, Module]:
        return {
            path.removesuffix(".py"): Module(source, self.file(path), path.endswith("__init__.py"))
            for path, source in (*self.sources.items(), (_VERIFY, self.verify))
            if source is not None
        }


class SiteTypes:
    """Every type of a site, by name."""

    def __init__(self, types: Collection[SiteType] = ()) -> None:
        self._types = {found.name: found for found in types}

    def get(self, name: str) -> SiteType | None:
        """The type with that name, or None."""
        return self._types.get(name)

    def names(self) -> list[str]:
        """The names of the types, sorted."""
        return sorted(self._types)

    def sources(self) -> dict[str, bytes]:
        """The modules for targets, by their path below the runtime's types."""
        return {
            f"{name}/{path}": source
            for name, found in sorted(self._types.items())
            for path, source in sorted(found.sources.items())
        }


def types_below(directory: Path, owner: int | None = None) -> SiteTypes:
    """The types in ``types/`` of a directory; none without one.

    ``owner`` is the user ID of the manifest's owner: its files are trusted, besides those of root
    and the user. InputError with every problem of every type.
    """
    home = directory / DIRECTORY
    return types_in(home, owner) if home.is_dir() else SiteTypes()


def types_in(directory: Path, owner: int | None = None) -> SiteTypes:
    """The types whose directories are in ``directory``; see ``types_below``."""
    owners = trusted_owners() if owner is None else {*trusted_owners(), owner}
    problems: list[Problem] = []
    found: list[SiteType] = []
    try:
        for home in type_directories(directory):
            problem = trust_problem(directory, owners) if not found else None
            if problem:
                raise InputError([problem])
            found.append(_read(home, owners, problems))
    except OSError as error:
        problems.append(unreadable(error))
    if problems:
        raise InputError(problems)
    return SiteTypes(found)


def _read(home: Path, owners: Collection[int], problems: list[Problem]) -> SiteType:
    name = home.name
    if not _NAME.match(name) or keyword.iskeyword(name) or name in _TAKEN:
        hint = "use lowercase letters, digits and _, starting with a letter"
        problems.append(Problem(f"{home}: {name!r} is not a valid type name", None, hint))
    elif name in registry.types():
        hint = "rename the directory"
        problems.append(Problem(f"{home}: a type named {name} already exists", None, hint))
    before = len(problems)
    files = read_type(home, owners, problems)
    found = SiteType(name, home, files)
    if len(problems) > before:
        return found
    problems += [
        Problem(f"{home / path} is missing", None, "every type requires it", "input.missing")
        for path in _NEEDED
        if path not in files
    ]
    for path, source in found.sources.items():
        problems += module_problems(name, path, found.file(path), source)
    if found.verify is not None:
        problems += controller_problems(found.file(_VERIFY), found.verify, "expectations")
    if "schema.json" in files:
        file = found.file("schema.json")
        found.schema = read_schema(files["schema.json"], file, problems) or {}
    return found
