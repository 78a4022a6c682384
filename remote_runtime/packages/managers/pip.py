"""Python packages in virtual environments (target).

Reading: the directories of the environment, once for all of its packages. Changing: the pip of the
environment, as the owner of the environment; ``python3 -m venv`` creates a missing one.
"""

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Effect, PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.language_packages import directory as places
from remote_runtime.packages.language_packages import virtualenv
from remote_runtime.packages.language_packages.directory import KIND, Place
from remote_runtime.packages.language_packages.manager import (
    ASKING,
    EnvironmentManager,
    Inventory,
    PlannedPackage,
)
from remote_runtime.packages.language_packages.names import normalized
from remote_runtime.packages.language_packages.virtualenv import Environment
from remote_runtime.packages.package_info import Available, Installed, Operation, VersionChange
from remote_runtime.plan_item import Properties

_STDLIB = "import sysconfig; print(sysconfig.get_path('stdlib'))"
_LARGEST = 4 << 20  # bytes of a file of requirements, or of the metadata of a package
# A text is in a file for pip while it runs.
_WITH_TEXT = """\
d=$(mktemp -d) || exit
trap 'rm -rf "$d"' EXIT
cat > "$d/requirements.txt" || exit
"$@" -r "$d/requirements.txt"
"""


class _Packages(NamedTuple):
    """An environment with all of its packages; ``entries`` are their directories."""

    environment: Environment
    entries: Dict[str, Tuple[str, str]]


