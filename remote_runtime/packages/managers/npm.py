"""Packages of Node.js, in a directory or for the whole host (target).

Reading: ``package.json`` of each package in ``node_modules``. Changing: npm, as the owner of the
directory.
"""

import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Effect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.language_packages import directory as places
from remote_runtime.packages.language_packages.directory import Place
from remote_runtime.packages.language_packages.manager import (
    ASKING,
    EnvironmentManager,
    Inventory,
    PlannedPackage,
)
from remote_runtime.packages.package_info import Available, Installed, Operation, VersionChange
from remote_runtime.plan_item import Properties

_MODULES = "node_modules"
_LOCK = "package-lock.json"
_LARGEST = 32 << 20  # bytes of a file of npm
_MAX_VALUES = 2_000_000  # in it; each takes up to 100 bytes of memory


class Npm(EnvironmentManager):
    """npm, in a directory or global."""

    name = "npm"
    keys = ("path", "global")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._global = ""

    def _lacking(self, properties: Properties) -> str:
        return "" if self.context.commands.find("npm") else "npm is not installed"

    def compare(self, left: str, right: str) -> int:
        """Order two semantic versions."""
        if left == right:
            return 0
        from remote_runtime.packages.versions import semantic

        return semantic.compare(left, right)

    def _wanted_of(self, name: str, properties: Properties) -> PlannedPackage:
        directory = str(properties.get("path") or "")
        name = str(properties.get("package") or name)
        return PlannedPackage(self._key(name, directory), name, directory, properties)

    # -- what is installed ------------------------------------------------------------------------

    def _modules(self, package: PlannedPackage) -> str:
        """Return the directory of the packages; npm is queried once for that of the host."""
        if package.directory:
            return os.path.join(package.directory, _MODULES)
        if not self._global:
            result = self._asked_npm(Place("/", -1, -1, True), ["root", "--global"], "")
            path = result.stdout.strip()
            if result.code != 0 or not path.startswith("/"):
                raise ResourceError(
                    "npm root: %s" % result.ending(ASKING), kind="package.npm", output=result.tail()
                )
            self._global = path
        return self._global

    def _installed(self, package: PlannedPackage) -> Installed:
        if package.properties.get("ci") is True:
            return self._of_lock(package)
        modules = self._modules(package)
        return self._one(os.path.join(modules, package.name))

    def _one(self, directory: str) -> Installed:
        document = self._document(os.path.join(directory, "package.json"))
        version = document.get("version")
        return Installed(version, "installed") if isinstance(version, str) else Installed()

    def _document(self, path: str) -> Dict[str, Any]:
        """Return a document of npm; empty if the file is missing or broken."""
        status = self.context.files.status(path, follow=True)
        if status is None or status.kind != "file":
            return {}
        import json

        data = self.context.files.read(path, _LARGEST, follow=True)
        try:
            few = sum(map(data.count, (b",", b"[", b"{"))) <= _MAX_VALUES
            document = json.loads(data.decode("utf-8")) if few else None
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def _of_lock(self, package: PlannedPackage) -> Installed:
        differences = self._unmet(package)
        if not differences:
            return Installed("present", "installed")
        return Installed(
            "", "not installed: %s" % ", ".join(name for name, _, _ in differences[:5])
        )

    def _unmet(self, package: PlannedPackage) -> List[Tuple[str, str, str]]:
        """Return what differs from the lock file: name, installed version, version there."""
        from remote_runtime.packages.language_packages import npm_calls

        path = os.path.join(package.directory, _LOCK)
        lock = self._document(path)
        if not lock:
            raise ResourceError(
                "%s does not exist or is not an npm lock file" % path,
                kind="package.npm",
                hint="commit the file that npm install writes, or omit ci",
            )
        differences = []
        for place, version in npm_calls.locked(lock, package.properties.get("production") is True):
            now = self._one(os.path.join(package.directory, place)).version
            if now != version:
                differences.append((place.rpartition(_MODULES + "/")[2], now, version))
        return differences

    def _everything(self, package: PlannedPackage) -> Inventory:
        modules = self._modules(package)
        files = self.context.files
        inventory: Inventory = {}
        for name in self._listed(modules):
            if name.startswith("@"):
                inside = os.path.join(modules, name)
                names = ["%s/%s" % (name, one) for one in self._listed(inside)]
            else:
                names = [] if name.startswith(".") else [name]
            for one in names:
                if files.status(os.path.join(modules, one), follow=True) is not None:
                    inventory[one] = self._one(os.path.join(modules, one))
        return inventory

    def _listed(self, path: str) -> List[str]:
        status = self.context.files.status(path, follow=False)
        return self.context.files.entries(path) if status and status.kind == "directory" else []

    # -- the registry -----------------------------------------------------------------------------

    def _look_up(self, package: PlannedPackage) -> Available:
        from remote_runtime.packages.language_packages import npm_calls

        if package.properties.get("ci") is True:
            return Available(True, "present")
        place = self.place(package)
        words = ["view", "--json", *npm_calls.of_registry(package.options)]
        words += ["--", package.name, "versions", "dist-tags"]
        result = self._asked_npm(place, words, package.text("index_url") or "")
        try:
            return npm_calls.answer(result)
        except ValueError:
            reason = "the registry did not answer the query for %s" % package.name
            raise self.unreachable(reason, result) from None

    def _asked_npm(self, place: Place, words: List[str], registry: str) -> Any:
        """Query npm, without leaving anything on the host."""
        from remote_runtime.packages.language_packages import npm_calls

        program = self.context.commands.find("npm")
        if not program:
            raise Unknowable("npm is not installed yet: an earlier resource installs it")
        if place.is_there:
            places.require_safe(self.context, place, self._deciding(place.path))
        argv = ["sh", "-c", npm_calls.ASKING, "sh", program, *words]
        added = npm_calls.environment(registry)
        return self.command(place, argv, ASKING, env=added)

    @staticmethod
    def _deciding(path: str) -> List[str]:
        names = (".npmrc", "package.json", _LOCK, _MODULES)
        return [os.path.join(path, name) for name in names]

    # -- changes ----------------------------------------------------------------------------------

    def place(self, package: PlannedPackage) -> Place:
        """See the base class. Global packages belong to the user of the run."""
        if package.directory:
            return super().place(package)
        modules = self._modules(package)
        while self.context.files.status(modules, follow=True) is None:
            modules = os.path.dirname(modules)
        return Place(modules, -1, -1, True)

    def _require_ready(self, package: PlannedPackage) -> Place:
        place = self.place(package)
        places.require_safe(self.context, place, self._deciding(place.path))
        return place

    def _differing(self, package: PlannedPackage) -> Sequence[VersionChange]:
        if package.properties.get("ci") is not True:
            return ()
        changes: Dict[str, VersionChange] = {}
        for name, before, after in self._unmet(package):
            key = self._key(name, package.directory)
            changes.setdefault(key, VersionChange(key, before, after))
        return [changes[key] for key in sorted(changes)]

    def _resolve(self, operation: Operation, package: PlannedPackage) -> Optional[Dict[str, str]]:
        from remote_runtime.packages.language_packages import npm_calls

        if package.properties.get("ci") is True:
            return None
        place = self.place(package)
        where = ["--new"]
        if not package.directory:
            where = ["--global"]
        elif os.path.isdir(package.directory):  # not one that is only planned
            where = ["--prefix", package.directory]
        words = [*where, "install", "--dry-run", "--json", "--ignore-scripts", *package.options]
        words += ["--", _specifier(operation, package)]
        result = self._asked_npm(place, words, package.text("index_url") or "")
        return npm_calls.resolved(result)

    def _reads(self, package: PlannedPackage, path: str) -> bool:
        modules = self._modules(package)
        if path == modules or path in self._deciding(package.directory or modules):
            return True
        inside = path[len(modules) + 1 :] if path.startswith(modules + "/") else ""
        parts = inside.split("/")
        depth = 2 if inside.startswith("@") else 1
        return bool(inside) and (len(parts) <= depth or parts[depth:] == ["package.json"])

    def _making(self, package: PlannedPackage, by: str) -> List[Effect]:
        if not package.directory:
            return []
        place = self.place(package)
        return [] if place.is_there else self._dry_run(package, place, by)

    def _prepare(self, package: PlannedPackage, place: Place) -> Place:
        if place.is_there:
            return place
        self._made(place)
        return self.place(package)

    def _run(self, operation: Operation, package: PlannedPackage, place: Place) -> None:
        from remote_runtime.packages.language_packages import npm_calls

        where = ["--prefix", package.directory] if package.directory else ["--global"]
        more = list(package.options)
        if package.properties.get("production") is True:
            more.append("--omit=dev")
        if operation.removal:
            argv = ["npm", *where, "uninstall", "--", package.name]
        elif package.properties.get("ci") is True:
            argv = ["npm", *where, "ci", *more]
        else:
            argv = ["npm", *where, "install", *more, "--", _specifier(operation, package)]
        added = npm_calls.environment(package.text("index_url") or "")
        result = self.command(place, argv, env=added)
        if result.code != 0:
            raise npm_calls.failure(str(operation), result)

    def _key(self, name: str, directory: str) -> str:
        return "%s in %s" % (name, directory) if directory else "%s (global)" % name


def _specifier(operation: Operation, package: PlannedPackage) -> str:
    """Return the arguments for npm."""
    return package.name + ("@" + operation.version if operation.version else "")
