"""Packages of the machine (target). ``remote_runtime.packages`` has the package managers."""

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.host import package_ports
from remote_runtime.item import Item, Properties
from remote_runtime.packages.manager import PackageManager, matching_version
from remote_runtime.packages.managers import manager_of
from remote_runtime.packages.values import (
    DOWNLOAD,
    Answer,
    Available,
    Installed,
    Operation,
    VersionChange,
)
from remote_runtime.retries import retry, tries_of

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.batch import PlannedChange
    from remote_runtime.packages.source import Source
    from remote_runtime.retries import Result

Coming = Tuple[Item, Any]


class PackageReader(package_ports.PackageReader):
    """Queries the package manager of a resource; each run has one instance of it."""

    def __init__(
        self, context: "Context", manager: PackageManager, name: str, properties: Properties
    ) -> None:
        self._context, self._manager = context, manager
        self._name, self._properties = name, properties
        self.title = manager.title(name, properties)
        self.purges, self.asks = manager.purges, manager.asks
        self.marks_changed = manager.marks_changed

    def compare(self, left: str, right: str) -> int:
        return self._manager.compare(left, right)

    def shown(self, version: str) -> str:
        return self._manager.shown(version)

    def told(self, before: str, after: str) -> Tuple[str, str]:
        return self._manager.told(before, after)

    def is_secret(self, value: str) -> bool:
        return self._context.mask.text(value) != value

    def matching(self, available: Available, wanted: str) -> Optional[str]:
        return matching_version(self._manager, available, wanted)

    def changed_before(self) -> Optional[Installed]:
        return self._manager.changed_before()

    def installed(self) -> Installed:
        found = self._manager.planned(self.title)
        self._context.saw("package", self.title, bool(found.version))
        return found

    def status(self) -> Installed:
        return self._manager.status(self.title)

    def has_version(self, installed: Installed, wanted: str) -> bool:
        return self._manager.has_version(installed, wanted)

    def is_held(self, installed: Installed) -> bool:
        return self._manager.is_held(self.title, installed)

    def hold_trouble(self) -> Optional[ResourceError]:
        return self._manager.hold_trouble()

    def answers(self, questions: Sequence[str]) -> Dict[str, str]:
        return self._manager.answers(questions)

    def answers_now(self, questions: Sequence[str]) -> Dict[str, str]:
        return self._manager.answers(questions, planned=False)

    def needs_lists(self, ensure: str, installed: Installed) -> bool:
        return self._manager.needs_lists(ensure, installed)

    def outdated(self, age: Optional[float]) -> str:
        return self._manager.lists_outdated(age)

    def freshen(self, age: Optional[float]) -> str:
        changed = self._context.outdated_lists.get(self._manager.name, ())
        forced = self._is_asked_for() or (age is None and bool(changed))
        outdated = self.outdated(age) if forced or age is not None else ""
        if forced or outdated:
            self._refresh(outdated, changed)
        return ""

    def _is_asked_for(self) -> bool:
        return self._context.options.refresh_lists and not self._manager.refreshed

    def _refresh(self, outdated: str, changed: Sequence[str] = ()) -> None:
        why = outdated or "requested by --refresh-lists"
        if changed:
            why = "this run has changed the repository %s" % ", ".join(changed)
        self._context.notice("info", "refreshing the package lists: %s" % why)
        try:
            self._tried(lambda: self._manager.refresh_lists(self._lock_timeout()))
        except ResourceError:
            if changed:
                from remote_runtime.packages.list_refresh import keep_outdated

                keep_outdated(self._context, self._manager.name)
            raise
        self._manager.refreshed = True

    def _tried(self, step: "Callable[[], Result]") -> "Result":
        """Repeat a failed download: nothing has been changed by then."""
        tries = tries_of(self._properties)

        def count(number: int) -> "Result":
            if tries.maximum > 1:
                self._manager.count(number)
            return step()

        return retry(self._context, tries, count, lambda error: error.kind == DOWNLOAD)

    def _lock_timeout(self) -> float:
        given = self._properties.get("lock_timeout")
        if given is None:
            return self._context.options.lock_timeout
        from remote_runtime.text import duration

        return duration.parse(given)

    def available(self) -> Available:
        found = self._tried(self.available_now)
        self._context.saw("lists", "")
        return found

    def available_now(self) -> Available:
        return self._manager.available(self.title)

    def source(self) -> "Source":
        from remote_runtime.packages.source import Source

        return Source(self._context, self._manager, self._name, self._properties)

    def not_listed(self) -> Tuple[str, str]:
        return self._manager.not_listed(self.title)

    def exclusion(self) -> Optional[Tuple[str, str]]:
        return self._manager.exclusion(self.title)

    def providers_of(self) -> Sequence[str]:
        return self._manager.providers_of(self.title)

    def promised(self, operation: Operation, releases: bool) -> Sequence[VersionChange]:
        if not self._context.promised:
            return ()
        if releases:
            self._manager.plan_hold(self.title, False)
        return self._manager.foresee(operation)


