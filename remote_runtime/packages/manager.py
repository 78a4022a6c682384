"""The interface of package managers (target)."""

from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Set, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Covers, Effect, PackageEffect, UnknownEffect
from remote_runtime.packages.package_info import (
    ABSENT,
    CONFIG_FILES,
    LATEST,
    PLACES,
    PRESENT,
    Answer,
    Available,
    EarlyChange,
    Installed,
    Operation,
    PackageFile,
    VersionChange,
)
from remote_runtime.plan_item import Item, Properties
from remote_runtime.provider import FIRST
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.errors import ResourceError
    from remote_runtime.packages.package_inspection import Probe
    from remote_runtime.packages.prediction import PlannedState, Prediction

# The same text on every host, so that a report groups it.
LISTS_OUTDATED = (
    "the package lists are missing or out of date, so package changes are uncertain; "
    "--refresh-lists refreshes them first, even in a preview, and `update_cache: 1h` on "
    "the first package refreshes them in a push"
)
_OF_PACKAGES = ("/usr/", "/etc/", "/lib", "/bin/", "/sbin/", "/opt/", "/var/")


class PackageManager(object):
    """A package manager. Every method may raise ``ResourceError``.

    It needs the ``programs`` on the host. Files below ``sources`` define the origins of packages.
    ``fetches_lists``: the package manager downloads missing lists by itself. ``marks``: it knows
    which packages are installed only for others. ``marks_changed``: an upgrade or downgrade also
    marks the package as manually installed. ``purges``: a removal can also remove configuration
    files. ``asks``: scripts of packages ask questions through debconf, whose answers are in
    ``answer_files``. ``batches``: packages of consecutive resources may be one transaction.
    ``records_others``: the records of a change include other packages of its transaction.
    ``suffix`` is that of package files. ``priority``: see ``provider.Provider``.
    """

    name = ""
    priority = FIRST
    programs: Sequence[str] = ()
    sources: Tuple[str, ...] = ()
    fetches_lists = False
    marks = False
    marks_changed = True
    purges = False
    asks = False
    suffix = ""
    answer_files: Sequence[str] = ()
    batches = True
    records_others = True

    def __init__(self, context: Context) -> None:
        self.context = context
        self.items: Sequence[Item] = ()
        self._available: Dict[str, Available] = {}
        self._available_at: Tuple[object, ...] = ()
        self._own_actions = 0
        self._wished: Set[str] = set()
        self._holds: Dict[str, bool] = {}  # at the start of predictions
        self.changed_ahead: Dict[int, EarlyChange] = {}
        self.predicted_ahead: "Dict[int, Prediction]" = {}
        self._probe: Optional["Probe"] = None
        self.by_checksum: Dict[str, PackageFile] = {}  # see ``source``
        self.files: Dict[Tuple[str, str], PackageFile] = {}  # by name and version
        self.refreshed = False  # whether this run refreshed the lists
        self._lists_told = False
        self._tries = 0, 0  # the position of a resource, and its number of tries

    def unsupported_reason(self, properties: Properties) -> str:
        """Return the reason why it cannot manage a package with these properties on this host, or
        ""."""
        if any(map(properties.get, PLACES)):
            return "it manages system packages"
        missing = [each for each in self.programs if not self.context.commands.find(each)]
        return "%s is not installed" % ", ".join(missing) if missing else ""

    @property
    def tries(self) -> int:
        """Return the number of attempts for the current resource; 0 if only one is allowed."""
        return self._tries[1] if self._tries[0] == self.context.position else 0

    def count(self, number: int) -> None:
        """Record the number of an attempt for the current resource."""
        self._tries = self.context.position, max(self.tries, number)

    def probe(self) -> "Probe":
        """The object that examines packages in a preview, created on first use."""
        if self._probe is None:
            from remote_runtime.packages.package_inspection import Probe

            self._probe = Probe(self.context)
        return self._probe

    def changed_before(self) -> Optional[Installed]:
        """Return the state that was installed before an earlier resource made this resource's
        change, or None."""
        done = self.changed_ahead.get(self.context.position)
        return done.before if done is not None else None

    def prepare(self, items: Sequence[Item]) -> None:
        """Store the packages of the plan, to query all of them at once."""
        self.items = [item for item in items if self.takes(item)]

    def takes(self, item: Item) -> bool:
        """Return whether an item of the plan belongs to this package manager, if its programs
        exist."""
        return item.provider in ("", self.name) and not any(map(item.properties.get, PLACES))

    def title(self, name: str, properties: Properties) -> str:
        """Return the name of a resource's package in reports, and for the methods here."""
        return name

    def not_listed(self, name: str) -> Tuple[str, str]:
        """Return the error for a package that is not in the lists, with a hint."""
        return (
            "package %r is not in the package lists of this host" % name,
            "refresh the lists with `update_cache: 1h`, or add the repository that contains it",
        )

    def read_file(self, path: str) -> PackageFile:
        """Return the package in a file. ``ResourceError`` if it is not a package."""
        raise NotImplementedError

    def compare(self, left: str, right: str) -> int:
        """Order two versions: -1, 0 or 1. This is the order for a manager without a
        specific one.
        """
        from remote_runtime.packages.versions import generic as generic_version

        return generic_version.compare(left, right)

    def shown(self, version: str) -> str:
        """Return a version in the form of events and previews."""
        return version

    def told(self, before: str, after: str) -> Tuple[str, str]:
        """Return two versions in the form of change records."""
        return self.shown(before), self.shown(after)

    def status(self, name: str) -> Installed:
        """Return the installed state. One query covers all packages of the plan."""
        raise NotImplementedError

    def planned(self, name: str) -> Installed:
        """Return the state that is installed when the current resource runs: ``status``, plus the
        plans of a preview."""
        state = self.status(name)
        plain = self.plain(name)
        effect = self.planned_versions().get(plain)
        wished = self.context.noop and plain in self._wished
        automatic = state.automatic and not wished
        if self.context.noop:
            state = state._replace(held=self._holds.get(plain, state.held))
        if effect is None:
            return state._replace(automatic=automatic)
        if effect and not state.version:
            automatic = self.marks and not wished
        return state._replace(
            version=effect,
            status="installed" if effect else "not-installed",
            others=(),
            automatic=automatic,
        )

    def wished(self, name: str) -> None:
        """Record that a resource of a preview marks a package as manually installed."""
        self._wished.add(self.plain(name))

    def is_held(self, name: str, installed: Installed) -> bool:
        """Return whether a package is on hold. ``installed`` is its installed version."""
        return installed.held

    def set_hold(self, name: str, held: bool) -> None:
        """Set or release the hold of a package. ``ResourceError``."""
        raise NotImplementedError

    def hold_trouble(self) -> "Optional[ResourceError]":
        """Return the reason why this host cannot put packages on hold; None if it can."""
        return None

    def plan_hold(self, name: str, held: bool) -> None:
        """Make predictions assume a hold, or its release."""
        self._holds[self.plain(name)] = held

    def answers(self, questions: Sequence[str], planned: bool = True) -> Dict[str, str]:
        """Return debconf's answers to these questions, without unanswered ones; in a preview, as
        ``planned``.
        """
        raise NotImplementedError

    def answer_trouble(self) -> "Optional[ResourceError]":
        """Return the reason why no answer can be set on this host; None if it can."""
        return None

    def set_answers(self, package: str, answers: Sequence[Answer], lock_timeout: float) -> None:
        """Set debconf answers for a package, which may not be installed."""
        raise NotImplementedError

    def plan_answers(self, answers: Sequence[Answer]) -> None:
        """Make predictions assume these answers."""
        raise NotImplementedError

    def chooses(self, name: str, questions: Sequence[str]) -> str:
        """Return, in a preview, why the scripts of a new package may change answers, or ""."""
        return ""

    def require_markable(self, name: str) -> None:
        """``ResourceError`` if marking a package would fail; called only in a preview."""

    def mark_manual(self, name: str) -> None:
        """Mark a package as manually installed."""
        raise NotImplementedError

    def planned_versions(self) -> Dict[str, str]:
        """Return the packages that earlier resources of a preview change; "" for those that they
        remove."""
        overlay = self.context.overlay
        return {n: e.version for n, e in overlay.packages.items()} if overlay is not None else {}

    def planned_sources(self) -> Tuple[Tuple[str, int], ...]:
        """Return the paths below ``sources`` that earlier resources of a preview change, with the
        time of each."""
        overlay = self.context.overlay
        nodes = overlay.layer.nodes if overlay is not None else {}
        return tuple((p, n.since) for p, n in nodes.items() if p.startswith(self.sources))

    def planned_state(self) -> "PlannedState":
        """Return everything planned that affects a prediction of this package manager."""
        from remote_runtime.packages.prediction import PlannedState

        return PlannedState(self.planned_versions(), self.planned_sources(), dict(self._holds))

    def plain(self, name: str) -> str:
        """Return the name of the package in transactions."""
        return name

    def available(self, name: str) -> Available:
        """Return the installable versions, according to the current lists on this host.

        The package manager's own transactions do not change that; everything else may.
        """
        now = (self.context.acted - self._own_actions, self.context.noop, self.planned_sources())
        if self._available_at != now:
            self._available = {}
            self._available_at = now
        if name not in self._available:
            self._available.update(self.look_up(sorted({name, *self._undecided()})))
        return self._available[name]

    def _undecided(self) -> List[str]:
        """Return the packages of the plan whose next step depends on the lists."""
        return [
            item.name
            for item in self.items
            if self.needs_lists(
                str(item.properties.get("ensure", PRESENT)), self.planned(item.name)
            )
        ]

    def look_up(self, names: Sequence[str]) -> Dict[str, Available]:
        """Return the versions of each of these in the lists, with one query if possible."""
        raise NotImplementedError

    def acted(self) -> None:
        """Record that one action of the run was a transaction of this package manager."""
        self._own_actions += 1

    def forget_lists(self) -> None:
        """Record that the lists have changed."""
        self._available = {}

    def providers_of(self, name: str) -> Sequence[str]:
        """Return the packages that provide a virtual package, a few at most."""
        raise NotImplementedError

    def exclusion(self, name: str) -> Optional[Tuple[str, str]]:
        """Return the setting of this host that excludes versions of a package, with a hint; None if
        there is no such setting.
        """
        return None

    def lists_outdated(self, max_age: Optional[float]) -> str:
        """Return the reason why lists that may be ``max_age`` seconds old must be refreshed, or "".

        With ``fetches_lists``, None only checks for missing lists.
        """
        raise NotImplementedError

    def warn_of_lists(self) -> None:
        """Report once in a preview that a push would use newer lists."""
        if self.context.noop and not self._lists_told:
            self._lists_told = True
            self.context.notice("warning", LISTS_OUTDATED)

    def refresh_lists(self, lock_timeout: float, only: Sequence[str] = ()) -> None:
        """Download the package lists, ``only`` those of some repositories if the package manager
        can. This is the only method that does not count as a change."""
        raise NotImplementedError

    def holder(self) -> str:
        """Return the lock of the package manager that another process holds, with the process; ""
        for none.
        """
        raise NotImplementedError

    def predict(self, operation: Operation) -> Sequence[VersionChange]:
        """Return all changes of a transaction, in noop; ``ResourceError`` if it would fail.

        Empty if they are known only after running it.
        """
        return ()

    def predict_together(
        self, operations: Sequence[Operation]
    ) -> Optional[Sequence[Sequence[VersionChange]]]:
        """Return the changes of each of several operations in one transaction, for ``effects``;
        without the last ones if they are predicted later, None if each has to be predicted alone.
        """
        return None

    def effects(self, operation: Operation, predicted: Sequence[VersionChange]) -> Sequence[Effect]:
        """Return the state of the host after a transaction. This class does not know the contents
        of the packages.
        """
        name = operation.name
        does = "removal" if operation.removal else "installation"
        covers = removed_coverage if operation.removal else self._installation_coverage(name)
        uncertainty = Uncertainty(
            UNKNOWN, "the effects of the %s of package %s are not known yet" % (does, name)
        )
        version = ""
        if not operation.removal:
            version = operation.version or self._candidate(name) or PRESENT
        planned = [PackageEffect(change.name, change.after) for change in predicted]
        return [UnknownEffect(uncertainty, covers), PackageEffect(name, version), *planned]

    def _installation_coverage(self, name: str) -> Covers:
        """Return what the installation of a package may change, including the files of its
        installed version.
        """
        if not self.status(name).version:
            return installed_coverage
        own: List[Covers] = []

        def covers(kind: str, value: str, present: bool) -> bool:
            """Return whether it may change; the installed files are listed for the first thing."""
            if installed_coverage(kind, value, present):
                return True
            if kind not in ("path", "unit"):
                return False
            own[:] = own or [self.own_coverage(name)]
            return own[0](kind, value, present)

        return covers

    def own_coverage(self, name: str) -> Covers:
        """Return what belongs to an installed package."""
        return lambda kind, value, present: False

    def _candidate(self, name: str) -> str:
        for of, version in self.files:
            if of == self.plain(name):
                return version
        try:
            return self.available(name).candidate
        except Unknowable:
            return ""

    def carry_out(self, operation: Operation, lock_timeout: float) -> Sequence[VersionChange]:
        """Change packages, never interrupted; return everything that changed, as far as known."""
        raise NotImplementedError

    def kind(self, operation: Operation) -> Tuple[object, ...]:
        """Return the properties that operations must share to run in one command."""
        return operation.removal, operation.recommends, operation.purge

    def shares(
        self, operations: Sequence[Operation]
    ) -> Optional[Sequence[Sequence[VersionChange]]]:
        """Return the changes of each of several operations in one transaction.

        None if they cannot be one transaction, or if the result would differ from single ones.
        """
        return None

    def carry_out_together(self, operations: Sequence[Operation], lock_timeout: float) -> None:
        """Perform operations with known ``shares`` in one transaction."""
        raise NotImplementedError

    def has_reached(self, operation: Operation) -> bool:
        """Return whether a package is in the state that an operation had to reach."""
        state = self.status(operation.name)
        version = state.version
        if operation.removal:
            return not (version or (operation.purge and state.status == CONFIG_FILES))
        return version == operation.version if operation.version else bool(version)

    def needs_lists(self, ensure: str, installed: Installed) -> bool:
        """Return whether the next step depends on the package lists."""
        if ensure == ABSENT:
            return False
        if not installed.version or ensure == LATEST:
            return True
        return ensure != PRESENT and not self.has_version(installed, ensure)

    def has_version(self, installed: Installed, wanted: str) -> bool:
        """Return whether the wanted version is one of the installed versions."""
        if not installed.version:
            return False
        return any(self.compare(v, wanted) == 0 for v in (installed.version, *installed.others))


def installed_coverage(kind: str, value: str, present: bool) -> bool:
    """Cover the paths that a package may add: paths that do not exist, in directories of
    packages."""
    if kind == "path":
        return not present and value.startswith(_OF_PACKAGES)
    return kind == "host" or (kind != "lists" and not present)


def removed_coverage(kind: str, value: str, present: bool) -> bool:
    """Cover the paths that may be removed with a package: existing paths in directories of
    packages."""
    if kind == "path":
        return present and value.startswith(_OF_PACKAGES)
    return kind in ("host", "package", "unit") and present
