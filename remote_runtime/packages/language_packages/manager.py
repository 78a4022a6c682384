"""The common code of pip and npm: packages in many directories instead of one host (target).

A package is identified by its name and its directory. The directories are read as files; a program
is started only to change something, and runs as the owner of the directory.
"""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Below, Effect, PackageEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.language_packages import directory as places
from remote_runtime.packages.language_packages.directory import Place
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import (
    DOWNLOAD,
    Available,
    Installed,
    Operation,
    VersionChange,
)
from remote_runtime.plan_item import Item, Properties
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import Files
    from remote_runtime.system.process.commands import Result

_LAST = 9  # behind the package managers of the system
ASKING = 60  # seconds for a question to an index
Inventory = Dict[str, Installed]


class PlannedPackage(NamedTuple):
    """One package of the plan: its ``name`` as it is installed, and the properties for its
    location.

    ``key`` is its name in reports and for the rest of the type, ``id`` is that of the resource.
    """

    key: str
    name: str
    directory: str
    properties: Properties
    id: str = ""

    def text(self, key: str) -> Optional[str]:
        """Return a property; None if it is not set."""
        value = self.properties.get(key)
        return None if value is None else str(value)

    @property
    def options(self) -> List[str]:
        """The additional options of the install command."""
        return [str(word) for word in self.properties.get("options") or ()]