class Package(PackageReader, package_ports.Package):
    """Changes a package with the package manager. ``coming`` are the changes of later resources,
    ``count`` gets the number of tries."""

    def __init__(
        self,
        context: "Context",
        manager: PackageManager,
        *,
        name: str,
        properties: Properties,
        coming: Callable[[], Iterable[Coming]],
        count: Callable[[int], None],
    ) -> None:
        super().__init__(context, manager, name, properties)
        self._coming, self._count = coming, count

    def refresh_lists(self) -> None:
        self._manager.refresh_lists(self._lock_timeout())

    def change(
        self,
        operation: Operation,
        before: Installed,
        *,
        releases: bool = False,
        questions: Sequence[str] = (),
    ) -> Sequence[VersionChange]:
        """See the base class. If it fails, a hold that was released is set again."""
        held = releases and before.held
        if held:
            self._manager.set_hold(self.title, False)
        try:
            return self._changed(operation)
        except BaseException:
            if held:
                self._manager.set_hold(self.title, True)
            raise
        finally:
            self._count(self._manager.tries)
            self._context.accounts.forget()  # scripts of packages add some

    def _changed(self, operation: Operation) -> Sequence[VersionChange]:
        from remote_runtime.packages import batch

        return batch.carry_out(
            self._manager,
            operation,
            others=lambda: self._others(operation),
            lock_timeout=self._lock_timeout(),
            tried=self._tried,
        )

    def _others(self, own: Operation) -> "List[PlannedChange]":
        """What the resources right after this one will do of the same kind."""
        from remote_runtime.packages.batch import MAX_PACKAGES, PlannedChange

        context, manager = self._context, self._manager
        found: "List[PlannedChange]" = []
        if context.promised or context.halts or not manager.batches:
            return found
        for item, change in self._coming():
            if not manager.takes(item):
                break
            if change is not None:
                operation, before = change
                if manager.kind(operation) != manager.kind(own) or len(found) >= MAX_PACKAGES:
                    break
                found.append(PlannedChange(item, operation, before))
        return found

    def mark_manual(self) -> None:
        self._manager.mark_manual(self.title)
        self._manager.acted()

    def hold(self, held: bool) -> None:
        self._manager.set_hold(self.title, held)
        self._manager.acted()

    def answer(self, answers: Sequence[Answer]) -> None:
        name = self.title.partition(":")[0]
        self._manager.set_answers(name, answers, self._lock_timeout())
        self._manager.acted()


class PackagesReader(package_ports.PackagesReader):
    """Finds packages with the package managers of a run."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def of(self, manager: str, name: str, properties: Properties) -> PackageReader:
        return PackageReader(self._context, manager_of(self._context, manager), name, properties)


class Packages(package_ports.Packages):
    """Finds packages that can be changed."""

    def __init__(
        self,
        context: "Context",
        coming: Callable[[], Iterable[Coming]],
        count: Callable[[int], None],
    ) -> None:
        self._context, self._coming, self._count = context, coming, count

    def of(self, manager: str, name: str, properties: Properties) -> Package:
        context = self._context
        return Package(
            context,
            manager_of(context, manager),
            name=name,
            properties=properties,
            coming=self._coming,
            count=self._count,
        )
