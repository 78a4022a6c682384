"""The ports for packages and package lists (target).

See ``ports`` for the common rules of all ports.
"""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Optional,
    Sequence,
    Tuple,
)

from remote_runtime.errors import ResourceError
from remote_runtime.packages import list_refresh
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.managers import manager_of
from remote_runtime.packages.package_info import DOWNLOAD
from remote_runtime.plan_item import Item, Properties
from remote_runtime.retries import retry, tries_of

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.package_info import (
        Answer,
        Available,
        Installed,
        Operation,
        VersionChange,
    )
    from remote_runtime.packages.package_source import Source
    from remote_runtime.retries import Result

Upcoming = Tuple[Item, Any]
"""A later resource, and its operation with the state that is installed before it."""


class PackageListReader(object):
    """Reads the age of the package lists. ``manager`` is apt or dnf."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def pending(self, manager: str) -> bool:
        """Return whether this resource must refresh the lists: a repository has changed since the
        last refresh, and no other repository follows before the next package, or before the end.
        """
        return list_refresh.is_last(self._context, manager) and self._is_outdated(manager)

    def _is_outdated(self, manager: str) -> bool:
        return list_refresh.is_outdated(self._context, manager)


class PackageLists(PackageListReader):
    """Reads and refreshes the package lists."""

    def outdate(self, manager: str, repository: str) -> None:
        """Record that a repository of the package manager has changed."""
        raise NotImplementedError

    def refresh(self, manager: str) -> None:
        """Fetch the lists. A preview fetches nothing: its prediction assumes that this succeeds."""
        raise NotImplementedError


class PackageReader(object):
    """The package of one resource, for reading. Each run has one instance of a package manager.

    ``title`` is its name in reports. ``purges``: a removal can also remove configuration files.
    ``asks``: scripts of packages ask questions through debconf. ``marks_changed``: an upgrade or
    downgrade also marks the package as manually installed.
    """

    def __init__(
        self, context: "Context", manager: PackageManager, name: str, properties: Properties
    ) -> None:
        self._context, self._manager = context, manager
        self._name, self._properties = name, properties
        self.title = manager.title(name, properties)
        self.purges, self.asks = manager.purges, manager.asks
        self.marks_changed = manager.marks_changed

    def compare(self, left: str, right: str) -> int:
        """Order two versions: -1, 0 or 1."""
        return self._manager.compare(left, right)

    def shown(self, version: str) -> str:
        """The version in the form used in events and previews."""
        return self._manager.shown(version)

    def told(self, before: str, after: str) -> Tuple[str, str]:
        """Two versions in the form used in change records."""
        return self._manager.told(before, after)

    def is_secret(self, value: str) -> bool:
        """Return whether a text contains a secret of the run."""
        return self._context.mask.text(value) != value

    def matching(self, available: "Available", wanted: str) -> Optional[str]:
        """The available version that equals ``wanted``, as written in the lists."""
        for version in available.versions:
            if version == wanted or self.compare(version, wanted) == 0:
                return version
        return None

    # -- the installed package --------------------------------------------------------------------

    def changed_before(self) -> "Optional[Installed]":
        """Return the state that was installed before an earlier resource made this resource's
        change, or None."""
        return self._manager.changed_before()

    def installed(self) -> "Installed":
        """Return the installed state; in a preview, the state that will be installed."""
        installed = self._manager.planned(self.title)
        self._context.record_read("package", self.title, bool(installed.version))
        return installed

    def status(self) -> "Installed":
        """Return the currently installed state."""
        return self._manager.status(self.title)

    def has_version(self, installed: "Installed", wanted: str) -> bool:
        """Return whether the wanted version is one of the installed versions."""
        return self._manager.has_version(installed, wanted)

    def is_held(self, installed: "Installed") -> bool:
        """Return whether the package is on hold. ``installed`` is its installed version."""
        return self._manager.is_held(self.title, installed)

    def hold_trouble(self) -> Optional[ResourceError]:
        """Return the reason why this host cannot put packages on hold; None if it can."""
        return self._manager.hold_trouble()

    def answers(self, questions: Sequence[str]) -> Dict[str, str]:
        """debconf's answers to these questions, without unanswered questions; in a preview, the
        predicted answers.
        """
        return self._manager.answers(questions)

    def answers_now(self, questions: Sequence[str]) -> Dict[str, str]:
        """Like ``answers``, for the current host."""
        return self._manager.answers(questions, planned=False)

    # -- available packages -----------------------------------------------------------------------

    def needs_lists(self, ensure: str, installed: "Installed") -> bool:
        """Return whether the next step depends on the package lists."""
        return self._manager.needs_lists(ensure, installed)

    def outdated(self, age: Optional[float]) -> str:
        """Return the reason why lists that may be ``age`` seconds old must be refreshed, or ""."""
        return self._manager.lists_outdated(age)

    def freshen(self, age: Optional[float]) -> str:
        """Refresh lists that are older; None accepts any age. In a preview, return the reason if
        only a push can refresh them.
        """
        changed = self._context.outdated_lists.get(self._manager.name, ())
        forced = self._is_asked_for() or (age is None and bool(changed))
        outdated = self.outdated(age) if forced or age is not None else ""
        if forced or outdated:
            self._refresh(outdated, changed)
        return ""

    def available(self) -> "Available":
        """Return the versions that could be installed."""
        available = self._tried(self.available_now)
        self._context.record_read("lists", "")
        return available

    def available_now(self) -> "Available":
        """Return the versions in the current lists."""
        return self._manager.available(self.title)

    def source(self) -> "Source":
        """The package file of the resource."""
        from remote_runtime.packages.package_source import Source

        return Source(self._context, self._manager, self._name, self._properties)

    def not_listed(self) -> Tuple[str, str]:
        """Return the error for a package that is not in the lists, with a hint."""
        return self._manager.not_listed(self.title)

    def exclusion(self) -> Optional[Tuple[str, str]]:
        """The setting of this host that excludes versions of the package, and a hint; None if there
        is no such setting."""
        return self._manager.exclusion(self.title)

    def providers_of(self) -> Sequence[str]:
        """Some of the packages that provide a virtual package."""
        return self._manager.providers_of(self.title)

    def promised(self, operation: "Operation", releases: bool) -> "Sequence[VersionChange]":
        """Return the changes that ``change`` would make, if this run is bound to a plan file."""
        if not self._context.promised:
            return ()
        if releases:
            self._manager.plan_hold(self.title, False)
        return self._manager.predict(operation)

    def _is_asked_for(self) -> bool:
        return self._context.options.refresh_lists and not self._manager.refreshed

    def _refresh(self, outdated: str, changed: Sequence[str] = ()) -> None:
        reason = outdated or "requested by --refresh-lists"
        if changed:
            reason = "this run has changed the repository %s" % ", ".join(changed)
        self._context.notice("info", "refreshing the package lists: %s" % reason)
        try:
            self._tried(lambda: self._manager.refresh_lists(self._lock_timeout()))
        except ResourceError:
            if changed:
                list_refresh.keep_outdated(self._context, self._manager.name)
            raise
        self._manager.refreshed = True

    def _tried(self, step: "Callable[[], Result]") -> "Result":
        """Repeat a failed download, because nothing has been changed at that point."""
        tries = tries_of(self._properties)

        def count(number: int) -> "Result":
            if tries.maximum > 1:
                self._manager.count(number)
            return step()

        return retry(self._context, tries, count, lambda error: error.kind == DOWNLOAD)

    def _lock_timeout(self) -> float:
        timeout = self._properties.get("lock_timeout")
        if timeout is None:
            return self._context.options.lock_timeout
        from remote_runtime.text import duration

        return duration.parse(timeout)


class Package(PackageReader):
    """The package of one resource."""

    def refresh_lists(self) -> None:
        """Fetch the package lists."""
        raise NotImplementedError

    def change(
        self,
        operation: "Operation",
        before: "Installed",
        *,
        releases: bool = False,
        questions: Sequence[str] = (),
    ) -> "Sequence[VersionChange]":
        """Install, upgrade, downgrade or remove the package; return everything that changes. The
        next resources may be changed in the same transaction.

        ``before`` is the state that is installed before that. ``releases``: a hold does not prevent
        it. The scripts of the package may change the answers to the ``questions``.
        """
        raise NotImplementedError

    def mark_manual(self) -> None:
        """Mark the package as manually installed."""
        raise NotImplementedError

    def hold(self, held: bool) -> None:
        """Set or release the hold of the package."""
        raise NotImplementedError

    def answer(self, answers: "Sequence[Answer]") -> None:
        """Set debconf answers for the package, which may not be installed."""
        raise NotImplementedError


class PackagesReader(object):
    """Finds packages with the package managers of a run, for reading; ``make`` creates each."""

    def __init__(self, context: "Context", make: Callable[..., PackageReader]) -> None:
        self._context, self._make = context, make

    def of(self, manager: str, name: str, properties: Properties) -> PackageReader:
        """The package of a resource with this name and these properties."""
        reader = manager_of(self._context, manager)
        return self._make(self._context, reader, name=name, properties=properties)


class Packages(PackagesReader):
    """Finds packages, for reading or changing them."""

    def of(self, manager: str, name: str, properties: Properties) -> Package:
        package = super().of(manager, name, properties)
        assert isinstance(package, Package)
        return package
