"""Packages on the machine (target). ``remote_runtime.packages`` has the package managers."""

from typing import TYPE_CHECKING, Callable, Iterable, Sequence

from remote_runtime.host import package_ports
from remote_runtime.packages import list_refresh
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import Answer, Installed, Operation, VersionChange
from remote_runtime.plan_item import Properties

if TYPE_CHECKING:
    from remote_runtime.context import Context


class Package(package_ports.Package):
    """Changes a package with the package manager. ``upcoming`` has the changes of later resources,
    ``count`` receives the number of tries.
    """

    def __init__(
        self,
        context: "Context",
        manager: PackageManager,
        *,
        name: str,
        properties: Properties,
        upcoming: Callable[[], Iterable[package_ports.Upcoming]],
        count: Callable[[int], None],
    ) -> None:
        super().__init__(context, manager, name, properties)
        self._upcoming, self._count = upcoming, count

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
            others=lambda: batch.planned_changes(self._manager, operation, self._upcoming()),
            lock_timeout=self._lock_timeout(),
            tried=self._tried,
        )

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


class PackageLists(package_ports.PackageLists):
    """Refreshes the lists with the package manager."""

    def outdate(self, manager: str, repository: str) -> None:
        self._context.outdated_lists.setdefault(manager, []).append(repository)

    def refresh(self, manager: str) -> None:
        list_refresh.refresh(self._context, manager)
