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
from remote_runtime.item import Properties
from remote_runtime.packages.language_packages import directory as places
from remote_runtime.packages.language_packages.directory import Place
from remote_runtime.packages.language_packages.manager import (
    ASKING,
    EnvironmentManager,
    Inventory,
    PlannedPackage,
)
from remote_runtime.packages.package_info import Available, Installed, Operation, VersionChange

_MODULES = "node_modules"
_LOCK = "package-lock.json"
_LARGEST = 32 << 20  # bytes of a file of npm


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

    def _modules(self, wanted: PlannedPackage) -> str:
        """Return the directory of the packages; npm is queried once for that of the host."""
        if wanted.directory:
            return os.path.join(wanted.directory, _MODULES)
        if not self._global:
            done = self._asked_npm(Place("/", -1, -1, True), ["root", "--global"], "")
            found = done.stdout.strip()
            if done.code != 0 or not found.startswith("/"):
                raise ResourceError(
                    "npm root: %s" % done.ending(ASKING), kind="package.npm", output=done.tail()
                )
            self._global = found
        return self._global

    def _installed(self, wanted: PlannedPackage) -> Installed:
        if wanted.properties.get("ci") is True:
            return self._of_lock(wanted)
        modules = self._modules(wanted)
        return self._one(os.path.join(modules, wanted.name))

    def _one(self, directory: str) -> Installed:
        found = self._document(os.path.join(directory, "package.json"))
        version = found.get("version")
        return Installed(version, "installed") if isinstance(version, str) else Installed()

    def _document(self, path: str) -> Dict[str, Any]:
        """Return a document of npm; empty if the file is missing or broken."""
        status = self.context.files.status(path, follow=True)
        if status is None or status.kind != "file":
            return {}
        import json

        try:
            found = json.loads(self.context.files.read(path, _LARGEST, follow=True).decode("utf-8"))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _of_lock(self, wanted: PlannedPackage) -> Installed:
        left = self._unmet(wanted)
        if not left:
            return Installed("present", "installed")
        return Installed("", "not installed: %s" % ", ".join(name for name, _, _ in left[:5]))

    def _unmet(self, wanted: PlannedPackage) -> List[Tuple[str, str, str]]:
        """Yield the differences from the lock file: name, installed version, version in
        the file.
        """
        from remote_runtime.packages.language_packages import npm_calls

        path = os.path.join(wanted.directory, _LOCK)
        lock = self._document(path)
        if not lock:
            raise ResourceError(
                "%s does not exist or is not an npm lock file" % path,
                kind="package.npm",
                hint="commit the file that npm install writes, or leave out ci",
            )
        found = []
        for place, version in npm_calls.locked(lock, wanted.properties.get("production") is True):
            now = self._one(os.path.join(wanted.directory, place)).version
            if now != version:
                found.append((place.rpartition(_MODULES + "/")[2], now, version))
        return found

    def _everything(self, wanted: PlannedPackage) -> Inventory:
        modules = self._modules(wanted)
        files = self.context.files
        found: Inventory = {}
        for name in self._listed(modules):
            if name.startswith("@"):
                inside = os.path.join(modules, name)
                names = ["%s/%s" % (name, one) for one in self._listed(inside)]
            else:
                names = [] if name.startswith(".") else [name]
            for one in names:
                if files.status(os.path.join(modules, one), follow=True) is not None:
                    found[one] = self._one(os.path.join(modules, one))
        return found

    def _listed(self, path: str) -> List[str]:
        status = self.context.files.status(path, follow=False)
        return self.context.files.entries(path) if status and status.kind == "directory" else []

    # -- the registry -----------------------------------------------------------------------------

    def _look_up(self, wanted: PlannedPackage) -> Available:
        from remote_runtime.packages.language_packages import npm_calls

        if wanted.properties.get("ci") is True:
            return Available(True, "present")
        place = self.place(wanted)
        words = ["view", "--json", *npm_calls.of_registry(wanted.options)]
        words += ["--", wanted.name, "versions", "dist-tags"]
        done = self._asked_npm(place, words, wanted.text("index_url") or "")
        try:
            return npm_calls.answer(done)
        except ValueError:
            reason = "the registry did not answer the query for %s" % wanted.name
            raise self.unreachable(reason, done) from None

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

    def place(self, wanted: PlannedPackage) -> Place:
        """See the base class. Global packages belong to the user of the run."""
        if wanted.directory:
            return super().place(wanted)
        modules = self._modules(wanted)
        while self.context.files.status(modules, follow=True) is None:
            modules = os.path.dirname(modules)
        return Place(modules, -1, -1, True)

    def _require_ready(self, wanted: PlannedPackage) -> Place:
        place = self.place(wanted)
        places.require_safe(self.context, place, self._deciding(place.path))
        return place

    def _differing(self, wanted: PlannedPackage) -> Sequence[VersionChange]:
        if wanted.properties.get("ci") is not True:
            return ()
        found: Dict[str, VersionChange] = {}
        for name, before, after in self._unmet(wanted):
            key = self._key(name, wanted.directory)
            found.setdefault(key, VersionChange(key, before, after))
        return [found[key] for key in sorted(found)]

    def _resolve(self, operation: Operation, wanted: PlannedPackage) -> Optional[Dict[str, str]]:
        from remote_runtime.packages.language_packages import npm_calls

        if wanted.properties.get("ci") is True:
            return None
        place = self.place(wanted)
        where = ["--new"]
        if not wanted.directory:
            where = ["--global"]
        elif os.path.isdir(wanted.directory):  # not one that is only planned
            where = ["--prefix", wanted.directory]
        words = [*where, "install", "--dry-run", "--json", "--ignore-scripts", *wanted.options]
        words += ["--", _specifier(operation, wanted)]
        done = self._asked_npm(place, words, wanted.text("index_url") or "")
        return npm_calls.resolved(done)

    def _reads(self, wanted: PlannedPackage, path: str) -> bool:
        modules = self._modules(wanted)
        if path == modules or path in self._deciding(wanted.directory or modules):
            return True
        inside = path[len(modules) + 1 :] if path.startswith(modules + "/") else ""
        parts = inside.split("/")
        depth = 2 if inside.startswith("@") else 1
        return bool(inside) and (len(parts) <= depth or parts[depth:] == ["package.json"])

    def _making(self, wanted: PlannedPackage, by: str) -> List[Effect]:
        if not wanted.directory:
            return []
        place = self.place(wanted)
        return [] if place.is_there else self._dry_run(wanted, place, by)

    def _prepare(self, wanted: PlannedPackage, place: Place) -> Place:
        if place.is_there:
            return place
        self._made(place)
        return self.place(wanted)

    def _run(self, operation: Operation, wanted: PlannedPackage, place: Place) -> None:
        from remote_runtime.packages.language_packages import npm_calls

        where = ["--prefix", wanted.directory] if wanted.directory else ["--global"]
        more = list(wanted.options)
        if wanted.properties.get("production") is True:
            more.append("--omit=dev")
        if operation.removal:
            argv = ["npm", *where, "uninstall", "--", wanted.name]
        elif wanted.properties.get("ci") is True:
            argv = ["npm", *where, "ci", *more]
        else:
            argv = ["npm", *where, "install", *more, "--", _specifier(operation, wanted)]
        added = npm_calls.environment(wanted.text("index_url") or "")
        done = self.command(place, argv, env=added)
        if done.code != 0:
            raise npm_calls.failure(str(operation), done)

    def _key(self, name: str, directory: str) -> str:
        return "%s in %s" % (name, directory) if directory else "%s (global)" % name


def _specifier(operation: Operation, wanted: PlannedPackage) -> str:
    """Return the arguments for npm."""
    return wanted.name + ("@" + operation.version if operation.version else "")
