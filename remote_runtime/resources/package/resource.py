"""The package type: a package of the system's package manager (target; ``check`` on both sides)."""

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.base import Change, Missing, Properties, Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.packages.package_info import (
    ABSENT,
    CONFIG_FILES,
    LATEST,
    PRESENT,
    Available,
    Installed,
    Operation,
    VersionChange,
)
from remote_runtime.tasks import Task, TaskStateType

if TYPE_CHECKING:
    from remote_runtime.host.package_ports import Package, PackageReader
    from remote_runtime.host.ports import Host, HostReader
    from remote_runtime.packages.package_info import PackageFile
    from remote_runtime.packages.package_source import Source
    from remote_runtime.resources.package.debconf_answers import Answers
    from remote_runtime.resources.package.preconditions import FailedPrecondition, Preconditions

_GONE = ("not-installed", "config-files")

Found = Optional[Mapping[str, Any]]


class _Step(NamedTuple):
    """The planned action, its noop message, and the version afterwards, or the desired one."""

    message: str
    operation: Operation
    after: str


class Resource(TaskStateType):
    """Manages one package."""

    default_ensure = PRESENT
    _package: "PackageReader"
    _file: "Optional[PackageFile]" = None  # the package's file, once it was read
    _from: "Optional[Source]" = None
    _installed, _available = Installed(), Available()  # of the last query
    _awaits_lists = False  # whether they must be refreshed first

    @property
    def ensure(self) -> str:
        """See the base class. A package from a file is present in the version of that file."""
        ensure = super().ensure
        if ensure == PRESENT and self._file is not None:
            return self._package.shown(self._file.version)
        return ensure

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. Checks names, versions and durations."""
        from remote_runtime.resources.package import rules

        return rules.problems(name, properties)

    def state_of(self, state: Found) -> str:
        """See the base class. Return the version, or absent."""
        return self._reported(state["installed"]) if state else ABSENT

    def _reported(self, installed: Installed) -> str:
        return self._package.shown(installed.version) or ABSENT

    # -- reading ----------------------------------------------------------------------------------

    def read(self, host: "HostReader") -> Found:
        """See the base class. Return the installed state and, if it affects a decision, the
        available versions.
        """
        package = self._look_at(host)
        before = package.changed_before()
        if before is not None:
            # The state before the transaction of an earlier resource, which changed this one too.
            listed = package.available_now() if self._needs_lists(before) else Available()
            return {"installed": before, "available": listed}
        self._require_supported()
        self._installed, self._available = package.installed(), Available()
        self._look_at_source()
        if self._needs_lists(self._installed):
            self._look_at_lists()
        return {"installed": self._installed, "available": self._available}

    def _look_at(self, host: "HostReader") -> "PackageReader":
        self._package = host.packages.of(self.provider, self.name, self.properties)
        return self._package

    def _require_supported(self) -> None:
        if self._purge and not self._package.purges:
            reason = "%s cannot purge packages; omit purge" % self.provider
            raise ResourceError(reason, kind="resource.unsupported")
        answers = self._answers
        trouble = answers.trouble(self.provider) if answers is not None else None
        if trouble is not None:
            raise trouble

    def _look_at_source(self) -> None:
        """Determine the version of the file from which the package is installed."""
        ensure = super().ensure
        if ensure == ABSENT or not self.properties.get("source"):
            return
        self._from = self._from or self._package.source()
        status = self._from.look()
        exact = ensure not in (PRESENT, LATEST)
        if exact and self._package.compare(status.version, ensure) != 0:
            has = self._package.shown(status.version)
            raise ResourceError(
                "the source contains %s %s, not %s" % (self._package.title, has, ensure),
                hint="use another file, or request %s" % has,
            )
        self._file = status

    def _look_at_lists(self) -> None:
        """Find the installable versions. ``Missing`` if they do not include the required one."""
        package = self._package
        outdated = package.freshen(self._age)
        file = self._file
        self._available = package.available() if file is None else _offered(file)
        self._awaits_lists = bool(outdated)
        if outdated:
            raise Unknowable("%s; only a push refreshes them" % outdated)
        obstacle = self._obstacle(self._installed, self._available)
        if obstacle is not None:
            raise Missing(obstacle.message, hint=obstacle.hint)

    @property
    def _age(self) -> Optional[float]:
        """The maximum age of the lists, in seconds."""
        if "update_cache" not in self.properties:
            return None
        from remote_runtime.text import duration

        return duration.parse(self.properties["update_cache"])

    def _needs_lists(self, installed: Installed) -> bool:
        if self._file is not None:
            return not self._is_settled(installed, _offered(self._file))
        is_missing = self._only_upgrade and not installed.version
        return not is_missing and self._package.needs_lists(self.ensure, installed)

    def observed(self, host: "HostReader", state: Found) -> Any:
        """See the base class. Return the state that a preview can also predict for a package of an
        earlier stage. It includes the package manager's own words only for a broken state.
        """
        assert state is not None
        installed: Installed = state["installed"]
        stuck = "" if installed.version or installed.status in _GONE else installed.status
        values = [installed.version, stuck, installed.held, list(installed.others)]
        return {"ensure": values, "candidate": state["available"].candidate}

    def left(self, host: "HostReader", state: Found = None) -> Mapping[str, Any]:
        """See the base class. Return the installed state; the available versions change
        independently.
        """
        package = self._look_at(host)
        installed = package.status() if state is None else state["installed"]
        state_values: Dict[str, Any] = {"ensure": self._reported(installed)}
        if self._hold is not None:
            state_values["hold"] = package.is_held(installed)
        answers = self._answers
        if answers is not None and installed.version:
            state_values["debconf"] = answers.kept()
        return state_values

    def shown(self, host: "HostReader") -> Mapping[str, Any]:
        """See the base class. Return the installed version and the one that would be
        installed now.
        """
        package = self._look_at(host)
        installed = package.status()
        properties: Dict[str, Any] = {"ensure": self._reported(installed)}
        if installed.version:
            # The whole version: that of RPM has its epoch here.
            properties["version"] = installed.version
            properties["architecture"] = installed.architecture
        if installed.status:
            properties["status"] = installed.status
        if installed.held:
            properties["held"] = True
        available = package.available_now()
        if available.candidate:
            properties["candidate"] = package.shown(available.candidate)
        return properties

    def answers(self, host: "HostReader") -> Mapping[str, Any]:
        """See the base class. Return whether it is installed, and in which version."""
        package = self._look_at(host)
        version = package.shown(package.installed().version)
        return {"installed": bool(version), "version": version}

    # -- comparing --------------------------------------------------------------------------------

    def _obstacle(
        self, installed: Installed, available: Available
    ) -> "Optional[FailedPrecondition]":
        """Return the reason why it cannot be installed and what to do, or None."""
        if self.ensure == ABSENT or self._is_settled(installed, available):
            return None
        if self.properties.get("allow_downgrade") is False and self._is_older(installed):
            return self._preconditions().downgrade(installed)
        # Its own hold does not prevent the change.
        counts = installed if self._hold is None else installed._replace(held=False)
        return self._preconditions().installation(counts, available)

    def _is_older(self, installed: Installed) -> bool:
        """Return whether the requested version is older than the installed one."""
        now = installed.version if self.ensure not in (PRESENT, LATEST) else ""
        return bool(now) and self._package.compare(now, self.ensure) > 0

    @property
    def _purge(self) -> bool:
        return self.ensure == ABSENT and self.properties.get("purge") is True

    @property
    def _only_upgrade(self) -> bool:
        return self.properties.get("only_upgrade") is True

    @property
    def _hold(self) -> Optional[bool]:
        """Whether the package must be on hold; None if the hold is not managed."""
        hold = None if self.ensure == ABSENT else self.properties.get("hold")
        return None if hold is None else hold is True

    @property
    def _answers(self) -> "Optional[Answers]":
        answers = None if self.ensure == ABSENT else self.properties.get("debconf")
        if not answers:
            return None
        from remote_runtime.resources.package.debconf_answers import Answers

        return Answers(self._package, answers, self.sensitive)

    def _preconditions(self) -> "Preconditions":
        from remote_runtime.resources.package.preconditions import Preconditions

        return Preconditions(self._package, self.ensure)

    def _is_settled(self, installed: Installed, available: Available) -> bool:
        version = installed.version
        if self.ensure == ABSENT:
            return not (version or (self._purge and installed.status == CONFIG_FILES))
        if not version:
            return self._only_upgrade
        if self.ensure == LATEST:
            # Newer than the candidate is settled too: there is nothing to upgrade to.
            candidate = available.candidate
            return not candidate or self._package.compare(version, candidate) >= 0
        return self.ensure == PRESENT or self._package.has_version(installed, self.ensure)

    def _is_to_mark(self, installed: Installed) -> bool:
        """Return whether it is installed only for another package and would be removed together
        with it.
        """
        return self.ensure != ABSENT and bool(installed.version) and installed.automatic

    def lacks(self, host: "HostReader", state: Found) -> str:
        """See the base class. Return the remaining difference from the desired state, and how far
        the package manager got.
        """
        assert state is not None
        installed: Installed = state["installed"]
        package = self._package
        if not self._is_settled(installed, state["available"]):
            return "%s is %s, not %s (package manager: %s)" % (
                package.title,
                self._reported(installed),
                self.ensure,
                installed.status,
            )
        if self._is_to_mark(installed):
            return "%s is marked as installed automatically" % package.title
        if not installed.version:
            return ""
        if self._hold not in (None, package.is_held(installed)):
            return "the hold of %s differs from the desired state" % package.title
        answers = self._answers
        return answers.unachieved(installed) if answers is not None else ""

    # -- changing ---------------------------------------------------------------------------------

    def tasks(self, host: "HostReader", state: Found) -> List[Task]:
        """See the base class. The tasks that install, upgrade, downgrade or remove it."""
        assert state is not None
        installed: Installed = state["installed"]
        self._installed, self._available = installed, state["available"]
        if self._is_settled(installed, self._available):
            if self.ensure == ABSENT or not installed.version:
                return []
            marks = [self._marking()] if self._is_to_mark(installed) else []
            return self._answering() + marks + self._holding(changing=False)
        step = self._step()
        hold_problem = self._preconditions().hold(installed) if step.operation.removal else None
        if hold_problem is not None:
            raise ResourceError(hold_problem.message, hint=hold_problem.hint)
        answering = self._answering()
        if self._from is not None and not step.operation.removal:
            self._file = self._from.fetch()
            step = self._step()
        promised = self._package.promised(step.operation, self._hold is not None)
        tasks = [*answering, self._changing(step, promised)]
        if self._is_to_mark(installed) and not self._package.marks_changed:
            tasks.append(self._marking())
        return tasks + self._holding(changing=True)

    def blocked(self, host: "HostReader") -> List[Task]:
        return [self._changing(self._step())]

    @property
    def alone(self) -> bool:
        """See the base class. Whether its file must be read when it runs."""
        return bool(self.properties.get("source")) and self.ensure != ABSENT

    def ahead(self, host: "HostReader") -> Optional[Tuple[Operation, Installed]]:
        """See the base class. Its operation, and the state that is installed before that."""
        package = self._look_at(host)
        installed, available = package.installed(), Available()
        if self._needs_lists(installed):
            if self._age is not None and package.outdated(self._age):
                raise ResourceError("the lists are refreshed first")
            available = package.available_now()
        obstacle = self._obstacle(installed, available)
        if self._is_settled(installed, available) or obstacle is not None or installed.held:
            if self._hold not in (None, package.is_held(installed)):
                raise ResourceError("its hold is changed first")
            return None
        self._installed, self._available = installed, available
        answers = self._answers
        if answers is not None and answers.pending(installed):
            raise ResourceError("its answers are set first")
        return self._step().operation, installed

    def _answering(self) -> List[Task]:
        """The task that sets its answers, before the package is installed."""
        answers = self._answers
        pending = answers.pending(self._installed) if answers is not None else []
        if answers is None or not pending:
            return []

        def act(host: "Host") -> None:
            self._at(host).answer([one.answer for one in pending])

        changes = [answers.change(one) for one in pending]
        return [Task("Would have set the debconf answers", act, changes)]

    def _at(self, host: "Host") -> "Package":
        return host.packages.of(self.provider, self.name, self.properties)

    def _changing(self, step: _Step, promised: Sequence[VersionChange] = ()) -> Task:
        """The step that changes it. After it has run, its records contain the other changes."""
        installed, questions = self._installed, () if self._answers is None else self._answers.told
        refreshes = self._awaits_lists
        own = self._change("ensure", installed.version, step.after)
        if self._purge and not installed.version:
            own = Change("configuration files", "present", "absent")
        changes = [own, *self._others(promised)]

        def act(host: "Host") -> None:
            """Change the package; replace the predicted records by those of the changes."""
            package = self._at(host)
            if refreshes:
                package.refresh_lists()
            changes[1:] = self._others(
                package.change(
                    step.operation,
                    installed,
                    releases=self._hold is not None,
                    questions=questions,
                )
            )
            if self._from is not None:
                self._from.discard()

        return Task(step.message, act, changes)

    def _marking(self) -> Task:
        return Task(
            "Would have marked as installed manually",
            lambda host: self._at(host).mark_manual(),
            [Change("marked as", "automatic", "manual")],
        )

    def _holding(self, changing: bool) -> List[Task]:
        """The step that sets its hold, after a version change if there is one."""
        wanted, held = self._hold, self._package.is_held(self._installed)
        if wanted is None or (wanted == held and not (changing and wanted)):
            return []
        trouble = self._package.hold_trouble()
        if trouble is not None:
            raise trouble
        changes = [] if wanted == held else [Change("hold", held, wanted)]
        if changing and not wanted:  # by the change of the version
            return [Task("", lambda host: None, changes)]
        message = "Would have put the package on hold" if wanted else "Would have released the hold"
        if wanted == held:
            message = ""  # again, after the change
        return [Task(message, lambda host: self._at(host).hold(wanted is True), changes)]

    def _others(self, changed: Sequence[VersionChange]) -> List[Change]:
        """Return the records of the other changed packages."""
        own = self._package.title.partition(":")[0]
        return [
            self._change("package %s" % change.name, change.before, change.after)
            for change in changed
            if change.name.partition(":")[0] != own
        ]

    def _change(self, what: str, before: str, after: str) -> Change:
        """The record of a version that changes to another one, "" for none."""
        old, new = self._package.told(before, after)
        return Change(what, old or ABSENT, new or ABSENT)

    def _step(self) -> _Step:
        """Return the next step, with the file of the package."""
        step = self._step_from_lists()
        if self._file is None or step.operation.removal:
            return step
        return step._replace(operation=step.operation._replace(file=self._file.path))

    def _step_from_lists(self) -> _Step:
        name, installed, candidate = (
            self._package.title,
            self._installed,
            self._available.candidate,
        )
        if self.ensure == ABSENT:
            message = "Would have purged" if self._purge else "Would have uninstalled"
            return _Step(message, Operation(name, removal=True, purge=self._purge), ABSENT)
        recommends = self.properties.get("install_recommends")
        wanted = Operation(name, recommends=None if recommends is None else bool(recommends))
        if self.ensure == PRESENT:
            return _Step("Would have installed", wanted, candidate or PRESENT)
        if self.ensure == LATEST:
            done = "upgraded to" if installed.version else "installed"
            wanted = wanted._replace(version=candidate)
            newer = candidate if candidate != installed.version else ""
            return _Step("Would have %s latest" % done, wanted, newer or LATEST)
        version = self._package.matching(self._available, self.ensure) or self.ensure
        done = "installed version"
        if installed.version:
            older = self._package.compare(installed.version, version) < 0
            done = "upgraded to" if older else "downgraded to"
        operation = wanted._replace(version=version, exact=True)
        return _Step("Would have %s %s" % (done, self.ensure), operation, version)


def _offered(file: "PackageFile") -> Available:
    """Return the versions that can be installed from a file."""
    return Available(known=True, candidate=file.version, versions=(file.version,))
