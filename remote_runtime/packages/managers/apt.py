"""Packages of Debian and its derivatives (target).

Reading: dpkg's database once for all packages, and one ``apt-cache policy`` for all packages that
must change. Changing: one ``apt-get`` for packages of consecutive resources; see ``batch``. Modules
that only a change needs are imported for the first change: most runs find everything installed.
"""

from typing import (
    TYPE_CHECKING,
    AbstractSet,
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
)

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Covers, Effect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt import auto_marks as apt_marks
from remote_runtime.packages.apt import commands as apt_commands
from remote_runtime.packages.apt.commands import ENVIRONMENT
from remote_runtime.packages.apt.package_lists import Lists
from remote_runtime.packages.dpkg import database as dpkg
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import (
    Answer,
    Available,
    Installed,
    Operation,
    PackageFile,
    VersionChange,
)

if TYPE_CHECKING:
    from remote_runtime.packages.apt.package_records import ListedTexts
    from remote_runtime.packages.apt.private_copy import ScratchCache
    from remote_runtime.packages.apt.readiness import Readiness
    from remote_runtime.packages.dpkg.host_rules import HostRules
    from remote_runtime.packages.dpkg.package_contents import Contents
    from remote_runtime.system.process.commands import Result

    Done = TypeVar("Done")

SETTINGS, LISTS_LOCK = "/etc/apt/apt.conf.d", "/var/lib/apt/lists/lock"
_AFTER_DNF = 3
_LIMIT = 16 << 20  # bytes of a query's output; 64 bytes per package
_PROVIDERS_SHOWN = 8
_STEPS = ("Get:", "Unpacking ", "Setting up ", "Removing ")


