"""Packages in a preview (target): the package manager predicts its changes."""

from typing import TYPE_CHECKING, Callable, Iterable, Optional, Sequence, Tuple

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.effects import UnknownEffect, once
from remote_runtime.errors import ResourceError
from remote_runtime.host import package_ports
from remote_runtime.host.preview.change_record import Record, covers_lists
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import (
    Answer,
    Available,
    Installed,
    Operation,
    VersionChange,
)
from remote_runtime.plan_item import Properties
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context


class PackageReader(package_ports.PackageReader):
    """Predicts from the state that earlier resources leave. Downloads lists only if the user
    requests it.
    """

    def freshen(self, age: Optional[float]) -> str:
        """See the base class. Refreshes only with ``--refresh-lists``, and never for a pending
        repository.
        """
        manager, forced = self._manager, self._is_asked_for()
        if age is None and not (forced or manager.fetches_lists):
            return ""
        outdated = self.outdated(age)
        if forced:
            self._refresh(outdated)
        elif outdated:
            manager.warn_of_lists()
            return outdated
        for path, _ in manager.planned_sources():
            return "the package lists do not contain the pending %s yet" % path
        return ""

    def available(self) -> Available:
        """See the base class. A failure may depend on the current state of the host; if the manager
        fetches the lists, also on repositories that will change before.
        """
        try:
            return super().available()
        except Unknowable:
            raise
        except ResourceError as error:
            changed = self._manager.planned_sources() if self._manager.fetches_lists else ()
            for path, _ in changed:
                reason = "%s; an earlier resource changes %s" % (error.message, path)
                raise Unknowable(reason, hint=error.hint) from error
            raise Missing(error.message, hint=error.hint) from error

    def not_listed(self) -> Tuple[str, str]:
        if self._manager.lists_outdated(float("inf")):
            self._manager.warn_of_lists()
        return super().not_listed()


class Package(PackageReader, package_ports.Package):
    """Records the predicted changes of the package manager. ``upcoming`` has the changes of later
    resources.
    """

    def __init__(
        self,
        context: "Context",
        manager: PackageManager,
        *,
        name: str,
        properties: Properties,
        record: Record,
        upcoming: Callable[[], Iterable[package_ports.Upcoming]],
    ) -> None:
        super().__init__(context, manager, name, properties)
        self._record, self._upcoming = record, upcoming

    def refresh_lists(self) -> None:
        reason = "%s would refresh the package lists" % self._record.by
        self._record.add(UnknownEffect(Uncertainty(UNKNOWN, reason), covers_lists))

    def change(
        self,
        operation: Operation,
        before: Installed,
        *,
        releases: bool = False,
        questions: Sequence[str] = (),
    ) -> Sequence[VersionChange]:
        """See the base class. Makes the package manager simulate the change, and plans
        the effects.
        """
        manager = self._manager
        if releases and before.held:
            manager.plan_hold(self.title, False)
        predicted: Sequence[VersionChange] = ()
        try:
            if self._record.checks:
                predicted = self._predicted(operation)
            if not operation.removal:
                manager.wished(self.title)
            self._record.add(*once(manager.effects(operation, predicted)))
        except Missing:
            raise
        except ResourceError as error:
            raise Missing(error.message, hint=error.hint) from error
        uncertainty = manager.chooses(self.title, questions) if questions else ""
        if uncertainty:
            self._context.suppose(uncertainty)
        return predicted if manager.records_others else ()

    def _predicted(self, operation: Operation) -> Sequence[VersionChange]:
        """The predicted changes of the package manager. ``ResourceError`` if it would fail."""
        holder = self._manager.holder()
        if holder:
            raise Unknowable("a push would wait for the package lock %s" % holder)
        from remote_runtime.packages import batch

        return batch.predict(
            self._manager,
            operation,
            lambda: batch.planned_changes(self._manager, operation, self._upcoming()),
        )

    def mark_manual(self) -> None:
        if self._record.checks:
            self._manager.require_markable(self.title)
        self._manager.wished(self.title)

    def hold(self, held: bool) -> None:
        self._manager.plan_hold(self.title, held)

    def answer(self, answers: Sequence[Answer]) -> None:
        """See the base class. Plans the answers; debconf's files are unknown afterwards."""
        manager = self._manager
        trouble = manager.answer_trouble() if self._record.checks else None
        if trouble is not None:
            raise Missing(trouble.message, hint=trouble.hint)
        uncertainty = Uncertainty(
            UNKNOWN, "the new content of debconf's database is not known until the push"
        )
        files = manager.answer_files
        self._record.add(
            UnknownEffect(
                uncertainty,
                lambda kind, value, present: kind in ("path", "content") and value in files,
            )
        )
        manager.plan_answers(answers)