class EnvironmentManager(PackageManager):
    """Packages in directories. A subclass lists the properties of a location in ``keys``, one of
    which must be set. ``removes_alone``: dependencies of a removed package are kept.
    """

    priority = _LAST
    batches = False
    removes_alone = False
    keys: Tuple[str, ...] = ()

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.refreshed = True  # there are no lists
        self._wanted: Dict[str, PlannedPackage] = {}
        self._inventories: Dict[str, Tuple[Any, Any]] = {}
        self._asked: Dict[Tuple[str, ...], Union[Available, ResourceError]] = {}
        self._resolved: Set[str] = set()  # keys whose dependencies are all known

    # -- which packages ---------------------------------------------------------------------------

    def unsupported_reason(self, properties: Properties) -> str:
        if not any(properties.get(key) for key in self.keys):
            return "it requires the property %s" % " or ".join(self.keys)
        return self._lacking(properties)

    def _lacking(self, properties: Properties) -> str:
        """Return the program that is missing, or ""."""
        return ""

    def takes(self, item: Item) -> bool:
        own = item.provider in ("", self.name)
        return own and any(item.properties.get(key) for key in self.keys)

    def title(self, name: str, properties: Properties) -> str:
        package = self._wanted_of(name, properties)._replace(id="package#%s" % name)
        self._wanted[package.key] = package
        return package.key

    def _wanted_of(self, name: str, properties: Properties) -> PlannedPackage:
        """Return the package that a resource wants, with its directory."""
        raise NotImplementedError

    # -- what is installed ------------------------------------------------------------------------

    def status(self, name: str) -> Installed:
        """Return the installed state in the package's directory, which is listed once for all its
        packages."""
        package = self._wanted[name]
        return self._installed(package)

    def _installed(self, package: PlannedPackage) -> Installed:
        """Return the installed state of a package in its directory."""
        raise NotImplementedError

    def _once(self, directory: str, read: Callable[[], Any]) -> Any:
        """Return the content of a directory, read again after any change."""
        overlay = self.context.overlay
        now = (self.context.acted, self.context.noop, overlay and (id(overlay), overlay.sequence))
        known = self._inventories.get(directory)
        if known is None or known[0] != now or overlay is not None:
            known = self._inventories[directory] = (now, read())
        return known[1]

    def planned(self, name: str) -> Installed:
        """See the base class. An earlier change in the same directory may also install
        a package.
        """
        planned = self.planned_versions()
        if name in planned:
            version = planned[name]
            return Installed(version, "installed" if version else "not-installed")
        state = self.status(name)
        directory = self._wanted[name].directory
        for other in planned:
            known = self._wanted.get(other)
            if known is not None and known.directory == directory and other not in self._resolved:
                self.context.suppose("%s may provide or change it, too" % known.id)
                break
        return state

    def _is_planned(self, path: str) -> bool:
        """Return whether an earlier resource of a preview creates a file with unknown content."""
        overlay = self.context.overlay
        if overlay is None:
            return False
        node = overlay.layer.find(path, True).node
        return node is not None and node.kind == "something"

    # -- what could be installed ------------------------------------------------------------------

    def available(self, name: str) -> Available:
        """Return the versions of a package in the index; queried once per run."""
        if self.context.options.status_only:
            return Available()
        package = self._wanted[name]
        question = (
            package.directory,
            package.name,
            *package.options,
            package.text("index_url") or "",
        )
        result = self._asked.get(question)
        if result is None:
            try:
                result = self._look_up(package)
            except ResourceError as error:
                if not self.context.noop:
                    raise
                result = error
            self._asked[question] = result
        if isinstance(result, ResourceError):
            raise result
        return result

    def _look_up(self, package: PlannedPackage) -> Available:
        """Return the installable versions of a package; ``ResourceError`` if they are unknown."""
        raise NotImplementedError

    def unreachable(self, reason: str, result: "Result") -> ResourceError:
        """The error for an index that does not answer: in a preview, the result is unknown."""
        if self.context.noop:
            return Unknowable(reason)
        hint = "check index_url, the proxy and the network of the host"
        return ResourceError(reason, kind=DOWNLOAD, hint=hint, output=result.tail())

    def not_listed(self, name: str) -> Tuple[str, str]:
        """See the base class. The error names the index and the directory: these packages have no
        lists on the host.
        """
        package = self._wanted[name]
        return (
            "the index has no package %s that can be installed in %s"
            % (package.name, package.directory),
            "check the name and index_url",
        )

    def lists_outdated(self, max_age: Optional[float]) -> str:
        """Return "": there are no lists."""
        return ""

    def holder(self) -> str:
        """Return "": neither program has a lock."""
        return ""

    def providers_of(self, name: str) -> Sequence[str]:
        """Return nothing: there are no virtual packages."""
        return ()

    # -- changes ----------------------------------------------------------------------------------

    def place(self, package: PlannedPackage) -> Place:
        """Return the directory of a package. ``ResourceError`` if it cannot be used."""
        return places.of(self.context, package.directory, package.text("owner"))

    def predict(self, operation: Operation) -> Sequence[VersionChange]:
        """See the base class. The index is not queried."""
        package = self._wanted[operation.name]
        self._require_ready(package)
        if not self.context.noop:
            return ()
        if operation.removal:
            if self.removes_alone:
                self._resolved.add(package.key)
            return ()
        self._making(package, "")  # where that fails, so does the push
        resolved = self._resolve(operation, package)
        if resolved is None:
            self.context.suppose("if %s finds its dependencies" % package.id)
            return self._differing(package)
        self._resolved.add(package.key)
        there = {name: one.version for name, one in self._everything(package).items()}
        changes = []
        for name, version in sorted(resolved.items()):
            before = self.planned_versions().get(self._key(name, package.directory))
            before = there.get(name, "") if before is None else before
            if before != version and name != package.name:
                changes.append(VersionChange(self._key(name, package.directory), before, version))
        return changes

    def _resolve(self, operation: Operation, package: PlannedPackage) -> Optional[Dict[str, str]]:
        """Return all versions that the program would install, by its own dry run; None if that does
        not show them. ``Unknowable`` if it would fail."""
        raise NotImplementedError

    def _differing(self, package: PlannedPackage) -> Sequence[VersionChange]:
        """Return the changes that are known without the program's dry run."""
        return ()

    def _require_ready(self, package: PlannedPackage) -> Place:
        """``ResourceError`` for an obstacle to the installation of a package."""
        raise NotImplementedError

    def effects(self, operation: Operation, predicted: Sequence[VersionChange]) -> Sequence[Effect]:
        """The directory with files that are not known, and the version."""
        if not self.context.noop:
            return ()
        package = self._wanted[operation.name]
        version = "" if operation.removal else operation.version or self._newest(operation.name)
        others = [PackageEffect(change.name, change.after) for change in predicted]
        by = package.id
        uncertainty = Uncertainty(
            UNKNOWN, "%s changes the contents of %s" % (by, package.directory)
        )
        inside = Below(package.directory)

        def covers(kind: str, value: str, present: bool) -> bool:
            read = kind in ("path", "attributes") and self._reads(package, value)
            return not read and inside(kind, value, present)

        effects: List[Effect] = []
        try:
            effects += [] if operation.removal else self._making(package, by)
        except ResourceError:
            pass  # reported when the package is read
        return [
            *effects,
            UnknownEffect(uncertainty, covers),
            PackageEffect(operation.name, version),
            *others,
        ]

    def _newest(self, name: str) -> str:
        return self._candidate(name) or "present"

    def _reads(self, package: PlannedPackage, path: str) -> bool:
        """Return whether a path determines the installed packages; ``planned`` covers possible
        changes there."""
        raise NotImplementedError

    def _making(self, package: PlannedPackage, by: str) -> List[Effect]:
        """Return the effects of a push for a package, except on the package itself."""
        return []

    def _dry_run(self, package: PlannedPackage, place: Place, by: str) -> List[Effect]:
        """Return the effects of creating the directory. ``ResourceError`` if that would fail."""
        from remote_runtime.host.preview import files
        from remote_runtime.host.preview.change_record import Record

        with self.context.ignoring():
            overlay = self.context.overlay_with(())
        record = Record(overlay, by)
        self._make(files.Files(record), place)
        return list(record.effects)

    @staticmethod
    def _make(files: "Files", place: Place) -> None:
        files.mkdir(place.path, 0o755, place.uid, place.gid)

    def _made(self, place: Place) -> None:
        """Create the directory."""
        from remote_runtime.host.machine import files

        self._make(files.Files(self.context), place)

    def carry_out(self, operation: Operation, lock_timeout: float) -> Sequence[VersionChange]:
        """See the base class. Each package is changed alone: the next finds the dependencies that
        an earlier one installed.
        """
        package = self._wanted[operation.name]
        place = self._require_ready(package)
        if not operation.removal:
            place = self._prepare(package, place)
        before = dict(self._everything(package))
        self.context.progress(str(operation))
        try:
            with self.context.unkillable():
                self._run(operation, package, place)
        finally:
            self._inventories.clear()
        after = self._everything(package)
        changed = []
        for name in sorted({*before, *after}):
            old, new = before.get(name, Installed()), after.get(name, Installed())
            if old.version != new.version and name != package.name:
                key = self._key(name, package.directory)
                changed.append(VersionChange(key, old.version, new.version))
        return changed

    def _prepare(self, package: PlannedPackage, place: Place) -> Place:
        """Create the directory if it is missing."""
        raise NotImplementedError

    def _everything(self, package: PlannedPackage) -> Inventory:
        """Return all packages that are installed together with one."""
        raise NotImplementedError

    def _run(self, operation: Operation, package: PlannedPackage, place: Place) -> None:
        """Change a package. ``ResourceError``."""
        raise NotImplementedError

    def _key(self, name: str, directory: str) -> str:
        """Return the name of a package in reports."""
        return "%s in %s" % (name, directory)

    def command(
        self, place: Place, argv: Sequence[str], timeout: Optional[float] = None, **options: Any
    ) -> "Result":
        """Run a program as the owner of a place."""
        user, group = place.identity()
        return self.context.commands.run(
            argv, cwd="/", user=user, group=group, timeout=timeout, limit=8 << 20, **options
        )