class Apt(PackageManager):
    """apt and dpkg; needs root to change anything.

    It takes precedence over dnf, unless dpkg has no packages at all. In that case dpkg is only a
    program, as on Fedora, and RPM has the packages of the host.
    """

    name = "apt"
    programs = ("dpkg-query", "apt-cache", "apt-get")
    sources = ("/etc/apt/",)
    caches = "/var/cache/apt"
    marks = True
    purges = True
    asks = True
    suffix = ".deb"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.lists = Lists()
        self.admin = dpkg.ADMIN
        self._database: Optional[dpkg.Packages] = None
        self._database_at = -1
        self.extended_states = apt_marks.FILE
        self._automatic: AbstractSet[str] = frozenset()
        self._architecture = ""
        self.readiness: Optional["Readiness"] = None
        self._workbench: Optional["ScratchCache"] = None
        self._cannot_cache = False  # whether apt has failed because it cannot write its caches
        self._planned: Dict[Tuple[str, str], "Contents"] = {}
        self._texts: "Optional[ListedTexts]" = None
        self._texts_at: Tuple[object, ...] = ()
        self._options: Sequence[str] = ()
        self._hooks_told: List[str] = []
        self._options_at: Tuple[object, ...] = ()
        self._answers: Dict[str, str] = {}  # at the start of predictions
        if not dpkg.is_used():
            self.priority = _AFTER_DNF

    def compare(self, left: str, right: str) -> int:
        """Order two versions as dpkg does."""
        from remote_runtime.packages.versions import debian as debian_version

        return debian_version.compare(left, right)

    def status(self, name: str) -> Installed:
        """Return the installed state from dpkg's database, which is read again after
        each change.
        """
        if self._database is None or self._database_at != self.context.acted:
            self._database = dpkg.read(self.admin) or self._queried()
            self._architecture = self._database.native
            self._database_at = self.context.acted
            self._automatic = apt_marks.automatic(self.extended_states)
        try:
            state = self._database.find(name)
        except dpkg.UnclearError:
            self._database = self._queried()
            state = self._database.find(name)
        return state._replace(automatic=bool(state.version) and self.plain(name) in self._automatic)

    def read_file(self, path: str) -> PackageFile:
        """See the base class. The name has no architecture if it is the host's own."""
        from remote_runtime.packages.dpkg import package_metadata

        file = package_metadata.read(self.context.commands, path, ENVIRONMENT)
        return file._replace(name=self.plain("%s:%s" % (file.name, file.architecture)))

    def require_markable(self, name: str) -> None:
        """See the base class. apt must be able to read its sources and settings."""
        self._query(["policy", "--", name])

    def mark_manual(self, name: str) -> None:
        apt_marks.mark(self.context.commands, name, ENVIRONMENT)

    def set_hold(self, name: str, held: bool) -> None:
        apt_marks.hold(self.context.commands, name, held, ENVIRONMENT)
        self._database = None
        self._holds.pop(self.plain(name), None)

    def answers(self, questions: Sequence[str], planned: bool = True) -> Dict[str, str]:
        """See the base class. In a preview, planned packages do not change the answers of other
        packages."""
        from remote_runtime.packages.apt import debconf

        files, home = self.context.files, self.context.accounts.identity().home
        with self.context.ignoring():
            self.answer_files = self.answer_files or debconf.databases(files, home)
            answers = debconf.answers(files, self.answer_files, questions)
        if self.context.noop and planned:
            for question in questions:
                self.context.record_read(debconf.KIND, question)
            answers.update((q, self._answers[q]) for q in questions if q in self._answers)
        return answers

    def answer_trouble(self) -> Optional[ResourceError]:
        """debconf-set-selections must exist, and the user must be root."""
        from remote_runtime.packages.apt import debconf

        if not self.context.commands.find(debconf.SET):
            return ResourceError(
                "%s is not installed" % debconf.SET,
                "package.debconf",
                "install debconf in an earlier package resource",
            )
        return self._ready().trouble("setting the debconf answers")

    def set_answers(self, package: str, answers: Sequence[Answer], lock_timeout: float) -> None:
        """See the base class. This waits if another process has debconf's database open."""
        from remote_runtime.packages.apt import debconf

        trouble = self.answer_trouble()
        if trouble is not None:
            raise trouble
        debconf.store(
            self.context,
            package,
            answers=answers,
            env=ENVIRONMENT,
            find_holder=self._ready().holder,
            lock_timeout=lock_timeout,
        )

    def plan_answers(self, answers: Sequence[Answer]) -> None:
        self._answers.update((one.question, one.value) for one in answers)

    def chooses(self, name: str, questions: Sequence[str]) -> str:
        """See the base class. This reads the scripts of the package if the preview has
        unpacked it.
        """
        from remote_runtime.packages.dpkg import debconf_changes as deb_answers

        plain = self.plain(name)
        known = [contents for (of, _), contents in self._planned.items() if of == plain]
        return deb_answers.answer_uncertainty(
            plain, known[-1].scripts if known else None, questions
        )

    def _queried(self) -> dpkg.Database:
        # Without any package in the database, dpkg-query fails without a message.
        result = self.context.commands.run(dpkg.QUERY, env=ENVIRONMENT, limit=_LIMIT)
        if result.code != 0 and result.stderr.strip():
            raise ResourceError("dpkg-query failed: %s" % result.tail(), kind="package.database")
        return dpkg.Database(result.stdout)

    def look_up(self, names: Sequence[str]) -> Dict[str, Available]:
        """Query all of them with ``apt-cache policy``."""
        from remote_runtime.packages.apt import apt_cache

        return apt_cache.look_up(names, self._query, self._architecture)

    def warn_of_lists(self) -> None:
        """See the base class. The warning includes the commands that a refresh runs."""
        super().warn_of_lists()
        if self.context.noop:
            from remote_runtime.packages.apt import hooks as apt_hooks

            dump = self._ask(["apt-config", "dump"]).stdout
            apt_hooks.warn_of_refresh(self.context, dump, self._hooks_told)

    def _held(self) -> Sequence[str]:
        return dpkg.held(self.context.commands)

    def exclusion(self, name: str) -> Optional[Tuple[str, str]]:
        from remote_runtime.packages.apt import preferences as apt_preferences

        return apt_preferences.find(self.plain(name))

    def _query(self, words: Sequence[str]) -> str:
        def query() -> str:
            result = self._ask(["apt-cache", words[0], *self._caches(), *words[1:]])
            if result.code != 0:
                from remote_runtime.packages.apt import errors as apt_errors

                raise apt_errors.explain("querying apt-cache", result)
            return result.stdout

        return self._uncached_if_full(query)

    def _caches(self) -> Sequence[str]:
        """Return the options for apt's caches: private ones in a preview, none if apt cannot
        write them.
        """
        if self.context.noop:
            return self._private()
        return apt_commands.UNCACHED if self._cannot_cache else ()

    def _uncached_if_full(self, step: "Callable[[], Done]") -> "Done":
        """Run a step that calls apt; again without caches if apt has no space to write them, before
        it does anything else.
        """
        try:
            return step()
        except ResourceError as error:
            from remote_runtime.packages.apt import errors as apt_errors

            if self._cannot_cache or not apt_errors.is_of_caches(error):
                raise
            self._cannot_cache = True
            return step()

    def _ask(self, argv: Sequence[str], **options: Any) -> "Result":
        """Run apt with its sources and settings for the current resource."""
        planned, env, run = self.planned_sources(), ENVIRONMENT, self.context.commands.run
        if not planned:
            return run(argv, env=env, limit=_LIMIT, **options)
        from remote_runtime.packages.apt.sources import DIRECTORY

        settings, place = self._bench().settings(self.context.files, planned)
        env = dict(env, APT_CONFIG=settings)
        result = run(argv, env=env, limit=_LIMIT, **options)
        texts = [text.replace(place, DIRECTORY) for text in (result.stdout, result.stderr)]
        return result._replace(stdout=texts[0], stderr=texts[1])

    def providers_of(self, name: str) -> Sequence[str]:
        """Return the packages that provide a virtual package, a few at most."""
        from remote_runtime.packages.apt import apt_cache

        printed = self._query(["showpkg", "--", name])
        return apt_cache.parse_reverse_provides(printed)[:_PROVIDERS_SHOWN]

    def lists_outdated(self, max_age: Optional[float]) -> str:
        """Return the reason why the lists must be refreshed, or ""."""
        return "" if max_age is None else self.lists.outdated(max_age)

    def refresh_lists(self, lock_timeout: float, only: Sequence[str] = ()) -> None:
        """Run ``apt-get update``; ``ResourceError`` if any repository fails."""
        from remote_runtime.packages import locks
        from remote_runtime.packages.apt import errors as apt_errors
        from remote_runtime.packages.transaction import Manager, carry_out

        def look() -> Optional[locks.Holder]:
            return locks.holder([LISTS_LOCK])

        self.context.outdated_lists.pop(self.name, None)
        carry_out(
            self.context,
            Manager(ENVIRONMENT, look, apt_errors.explain, _STEPS),
            what="refreshing the package lists",
            argv=apt_commands.UPDATE,
            lock_timeout=lock_timeout,
        )
        self._texts = None
        self.lists.refreshed()
        self.forget_lists()

    def holder(self) -> str:
        """Return the process that holds a lock of the transaction; "" for none."""
        holder = self._ready().holder()
        return str(holder) if holder else ""

    def _ready(self) -> "Readiness":
        if self.readiness is None:
            from remote_runtime.packages.apt.readiness import Readiness

            self.readiness = Readiness()
        return self.readiness

    def predict(self, operation: Operation) -> Sequence[VersionChange]:
        """See the base class. apt simulates the transaction."""
        from remote_runtime.packages.apt import errors as apt_errors
        from remote_runtime.packages.apt import simulation as apt_simulation

        trouble = self._ready().trouble(str(operation))
        if trouble is not None:
            raise trouble
        result = self._simulated([operation], self._private())
        if result.code != 0:
            raise apt_errors.explain(str(operation), result, self._held)
        return apt_simulation.planned(result.stdout, self._architecture)

    def _simulated(self, operations: Sequence[Operation], private: Sequence[str]) -> "Result":
        """Return apt's answer about a transaction after the planned changes; ``private`` are the
        options for its caches.
        """
        from remote_runtime.packages.apt import simulation as apt_simulation

        argv = apt_commands.words(operations)
        argv[1:1] = [*apt_simulation.OPTIONS, *private, *self._as_planned()]
        return self._ask(argv)

    def _as_planned(self) -> List[str]:
        """Return the options that make apt treat the packages of earlier resources as installed."""
        if not (self.planned_versions() or self._holds):
            return []
        path = self._bench().path("status")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self._planned_database())
        return ["-o", "Dir::State::status=" + path, "-o", "Dir::Cache::pkgcache="]

    def _planned_database(self) -> str:
        """Return dpkg's database with the packages and holds of earlier resources."""
        from remote_runtime.packages.apt import simulation as apt_simulation

        versions, database = self.planned_versions(), dpkg.text(self.admin)
        if not (versions or self._holds):
            return database
        show_output = self._show(versions)
        try:
            text = apt_simulation.status(database, versions, show_output, self._architecture)
            return apt_simulation.with_holds(text, self._holds, self._architecture)
        except KeyError as error:
            name, version = error.args[0]
            raise Unknowable(
                "the lists do not contain the dependencies of %s %s" % (name, version)
            ) from error

    def _show(self, versions: Mapping[str, str]) -> str:
        """Return the text of the lists about these versions."""
        pairs = [pair for pair in sorted(versions.items()) if pair[1]]
        listed = [pair for pair in pairs if pair not in self.files]
        soon = [
            (self.plain(name), available.candidate) for name, available in self._available.items()
        ]
        soon = [pair for pair in soon if pair[1]] if self.context.noop else []
        text = self._lists_texts().of(listed, self._architecture, soon) if listed else ""
        own = [self.files[pair].control for pair in pairs if pair in self.files]
        return "\n\n".join(filter(None, [text, *own]))

    def _lists_texts(self) -> "ListedTexts":
        now = self.planned_sources()
        if self._texts is None or self._texts_at != now:
            from remote_runtime.packages.apt.package_records import ListedTexts

            self._texts, self._texts_at = ListedTexts(self._query), now
        return self._texts

    def plain(self, name: str) -> str:
        return dpkg.plain(name, self._architecture)

    def effects(self, operation: Operation, predicted: Sequence[VersionChange]) -> Sequence[Effect]:
        """See the base class. This includes files, units and accounts, as far as the packages'
        contents are known.
        """
        name = self.plain(operation.name)
        if operation.purge and not predicted:
            predicted = [VersionChange(name, "", "")]  # of packages that were removed before
        if name not in [change.name for change in predicted]:
            return super().effects(operation, predicted)
        from remote_runtime.packages.destination_checks import DestinationChecks
        from remote_runtime.packages.dpkg import file_conflicts
        from remote_runtime.packages.dpkg.effects import DebEffects
        from remote_runtime.packages.dpkg.installed_packages import Registry

        known = self._contents([change for change in predicted if change.after])
        try:
            rules = self._rules(any(change.after for change in predicted))
        except Unknowable:
            return super().effects(operation, predicted)
        if rules.unclear:
            raise Unknowable(rules.unclear)
        for name, contents in sorted(known.items()):
            rules.refuse(self.context.files, contents, name)
        file_conflicts.refuse(
            self.context,
            known,
            changes=predicted,
            planned=self._planned,
            shown=lambda: self._show({c.name: c.after for c in predicted if c.after}),
            rules=rules,
        )
        lying = {name: rules.applied(contents, name) for name, contents in known.items()}
        DestinationChecks(self.context.files).refuse(lying)
        consequences = DebEffects(
            self.context,
            Registry(self._architecture),
            contents=known.get,
            planned=self._planned,
            rules=rules,
        )
        consequences.purging = operation.purge
        try:
            return consequences.of(predicted)
        except Unknowable:  # existing files, on which the new ones depend
            return super().effects(operation, predicted)

    def _rules(self, installs: bool) -> "HostRules":
        """Return the rules by which dpkg handles the files of packages on this host."""
        from remote_runtime.packages.dpkg import host_rules as deb_host_rules
        from remote_runtime.packages.dpkg import settings as dpkg_settings

        context = self.context
        return deb_host_rules.read(
            context.files,
            context.accounts,
            home=context.accounts.identity().home,
            options=[*self._dpkg_options(), apt_commands.KEEPING],
            installs=installs,
            trouble=lambda option: dpkg_settings.option_problem(context.commands, option),
        )

    def _dpkg_options(self) -> Sequence[str]:
        """Return the options that apt's settings pass to dpkg for the current resource."""
        now = (self.context.acted, self.planned_sources())
        self.context.files.is_there(
            SETTINGS
        )  # apt reads them: other users who can change them are reported
        if self._options_at != now:
            from remote_runtime.packages.apt import hooks as apt_hooks
            from remote_runtime.packages.dpkg import settings as dpkg_settings

            result = self._ask(["apt-config", "dump"])
            if result.code != 0:
                raise Unknowable("cannot read the settings of apt")
            apt_hooks.warn(self.context, result.stdout, self._hooks_told)
            self._options, self._options_at = dpkg_settings.of_apt(result.stdout), now
        return self._options

    def _contents(self, changes: Sequence[VersionChange]) -> Dict[str, "Contents"]:
        """Return the contents of the new packages, without packages that could not be examined."""
        if not changes or not self.context.options.package_probe:
            return {}
        from remote_runtime.packages.apt.package_files import Debs, indexed

        debs, known = Debs(self.context, self._fetch), {}
        native, listed = self._architecture, []
        for change in changes:
            file = self.files.get((change.name, change.after))
            if file is None:
                listed.append(change)
            elif file.path:
                known.update(self.probe().of_file(*change[::2], path=file.path, kind=debs))
        ahead = [
            change for prediction in self.predicted_ahead.values() for change in prediction.changes
        ]
        wanted, soon = (
            indexed(some, self._show({change.name: change.after for change in some}), native)
            for some in (listed, [change for change in ahead if change.after])
        )
        return dict(known, **self.probe().contents(wanted, debs, soon))

    def _fetch(self, words: Sequence[str], directory: str, timeout: float) -> "Result":
        argv = [
            "apt-get",
            "-q",
            *self._private(),
            "-o",
            "Dir::Cache::archives=" + directory,
            *words,
        ]
        return self._ask(argv, cwd=directory, timeout=timeout)

    def _private(self) -> List[str]:
        """Return the options that prevent apt from writing to the host's caches."""
        return self._bench().options(self.lists.cache_is_stale())

    def _bench(self) -> "ScratchCache":
        if self._workbench is None:
            from remote_runtime.packages.apt.private_copy import ScratchCache

            self._workbench = ScratchCache(self.context.files, self.caches)
        return self._workbench

    def carry_out(self, operation: Operation, lock_timeout: float) -> Sequence[VersionChange]:
        """Run apt-get; "" lets it choose the version. A removal does not purge."""
        return self._transact(str(operation), [operation], lock_timeout)

    def carry_out_together(self, operations: Sequence[Operation], lock_timeout: float) -> None:
        what = "%s and %d more" % (operations[0], len(operations) - 1)
        self._transact(what, operations, lock_timeout)

    def own_coverage(self, name: str) -> Covers:
        from remote_runtime.packages import package_coverage

        return package_coverage.of_installed(self.context, name, self.admin)

    def shares(
        self, operations: Sequence[Operation]
    ) -> Optional[Sequence[Sequence[VersionChange]]]:
        """See the base class. One run of apt-get simulates all. None if it fails, or if a
        transaction would.
        """
        from remote_runtime.packages.apt import dependencies as apt_dependencies
        from remote_runtime.packages.apt import simulation as apt_simulation

        if self._ready().trouble(str(operations[0])) is not None:
            return None
        result = self._simulated(operations, self._caches())
        changes = apt_simulation.planned(result.stdout, self._architecture)
        if result.code != 0:
            return None
        return apt_dependencies.shares(operations, changes, self._show, self._planned_database)

    def predict_together(
        self, operations: Sequence[Operation]
    ) -> Optional[Sequence[Sequence[VersionChange]]]:
        return self.shares(operations)

    def _transact(
        self, what: str, operations: Sequence[Operation], lock_timeout: float
    ) -> Sequence[VersionChange]:
        """Run apt-get to its end; return the changes."""
        from remote_runtime.packages.apt import errors as apt_errors
        from remote_runtime.packages.apt import simulation as apt_simulation
        from remote_runtime.packages.maintainer_scripts import host_locale
        from remote_runtime.packages.transaction import Manager, carry_out

        self._database = None
        self.lists.drop_stale_cache()
        printed: List[str] = []

        def explain(what: str, result: "Result") -> ResourceError:
            printed[:] = [result.stdout]
            return apt_errors.explain(what, result, self._held)

        env = dict(ENVIRONMENT, **host_locale.environment(self.context.files))

        def run() -> "Result":
            """Run the transaction once, with or without caches of the lists."""
            argv = apt_commands.words(operations)
            return carry_out(
                self.context,
                Manager(env, self._ready().holder, explain, _STEPS),
                what=what,
                argv=[argv[0], *self._caches(), *argv[1:]],
                lock_timeout=lock_timeout,
            )

        try:
            printed[:] = [self._uncached_if_full(run).stdout]
        except ResourceError as error:
            # dpkg tries every broken package again and fails for each. That is
            # the failure of the broken package, not of this one.
            if error.kind != apt_errors.SCRIPT or not all(map(self.has_reached, operations)):
                raise
            self.context.notice("warning", "%s was completed, but: %s" % (what, error.message))
        self.acted()
        changes = apt_simulation.done(printed[0], self._architecture)
        if self.context.options.package_probe:
            from remote_runtime.packages.apt import package_files as deb_probe

            installed = [change for change in changes if change.after]
            deb_probe.confirm(self.context, installed, show=self._show, native=self._architecture)
        return changes
