"""Packages of Fedora, RHEL and their derivatives (target).

Reading: one ``rpm -q`` for all packages, and one ``dnf repoquery`` for packages that must change or
be the latest version. Changing: one ``dnf`` for packages of consecutive resources; see ``batch``.

The lists are those of the host, regardless of their age: an option keeps dnf from treating them as
expired, because only ``update_cache`` refreshes them. dnf downloads missing lists by itself; it may
not do so in noop, so their content is not known then.

Modules that only a change needs are imported for the first change: most runs find everything
installed.
"""

from typing import (
    TYPE_CHECKING,
    AbstractSet,
    Dict,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Covers, Effect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import (
    Available,
    Installed,
    Operation,
    PackageFile,
    VersionChange,
)
from remote_runtime.packages.rpm import database as rpm_database

if TYPE_CHECKING:
    from remote_runtime.packages.dnf.effects import Resolved
    from remote_runtime.packages.dnf.new_packages import NewPackages
    from remote_runtime.packages.dnf.package_lists import Lists
    from remote_runtime.packages.dnf.transaction import NewPackage
    from remote_runtime.packages.dpkg.package_contents import Contents
    from remote_runtime.packages.package_inspection import Indexed
    from remote_runtime.packages.transaction import Manager
    from remote_runtime.system.process.commands import Result

_ASKED = "Operation aborted"  # the exit code of dnf after the answer no
_LIMIT = 16 << 20  # bytes of a query's output
_NAMES = 1000  # names on one command line
_PROVIDERS_SHOWN = 8
_STEPS = ("Installing ", "Upgrading ", "Downgrading ", "Erasing ", "Removing ", "Cleanup ")


class Dnf(PackageManager):
    """dnf and rpm; needs root to change anything."""

    name = "dnf"
    priority = 2
    programs = ("rpm", "dnf")
    sources = ("/etc/yum.repos.d/", "/etc/distro.repos.d/", "/etc/dnf/")
    fetches_lists = True
    marks = True
    marks_changed = False
    records_others = False
    suffix = ".rpm"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.lists: Optional["Lists"] = None
        self._parts: Dict[str, Tuple[str, str]] = {}  # name and architecture, as the lists have it
        self._provided: Dict[str, Sequence[str]] = {}
        self._records: Optional[rpm_database.Records] = None
        self._asked: Set[str] = set()
        self._automatic: AbstractSet[Tuple[str, str]] = frozenset()
        self._records_at = -1
        self._resolved: "Dict[Operation, Resolved]" = {}
        self._separate: Set[Operation] = set()  # dnf has not resolved them together
        self._new: "Optional[NewPackages]" = None

    def compare(self, left: str, right: str) -> int:
        """Order two versions as RPM does; a part that is missing in one of them is not compared."""
        from remote_runtime.packages.versions import rpm as rpm_version

        return rpm_version.compare(left, right)

    def shown(self, version: str) -> str:
        """See the base class: the version and the release, without the epoch."""
        return rpm_database.version_text(version)

    def told(self, before: str, after: str) -> Tuple[str, str]:
        """See the base class. Epochs are included if they differ."""
        return rpm_database.change_versions(before, after)

    def status(self, name: str) -> Installed:
        """Return the installed state from RPM's database, which is read again after each change."""
        if self._records_at != self.context.acted or name not in self._asked:
            self._asked = {name, *(item.name for item in self.items)}
            self._records = rpm_database.Records(self._read_database(sorted(self._asked)))
            self._records_at = self.context.acted
            self._automatic = self._marked()
        assert self._records is not None
        state = rpm_database.installed(self._records.find(name))
        key = self._records.split(name)[0], state.architecture
        return state._replace(automatic=bool(state.version) and key in self._automatic)

    def read_file(self, path: str) -> PackageFile:
        """See the base class. rpm queries the file without the host's settings."""
        from remote_runtime.packages.dnf import isolated_run
        from remote_runtime.packages.rpm import package_metadata

        argv = isolated_run.isolated(self.context, (*package_metadata.QUERY, path))
        return package_metadata.parse(path, self.context.commands.run(argv, limit=_LIMIT))

    def _marked(self) -> AbstractSet[Tuple[str, str]]:
        from remote_runtime.packages.dnf import install_reasons as dnf_marks

        return dnf_marks.automatic(
            self.context.commands, lambda: self._query("--installed", form=dnf_marks.FORM)
        )

    def mark_manual(self, name: str) -> None:
        """See the base class. This waits for dnf's lock, as every transaction does."""
        from remote_runtime.packages.dnf import install_reasons as dnf_marks

        what = "marking %s as installed manually" % name
        argv = dnf_marks.mark(self.context.commands, name)
        self._transaction(what, argv, self.context.options.lock_timeout)

    def is_held(self, name: str, installed: Installed) -> bool:
        """See the base class. A hold is a version lock."""
        from remote_runtime.packages.dnf import exclusions as dnf_exclusions

        planned = self._holds.get(self.plain(name)) if self.context.noop else None
        return dnf_exclusions.is_locked(name) if planned is None else planned

    def hold_trouble(self) -> Optional[ResourceError]:
        """See the base class. dnf 4 locks versions with a plugin."""
        from remote_runtime.packages.dnf import exclusions as dnf_exclusions
        from remote_runtime.packages.dnf import install_reasons as dnf_marks

        if dnf_marks.is_new(self.context.commands) or dnf_exclusions.can_lock():
            return None
        if self.planned_versions():
            return Unknowable("an earlier package may provide dnf's versionlock plugin")
        return ResourceError(
            "dnf cannot lock versions on this host: its versionlock plugin is missing",
            "package.plugin",
            "install python3-dnf-plugin-versionlock in an earlier package resource",
        )

    def set_hold(self, name: str, held: bool) -> None:
        """See the base class. This needs the plugin versionlock. The available versions change, so
        the lists are read again.
        """
        doing = "add" if held else "delete"
        what = "dnf versionlock %s %s" % (doing, name)
        argv = ("dnf", "versionlock", doing, "-y", name)
        self._transaction(what, argv, self.context.options.lock_timeout)
        self.forget_lists()

    def exclusion(self, name: str) -> Optional[Tuple[str, str]]:
        from remote_runtime.packages.dnf import exclusions as dnf_exclusions

        return dnf_exclusions.find(name)

    def _read_database(self, names: Sequence[str]) -> str:
        printed = ""
        for at in range(0, len(names), _NAMES):
            argv = rpm_database.QUERY + tuple(names[at : at + _NAMES])
            if self.context.noop:
                from remote_runtime.packages.dnf import isolated_run

                argv = isolated_run.isolated(self.context, argv)
            result = self.context.commands.run(argv, limit=_LIMIT)
            # The exit code counts the packages that are not installed.
            if self.context.noop and isolated_run.has_failed(result):
                raise isolated_run.not_begun(result.stderr)
            if "error:" in result.stderr:
                raise ResourceError("rpm failed: %s" % result.tail(), kind="package.database")
            printed += result.stdout
        return printed

    def look_up(self, names: Sequence[str]) -> Dict[str, Available]:
        """Query all of them with ``dnf repoquery``."""
        from remote_runtime.packages.dnf import candidates as dnf_candidates

        starts = range(0, len(names), _NAMES)
        printed = "".join(self._query(*names[at : at + _NAMES]) for at in starts)
        records = rpm_database.Records(printed)
        self._parts.update((name, records.split(name)) for name in names)
        return dnf_candidates.choose(records, names, self._lists().priorities())

    def available(self, name: str) -> Available:
        """See the base class. A name that other packages provide is known, but has no candidate."""
        available = super().available(name)
        return available if available.known else Available(known=bool(self.providers_of(name)))

    def providers_of(self, name: str) -> Sequence[str]:
        """Return the packages that provide a virtual package, a few at most."""
        if not self._provided.get(name):
            records = rpm_database.Records(self._query("--whatprovides", name))
            self._provided[name] = records.names()[:_PROVIDERS_SHOWN]
        return self._provided[name]

    def _query(self, *words: str, form: str = "") -> str:
        from remote_runtime.packages import transaction
        from remote_runtime.packages.dnf import commands as dnf_commands
        from remote_runtime.packages.dnf import isolated_run

        command = dnf_commands.query(words, form, cached=self.context.noop)
        argv = isolated_run.isolated(self.context, command)
        return transaction.ask(
            self.context, self._manager(), what="querying dnf", argv=argv, limit=_LIMIT
        )

    def _lists(self) -> "Lists":
        if self.lists is None:
            from remote_runtime.packages.dnf import package_lists as dnf_lists

            self.lists = dnf_lists.Lists()
        return self.lists

    def lists_outdated(self, max_age: Optional[float]) -> str:
        """Return the reason why the lists must be refreshed, or ""; None only checks for missing
        lists."""
        return self._lists().outdated(max_age)

    def refresh_lists(self, lock_timeout: float, only: Sequence[str] = ()) -> None:
        """Run ``dnf makecache``; ``ResourceError`` if a required repository fails."""
        from remote_runtime.packages.dnf import commands as dnf_commands
        from remote_runtime.packages.dnf import errors as dnf_errors

        self.context.outdated_lists.pop(self.name, None)
        argv = (*dnf_commands.REFRESH, *("--repo=" + name for name in sorted(set(only))))
        result = self._transaction("refreshing the package lists", argv, lock_timeout)
        ignored = dnf_errors.ignored_repositories(result)
        if ignored:  # with skip_if_unavailable, this is not an error
            self.context.notice("warning", "could not refresh the lists of %s" % ignored)
        self._lists().refreshed()
        self.forget_lists()

    def forget_lists(self) -> None:
        super().forget_lists()
        self._provided = {}

    def holder(self) -> str:
        """Return the process that holds a lock of the transaction; "" for none."""
        holder = self._manager().look()
        return str(holder) if holder else ""

    def predict(self, operation: Operation) -> Sequence[VersionChange]:
        """See the base class. dnf resolves the transaction, which shows whether it would fail, but
        only for the current host.
        """
        from remote_runtime.packages.dnf import transaction as dnf_transaction
        from remote_runtime.packages.dnf.effects import Resolved

        self._resolved.pop(operation, None)
        what = str(operation._replace(version=self.shown(operation.version)))
        planned = self._planned_names()
        removes = operation.removal or self._is_older(operation)
        if planned and (removes or not all(planned.values())):
            raise Unknowable("dnf cannot predict %s after other changes" % what)
        result = self._simulated([operation])
        if planned and not dnf_transaction.includes(result.stdout, planned):
            raise Unknowable("dnf cannot predict %s after other changes" % what)
        if not _has_resolved(result):
            raise self._explain(what, result)
        self._refuse_left(operation, what, result.stdout)
        names = dnf_transaction.changed(result.stdout)
        table = dnf_transaction.own_part(dnf_transaction.table_of(result.stdout), planned)
        if result.stdout:
            self._resolved[operation] = Resolved(table, names)
        real = bool(names) and bool(self._candidate(operation.name)) and not operation.removal
        if real and self._package(operation.name) not in names:
            raise Unknowable(
                "dnf chooses other packages instead of %s: %s" % (operation.name, names[0])
            )
        return ()

    def _simulated(self, operations: Sequence[Operation]) -> "Result":
        """Return dnf's answer about a transaction. After earlier changes, it is what dnf adds to
        them in one transaction.
        """
        names = self.planned_versions()
        given = {self._package(name) for name in names if self._package(name) != name}
        before = [
            Operation(name, version, file=self._file_of(name, version))
            for name, version in sorted(names.items())
            if name not in given
        ]
        return self.context.commands.run(self._asking([*operations, *before]), limit=_LIMIT)

    def predict_together(
        self, operations: Sequence[Operation]
    ) -> Optional[Sequence[Sequence[VersionChange]]]:
        """See the base class. One run of dnf resolves the first ones that only add packages.
        Without examining packages, only what is simulated alone is known.
        """
        adding: List[Operation] = []
        for one in operations:
            if one in self._separate or not self._adds(one):
                break
            adding.append(one)
        if len(adding) < 2 or not self.context.options.package_probe:
            return None
        try:
            found = self._shares_in_preview(adding)
        except ResourceError:  # which is that of one of them, as its own simulation shows
            found = None
        if found is None:
            self._separate.update(adding)
        return found

    def _adds(self, operation: Operation) -> bool:
        """Return whether an operation only adds a package of this name from a repository."""
        if operation.removal or operation.file or self.planned(operation.name).version:
            return False
        return bool(self._candidate(operation.name))

    def _shares_in_preview(
        self, operations: Sequence[Operation]
    ) -> Optional[List[List[VersionChange]]]:
        """Return the packages that each operation adds in one transaction after the planned
        changes; None if the transaction fails or does anything else.
        """
        from remote_runtime.packages.dnf import transaction as dnf_transaction

        planned = self._planned_names()
        if not all(planned.values()):
            return None
        result = self._simulated(operations)
        table = dnf_transaction.own_part(dnf_transaction.table_of(result.stdout), planned)
        includes = dnf_transaction.includes(result.stdout, planned)
        if table is None or table.changed or not (_has_resolved(result) and includes):
            return None
        names = [self._package(one.name) for one in operations]
        found = self._new_packages().shares(names, table.added)
        for one, name, share in zip(operations, names, found or ()):
            if one.name != name:  # with an architecture, under which it is planned, too
                share += [c._replace(name=one.name) for c in share if c.name == name]
        return found

    def own_coverage(self, name: str) -> Covers:
        from remote_runtime.packages import package_coverage

        return package_coverage.of_rpms(self.context, [self._package(name)])

    def _file_of(self, name: str, version: str) -> str:
        """Return the file of a package in this preview; "" for a package from a repository."""
        file = self.files.get((name, version))
        return file.path if file is not None else ""

    def _refuse_left(self, operation: Operation, what: str, printed: str) -> None:
        """Raise if dnf keeps an excluded package that it should remove, and exits with 0."""
        from remote_runtime.packages.dnf import exclusions as dnf_exclusions

        nothing = operation.removal and "Nothing to do" in printed
        if nothing and self.status(operation.name).version:
            raise dnf_exclusions.not_removed_error(what, self._package(operation.name))

    def _package(self, name: str) -> str:
        """Return the name of the package without an architecture."""
        return self._parts.get(name, (name, ""))[0]

    def effects(self, operation: Operation, predicted: Sequence[VersionChange]) -> Sequence[Effect]:
        """See the base class.

        This includes files, units and accounts, if dnf resolved the transaction and the contents of
        the new packages are known.
        """
        from remote_runtime.packages.dnf import effects as dnf_effects
        from remote_runtime.packages.dnf.transaction import Table

        if predicted:  # in a transaction with others
            added = Table(self._new_packages().of(predicted), [], [])
            self._resolved[operation] = dnf_effects.Resolved(added, ())
        resolved = self._resolved.get(operation)
        if resolved is None and operation.removal:
            return self._changing(operation, self._removed_with(operation), predicted)
        if resolved is None:
            return super().effects(operation, predicted)
        if resolved.table is None:
            return self._changing(operation, resolved.names, predicted)
        table, old = resolved.table, dnf_effects.installed_names(resolved.table)
        if not self.context.options.package_probe and (table.added or table.changed):
            if old:
                return self._changing(operation, old, predicted)
            return super().effects(operation, predicted)
        try:
            registry = dnf_effects.registry_of(self.context, table)
        except Unknowable:
            return self._changing(operation, old, predicted)
        found = dnf_effects.of(
            self.context, table, registry, lambda new: self._contents(operation, new)
        )
        return [*found, *dnf_effects.named(operation, self._package(operation.name), table)]

    def _planned_names(self) -> Dict[str, str]:
        """Return ``planned_versions`` by names without architectures."""
        return {self._package(name): evr for name, evr in self.planned_versions().items()}

    def _changing(
        self, operation: Operation, names: Sequence[str], predicted: Sequence[VersionChange]
    ) -> Sequence[Effect]:
        """Return the effects if these installed packages change, but not how."""
        from remote_runtime.packages.dnf import effects as dnf_effects

        what = str(operation._replace(version=self.shown(operation.version)))
        theirs = dnf_effects.unclear(self.context, what, names)
        found = [theirs, *super().effects(operation, predicted)]
        if operation.removal:
            from remote_runtime.packages.dnf import unknown_removals

            found += unknown_removals.scripts(self.context, names)
        return found

    def _removed_with(self, operation: Operation) -> Sequence[str]:
        """Return the package of a removal, and the other packages that dnf would remove with it if
        no earlier resource changed anything.
        """
        from remote_runtime.packages.dnf import transaction as dnf_transaction

        package = self._package(operation.name)
        try:
            result = self.context.commands.run(self._asking([operation]), limit=_LIMIT)
        except (ResourceError, Unknowable):
            return [package]
        return sorted({package, *dnf_transaction.changed(result.stdout)})

    def _new_packages(self) -> "NewPackages":
        if self._new is None:
            from remote_runtime.packages.dnf.new_packages import NewPackages

            self._new = NewPackages(self.context, self.probe(), self._query, self._file_of)
        return self._new

    def _contents(self, operation: Operation, new: "Sequence[NewPackage]") -> "Dict[str, Contents]":
        """Return the contents of the new packages of an operation, without packages that could not
        be examined. This also examines those of the later resources of the same transaction.
        """
        from remote_runtime.packages.dnf.package_files import refuse

        now, kind = self.context.position, self.kind(operation)
        later = [
            found
            for at, found in self.predicted_ahead.items()
            if at > now and self.kind(found.operation) == kind
        ]

        def fetch(wanted: "Sequence[Indexed]", directory: str) -> None:
            """Download packages into a directory with dnf, without installing them."""
            from remote_runtime.packages.dnf import isolated_run
            from remote_runtime.packages.package_inspection import TIMEOUT

            names = {one.name for one in wanted}
            others = [
                found.operation
                for found in later
                if not names.isdisjoint(change.name for change in found.changes)
            ]
            words = self._words([operation, *others])
            words = (*words, "--downloadonly", "--downloaddir=" + directory)
            argv = isolated_run.isolated(self.context, words, directory)
            result = self.context.commands.run(argv, timeout=TIMEOUT, limit=_LIMIT)
            if result.code != 0:
                what = str(operation._replace(version=self.shown(operation.version)))
                refuse(self._explain(what, result), result)

        packages = self._new_packages()
        soon = packages.of([change for found in later for change in found.changes])
        return packages.contents(new, fetch, soon)

    def carry_out(self, operation: Operation, lock_timeout: float) -> Sequence[VersionChange]:
        """Run dnf; "" lets it choose the version, and an older version is a downgrade.

        Packages that only a removed package needed are removed with it if dnf is configured to do
        so.
        """
        what = str(operation._replace(version=self.shown(operation.version)))
        printed = self._transact(what, self._words([operation]), lock_timeout)
        self._refuse_left(operation, what, printed)
        return ()

    def kind(self, operation: Operation) -> Tuple[object, ...]:
        return (*super().kind(operation), self._is_older(operation))

    def shares(
        self, operations: Sequence[Operation]
    ) -> Optional[Sequence[Sequence[VersionChange]]]:
        """See the base class. One run of dnf that stops before the transaction shows
        all changes.
        """
        from remote_runtime.packages.dnf import batch as dnf_batch

        def follows(names: Sequence[str]) -> Set[str]:
            if not operations[0].removal:
                return dnf_batch.needed(names, self._query)
            automatic = {name for name in names if self.status(name).automatic}
            return automatic | dnf_batch.dependent(names, self._query)

        result = self.context.commands.run(self._asking(operations), limit=_LIMIT)
        return dnf_batch.shares(operations, result.stdout, self._package, follows)

    def carry_out_together(self, operations: Sequence[Operation], lock_timeout: float) -> None:
        first = operations[0]._replace(version=self.shown(operations[0].version))
        what = "%s and %d more" % (first, len(operations) - 1)
        self._transact(what, self._words(operations), lock_timeout)

    def _transact(self, what: str, argv: Sequence[str], lock_timeout: float) -> str:
        """Change packages; return dnf's output."""
        from remote_runtime.packages.dnf import errors as dnf_errors

        self._records_at = -1
        known = self._lists().repositories()
        result = self._transaction(what, argv, lock_timeout)
        self.acted()
        if self._lists().repositories() != known:
            self.forget_lists()  # the package added a repository, as epel-release does
        for complaint in dnf_errors.script_failures(result):
            self.context.notice("warning", "%s was completed, but: %s" % (what, complaint))
        self._confirm(result.stdout)
        return result.stdout

    def _confirm(self, printed: str) -> None:
        """Send the new contents of these packages to the controller, which compares them with those
        that previews used."""
        if self.context.options.package_probe:
            from remote_runtime.packages.dnf import package_files as rpm_probe

            rpm_probe.confirm(self.context, printed, self._query)

    def _words(self, operations: Sequence[Operation]) -> Sequence[str]:
        """Return the command for operations of one kind."""
        from remote_runtime.packages.dnf import commands as dnf_commands

        return dnf_commands.words(operations, self._is_older(operations[0]), self._parts)

    def _is_older(self, operation: Operation) -> bool:
        """Return whether the requested version is older than the installed one."""
        now = self.status(operation.name).version if operation.exact else ""
        return bool(now) and self.compare(operation.version, now) < 0

    def _asking(self, operations: Sequence[Operation]) -> Sequence[str]:
        """Return the command with which dnf prints its planned changes and then stops."""
        from remote_runtime.packages.dnf import commands as dnf_commands
        from remote_runtime.packages.dnf import isolated_run

        return isolated_run.isolated(self.context, dnf_commands.asking(self._words(operations)))

    def _transaction(self, what: str, argv: Sequence[str], lock_timeout: float) -> "Result":
        from remote_runtime.packages import transaction
        from remote_runtime.packages.maintainer_scripts import host_locale

        environment = host_locale.environment(self.context.files)
        manager = self._manager()._replace(environment=environment)
        return transaction.carry_out(
            self.context, manager, what=what, argv=argv, lock_timeout=lock_timeout
        )

    def _explain(self, what: str, result: "Result") -> ResourceError:
        from remote_runtime.packages.dnf import errors as dnf_errors
        from remote_runtime.packages.dnf import isolated_run

        if self.context.noop and isolated_run.has_failed(result):
            return isolated_run.not_begun(result.stderr)
        return dnf_errors.explain(what, result)

    def _manager(self) -> "Manager":
        from remote_runtime.packages import transaction
        from remote_runtime.packages.dnf import locks as dnf_locks

        return transaction.Manager({}, dnf_locks.holder, self._explain, _STEPS)


def _has_resolved(result: "Result") -> bool:
    """Return whether dnf has resolved a transaction, and then stopped as requested."""
    return result.code == 0 or _ASKED in result.stdout + result.stderr