class Pip(EnvironmentManager):
    """pip in virtual environments."""

    name = "pip"
    removes_alone = True
    keys = ("environment",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._libraries: Dict[str, str] = {}

    def compare(self, left: str, right: str) -> int:
        """Order two versions by PEP 440."""
        if left == right:
            return 0
        from remote_runtime.packages.versions import python as versions

        return versions.compare(left, right)

    def _wanted_of(self, name: str, properties: Properties) -> PlannedPackage:
        directory = str(properties.get("environment") or "")
        name = str(properties.get("package") or name)
        if not properties.get("requirements"):
            name = normalized(name)
        return PlannedPackage(self._key(name, directory), name, directory, properties)

    # -- what is installed ------------------------------------------------------------------------

    def _held(self, directory: str) -> _Packages:
        def read() -> Any:
            """Return the current or planned packages of the environment."""
            files = self.context.files
            settings = os.path.join(directory, virtualenv.CONFIGURATION)
            status = files.status(directory, follow=True)
            if status is None or self._is_planned(settings):
                return _Packages(Environment(directory, is_planned=True), {})
            if status.kind != "directory":
                raise ResourceError("%s is a %s" % (directory, status.kind), kind=KIND)
            environment = virtualenv.find(files, directory)
            return _Packages(environment, virtualenv.inventory(files, environment))

        packages: _Packages = self._once(directory, read)
        return packages

    def _installed(self, package: PlannedPackage) -> Installed:
        packages = self._held(package.directory)
        if package.text("requirements"):
            return self._of_requirements(package, packages)
        return self._one(packages, package.name)

    def _one(self, packages: _Packages, name: str) -> Installed:
        entry = packages.entries.get(name)
        if entry is None:
            return Installed()
        return virtualenv.installed(self.context.files, packages.environment, entry)

    def _of_requirements(self, package: PlannedPackage, packages: _Packages) -> Installed:
        if not packages.environment.packages:
            self._requirements(package)  # errors in them are reported at once
            return Installed()
        unmet = self._unmet(package, packages)
        if not unmet:
            return Installed("present", "installed")
        return Installed("", "not met: %s" % ", ".join(one.line for one in unmet[:5]))

    def _requirements(self, package: PlannedPackage) -> List[Any]:
        from remote_runtime.packages.language_packages import requirements

        text = package.text("requirements") or ""
        path = text if text.startswith("/") and "\n" not in text else ""

        def read(at: str) -> str:
            """Return the text of a requirements file; Missing if it does not exist."""
            if not self.context.files.exists(at):
                raise Missing(  # a preview expects the installation if the file may come
                    "%s does not exist on this host" % at,
                    hint="create it in an earlier resource; a relative path is a file next to the "
                    "manifest",
                )
            places.require_readable(self.context, self.place(package), at)
            return self.context.files.read(at, _LARGEST, follow=True).decode("utf-8", "replace")

        result = requirements.read(read(path) if path else text, path, read)
        bare = [one.line for one in result if not one.has_hash]
        if bare and package.properties.get("require_hashes") is True:
            raise ResourceError(
                "%s: %s has no hash, and require_hashes is true"
                % (path or "requirements", bare[0]),
                kind="package.requirements",
                hint="create the file with pip-compile --generate-hashes",
            )
        return result

    def _unmet(self, package: PlannedPackage, packages: _Packages) -> List[Any]:
        from remote_runtime.packages.language_packages import requirements

        def installed(name: str) -> str:
            return self._one(packages, name).version

        def needs(name: str) -> Sequence[str]:
            entry = packages.entries[name][1]
            path = os.path.join(packages.environment.packages, entry, "METADATA")
            text = self.context.files.read(path, _LARGEST, follow=True)
            return requirements.needs_of(text.decode("utf-8", "replace"))

        values = requirements.values_of(
            packages.environment.version, packages.environment.full_version
        )
        environment = requirements.Environment(installed, needs, values)
        return requirements.unmet(self._requirements(package), environment)

    def _everything(self, package: PlannedPackage) -> Inventory:
        entries = self._held(package.directory).entries
        return {name: Installed(version, "installed") for name, (version, _) in entries.items()}

    # -- the index --------------------------------------------------------------------------------

    def _look_up(self, package: PlannedPackage) -> Available:
        if package.text("requirements"):
            return Available(True, "present")
        from remote_runtime.packages.language_packages import pip_calls

        place = self.place(package)
        calling = self._asking(package, place)
        added = pip_calls.environment(package.text("index_url") or "")

        def ask(words: List[str]) -> Any:
            return self.command(place, [*calling, *words], ASKING, env=added)

        result = ask(pip_calls.question(package.name, package.options))
        if pip_calls.UNKNOWN_COMMAND in result.stderr:
            result = ask(pip_calls.older_question(package.name, package.options))
        try:
            available = pip_calls.answer(result)
        except ValueError:
            raise self.unreachable(
                "pip did not answer the query for %s" % package.name, result
            ) from None
        if not available.known and pip_calls.is_lost(result):
            raise self.unreachable(
                "the index did not answer the query for %s" % package.name, result
            )
        return available

    def _asking(self, package: PlannedPackage, place: Place) -> List[str]:
        """Return the command for pip; a new environment does not have its own pip yet."""
        from remote_runtime.packages.language_packages import pip_calls

        packages = self._held(package.directory)
        if "pip" in packages.entries:
            places.require_safe(self.context, place, packages.environment.reads)
            return [packages.environment.python, *pip_calls.ISOLATED, "-m", "pip"]
        program = self._interpreter(package, place)
        return [program, *pip_calls.ISOLATED, "-c", pip_calls.BUNDLED]

    def _interpreter(self, package: PlannedPackage, place: Place) -> str:
        """Return the Python that creates an environment, or that of an environment without pip.
        ``ResourceError`` if there is none.
        """
        command = package.text("python") or "python3"
        reason, hint = self.context.user_commands.lacking(command)
        if reason:
            raise ResourceError(reason, kind="resource.command", hint=hint)
        program = self.context.commands.find(command)
        if not program:
            raise Unknowable("%s is not installed yet: an earlier resource installs it" % command)
        places.require_safe_program(self.context, place, program)
        own = self._held(package.directory).environment
        has_python = bool(own.packages) and self.context.files.status(own.python) is not None
        if has_python and not self._library(place, program).endswith(own.version):
            places.require_safe(self.context, place, own.reads)
            program = own.python  # the environment stays, and gets a pip
        needed = os.path.join(self._library(place, program), "ensurepip", "__init__.py")
        if not self.context.files.exists(needed):
            raise ResourceError(
                "%s cannot create virtual environments: it has no ensurepip" % program,
                kind=KIND,
                hint="install the package python3-venv in an earlier resource",
            )
        if self.context.noop and not os.path.exists(needed):
            raise Unknowable(
                "the program that creates %s is not installed yet: an earlier resource installs it"
                % package.directory
            )
        return program

    def _library(self, place: Place, program: str) -> str:
        """Return the directory of the standard library of a Python, such as
        ``/usr/lib/python3.11``.
        """
        if program not in self._libraries:
            result = self.command(place, [program, "-I", "-B", "-c", _STDLIB], ASKING)
            if result.code != 0:
                raise ResourceError(
                    "%s: %s" % (program, result.ending(ASKING)), kind=KIND, output=result.tail()
                )
            self._libraries[program] = result.stdout.strip()
        return self._libraries[program]

    # -- changes ----------------------------------------------------------------------------------

    def _require_ready(self, package: PlannedPackage) -> Place:
        place = self.place(package)
        packages = self._held(package.directory)
        places.require_safe(self.context, place, packages.environment.reads)
        if "pip" not in packages.entries:
            self._interpreter(package, place)
        return place

    def _differing(self, package: PlannedPackage) -> Sequence[VersionChange]:
        if not package.text("requirements"):
            return ()
        packages = self._held(package.directory)
        changes = []
        for one in self._unmet(package, packages):
            name = normalized(one.name)
            before = self._one(packages, name).version
            key = self._key(name, package.directory)
            changes.append(VersionChange(key, before, one.exact or "present"))
        return changes

    def _resolve(self, operation: Operation, package: PlannedPackage) -> Optional[Dict[str, str]]:
        from remote_runtime.packages.language_packages import pip_calls

        place = self.place(package)
        calling = self._asking(package, place)
        words = [*calling, *pip_calls.DRY_RUN, *package.options]
        if "pip" not in self._held(package.directory).entries:
            words += pip_calls.APART
        argv, text = self._asked_for(operation, package, words)
        added = pip_calls.environment(package.text("index_url") or "")
        result = self.command(place, argv, ASKING, env=added, input=text)
        return pip_calls.resolved(result)

    def _reads(self, package: PlannedPackage, path: str) -> bool:
        below = path[len(package.directory) + 1 :]
        parts = below.split("/")
        if parts[0] == "lib":
            return len(parts) < 4 or parts[3].endswith(".dist-info")
        return below in ("bin", virtualenv.CONFIGURATION) or below.startswith("bin/python")

    @staticmethod
    def _asked_for(
        operation: Operation, package: PlannedPackage, calling: List[str]
    ) -> Tuple[List[str], Optional[bytes]]:
        """Return the command of the installation, and its input."""
        requirements = package.text("requirements")
        if not requirements:
            return [*calling, "--", _specifier(operation, package)], None
        if package.properties.get("require_hashes") is True:
            calling = [*calling, "--require-hashes"]
        if requirements.startswith("/") and "\n" not in requirements:
            return [*calling, "-r", requirements], None
        return ["sh", "-c", _WITH_TEXT, "sh", *calling], requirements.encode("utf-8")

    def _making(self, package: PlannedPackage, by: str) -> List[Effect]:
        place = self.place(package)
        if "pip" in self._held(package.directory).entries or self._is_planned(
            os.path.join(package.directory, virtualenv.CONFIGURATION)
        ):
            return []
        effects: List[Effect] = [] if place.is_there else self._dry_run(package, place, by)
        for name in (virtualenv.CONFIGURATION, "bin/python", "bin/python3", "bin/pip"):
            path = os.path.join(package.directory, name)
            effects.append(PathEffect(path, "something", once=True))
        return effects

    def _prepare(self, package: PlannedPackage, place: Place) -> Place:
        if "pip" in self._held(package.directory).entries:
            return place
        program = self._interpreter(package, place)
        self.context.progress("creating the virtual environment %s" % package.directory)
        if not place.is_there:
            self._made(place)
        with self.context.unkillable():
            result = self.command(place, [program, "-I", *self._words(package, program)])
        self._inventories.clear()
        if result.code != 0:
            raise ResourceError(
                "creating the virtual environment %s: venv: %s"
                % (package.directory, result.ending(None)),
                kind=KIND,
                hint="install the package python3-venv in an earlier resource"
                if "ensurepip" in result.stderr + result.stdout
                else "",
                output=result.tail(),
            )
        return place._replace(is_there=True)

    def _words(self, package: PlannedPackage, program: str) -> List[str]:
        if program == self._held(package.directory).environment.python:
            return ["-m", "ensurepip", "--default-pip"]
        return ["-m", "venv", package.directory]

    def _run(self, operation: Operation, package: PlannedPackage, place: Place) -> None:
        from remote_runtime.packages.language_packages import pip_calls

        calling = [self._held(package.directory).environment.python, "-I", "-m", "pip"]
        text: Optional[bytes] = None
        if operation.removal:
            argv = [*calling, "uninstall", "-y", "--", package.name]
        else:
            argv = [*calling, "install", *package.options]
            if self._installed(package).status == "half-installed":
                argv.append("--ignore-installed")
            argv, text = self._asked_for(operation, package, argv)
        added = pip_calls.environment(package.text("index_url") or "")
        result = self.command(place, argv, env=added, input=text)
        if result.code != 0:
            raise pip_calls.failure(str(operation), result)


def _specifier(operation: Operation, package: PlannedPackage) -> str:
    """Return the arguments for pip."""
    return package.name + ("==" + operation.version if operation.version else "")
