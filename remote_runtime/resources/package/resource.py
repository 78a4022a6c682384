"""The package type: a package of the system's package manager (target; ``check`` on both sides)."""

import math
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.base import (
    Action,
    Change,
    Item,
    Missing,
    Properties,
    ResourceType,
    State,
    Uncertainty,
    Unknowable,
    UnknownEffect,
)
from remote_runtime.effects import UNKNOWN, once
from remote_runtime.errors import ResourceError
from remote_runtime.packages.manager import PackageManager, matching_version
from remote_runtime.packages.values import (
    ABSENT,
    CONFIG_FILES,
    DOWNLOAD,
    LATEST,
    PRESENT,
    Available,
    Installed,
    Operation,
    VersionChange,
)
from remote_runtime.resources.package import wording
from remote_runtime.resources.package.hold import Hold
from remote_runtime.retries import retry, tries_of

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.batch import PlannedChange
    from remote_runtime.packages.source import Source
    from remote_runtime.packages.values import PackageFile
    from remote_runtime.resources.package.answers import Answers
    from remote_runtime.resources.package.preconditions import FailedPrecondition, Preconditions
    from remote_runtime.retries import Result

_GONE = ("not-installed", "config-files")


class _Step(NamedTuple):
    """What is to be done, how noop words it, and the version, or what is wanted of it, then."""

    message: str
    operation: Operation
    after: str


class Resource(ResourceType):
    """One package at its turn."""

    provider: PackageManager
    default_ensure = PRESENT
    _file: "Optional[PackageFile]" = None  # that it comes from, once that was looked at
    _from: "Optional[Source]" = None

    @property
    def ensure(self) -> str:
        """See the base class. What comes from a file is present in the version of that."""
        given = super().ensure
        if given == PRESENT and self._file is not None:
            return self.provider.shown(self._file.version)
        return given

    def __init__(self, item: Item, provider: PackageManager, context: "Context") -> None:
        super().__init__(item, provider, context)
        self.name = provider.title(item)

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """Names, versions and durations. See the base class."""
        from remote_runtime.resources.package import rules

        return rules.problems(name, properties)

    def observe(self) -> State:
        """What is installed and, where that decides something, what could be."""
        before = self.provider.changed_before(self.item)
        if before is not None:
            # As it was before the transaction of an earlier turn, which changed this one, too.
            return State(
                self._reported(before), installed=before, available=self._listed_now(before)
            )
        if self._purge and not self.provider.purges:
            why = "%s cannot purge packages; leave purge out" % self.provider.name
            raise ResourceError(why, kind="resource.unsupported")
        answers = self._answers
        trouble = answers.trouble() if answers is not None else None
        if trouble is not None:
            raise trouble
        installed = self.provider.planned(self.name)
        self.context.saw("package", self.name, bool(installed.version))
        self._look_at_source(installed)
        if not self._needs_lists(installed):
            return State(self._reported(installed), installed=installed, available=Available())
        outdated = self._freshen()
        available = self._available(installed)
        state = State(self._reported(installed), installed=installed, available=available)
        if outdated:
            refreshed = UnknownEffect(
                Uncertainty(UNKNOWN, "%s would refresh the lists" % self.item.id), _lists
            )
            would = self._would(state)
            would[0] = would[0]._replace(effects=[refreshed, *(would[0].effects or ())])
            raise Unknowable("%s; only a push refreshes them" % outdated, would=would)
        self.context.saw("lists", "")
        obstacle = self._obstacle(installed, available)
        if obstacle is not None:
            if not available.known and self.provider.lists_outdated(math.inf):
                self.provider.warn_of_lists()
            raise Missing(obstacle.message, would=self._would(state), hint=obstacle.hint)
        return state

    def _look_at_source(self, installed: Installed) -> None:
        """Learn which version the file has that the package comes from."""
        given = super().ensure
        if given == ABSENT or not self.properties.get("source"):
            return
        from remote_runtime.packages.source import Source

        self._from = self._from or Source(self.context, self.provider, self.item)
        try:
            found = self._from.look()
        except Missing as error:
            state = State(self._reported(installed), installed=installed, available=Available())
            error.would = error.would or self._would(state)
            raise
        exact = given not in (PRESENT, LATEST)
        if exact and self.provider.compare(found.version, given) != 0:
            has = self.provider.shown(found.version)
            raise ResourceError(
                "the source contains %s %s, not %s" % (self.name, has, given),
                hint="use another file, or request %s" % has,
            )
        self._file = found

    def _needs_lists(self, installed: Installed) -> bool:
        if self._file is not None:
            return not self._settled(installed, _offered(self._file))
        left = self._only_upgrade and not installed.version
        return not left and self.provider.needs_lists(self.ensure, installed)

    def _listed_now(self, installed: Installed) -> Available:
        if not self._needs_lists(installed):
            return Available()
        return self.provider.available(self.name)

    def _available(self, installed: Installed) -> Available:
        """What could be installed; where that depends on an earlier change, it may be anything."""
        if self._file is not None:
            return _offered(self._file)
        try:
            return self._tried(lambda: self.provider.available(self.name))
        except Unknowable as error:
            state = State(self._reported(installed), installed=installed, available=Available())
            raise Unknowable(error.message, would=self._would(state)) from error
        except ResourceError as error:
            if not self.context.noop:
                raise
            state = State(self._reported(installed), installed=installed, available=Available())
            raise Missing(error.message, would=self._would(state), hint=error.hint) from error

    def _reported(self, installed: Installed) -> str:
        """The state as an event has it: the version, or absent."""
        return self.provider.shown(installed.version) or ABSENT

    def observation(self, state: Any) -> Any:
        """What a preview can also foretell of a package that an earlier stage manages: no words of
        the package manager but for a state that it is stuck in. See the base class."""
        installed: Installed = state.installed
        stuck = "" if installed.version or installed.status in _GONE else installed.status
        found = [installed.version, stuck, installed.held, list(installed.others)]
        return {"ensure": found, "candidate": state.available.candidate}

    def drift_state(self) -> Properties:
        """What is installed; what could be changes by itself. See the base class."""
        installed = self.provider.status(self.name)
        found: Properties = {"ensure": self._reported(installed)}
        if self._hold.wanted is not None:
            found["hold"] = self.provider.is_held(self.name, installed)
        answers = self._answers
        if answers is not None and installed.version:
            found["debconf"] = answers.kept()
        return found

    def found(self) -> Properties:
        """What is installed, and what would be installed now. See the base class."""
        installed = self.provider.status(self.name)
        properties: Properties = {"ensure": self._reported(installed)}
        if installed.version:
            # The whole version: that of RPM has its epoch here.
            properties["version"] = installed.version
            properties["architecture"] = installed.architecture
        if installed.status:
            properties["status"] = installed.status
        if installed.held:
            properties["held"] = True
        available = self.provider.available(self.name)
        if available.candidate:
            properties["candidate"] = self.provider.shown(available.candidate)
        return properties

    def answer(self) -> Properties:
        """Whether it is installed, and in which version. See the base class."""
        installed = self.provider.planned(self.name)
        self.context.saw("package", self.name, bool(installed.version))
        version = self.provider.shown(installed.version)
        return {"installed": bool(version), "version": version}

    def _freshen(self) -> str:
        """Refresh outdated lists; in noop return why a push would."""
        max_age = None
        forced = self.context.options.refresh_lists and not self.provider.refreshed
        if "update_cache" in self.properties:
            from remote_runtime.text import duration

            max_age = duration.parse(self.properties["update_cache"])
        elif self.provider.name in self.context.outdated_lists:
            forced = True  # by a repository of this run
        elif not self.provider.fetches_lists and not forced:
            return ""
        outdated = self.provider.lists_outdated(max_age)
        if self.context.noop and not forced:
            if outdated:
                self.provider.warn_of_lists()
            return outdated or self._pending_sources()
        if forced or (outdated and max_age is not None):
            changed = self.context.outdated_lists.get(self.provider.name, ())
            why = outdated or "requested by --refresh-lists"
            if changed:
                why = "this run has changed the repository %s" % ", ".join(changed)
            self.context.notice("info", "refreshing the package lists: %s" % why)
            try:
                self._tried(lambda: self.provider.refresh_lists(self._lock_timeout()))
            except ResourceError:
                if changed:
                    from remote_runtime.packages.list_refresh import keep_outdated

                    keep_outdated(self.context, self.provider.name)
                raise
            self.provider.refreshed = True
        return self._pending_sources() if self.context.noop else ""

    def _pending_sources(self) -> str:
        for path, _ in self.provider.planned_sources():
            return "the package lists do not contain the pending %s yet" % path
        return ""

    def _obstacle(
        self, installed: Installed, available: Available
    ) -> "Optional[FailedPrecondition]":
        """Return why it cannot be installed and what to do, or None."""
        if self.ensure == ABSENT or self._settled(installed, available):
            return None
        if self.properties.get("allow_downgrade") is False and self._is_older(installed):
            return self._preconditions().downgrade(installed)
        return self._preconditions().installation(self._hold.counts(installed), available)

    def _is_older(self, installed: Installed) -> bool:
        """Whether a version is asked for that is older than the one that is installed."""
        now = installed.version if self.ensure not in (PRESENT, LATEST) else ""
        return bool(now) and self.provider.compare(now, self.ensure) > 0

    @property
    def _purge(self) -> bool:
        return self.ensure == ABSENT and self.properties.get("purge") is True

    @property
    def _only_upgrade(self) -> bool:
        return self.properties.get("only_upgrade") is True

    @property
    def _hold(self) -> Hold:
        given = None if self.ensure == ABSENT else self.properties.get("hold")
        return Hold(self.provider, self.name, given)

    @property
    def _answers(self) -> "Optional[Answers]":
        given = None if self.ensure == ABSENT else self.properties.get("debconf")
        if not given:
            return None
        from remote_runtime.resources.package.answers import Answers

        return Answers(self.provider, self.name, given, self._hides)

    def _hides(self, value: str) -> bool:
        return self.item.sensitive or self.context.mask.text(value) != value

    def _answering(self, installed: Installed) -> List[Action]:
        answers = self._answers
        if answers is None:
            return []
        return answers.actions(self.context, installed, self._lock_timeout())

    def _preconditions(self) -> "Preconditions":
        from remote_runtime.resources.package.preconditions import Preconditions

        return Preconditions(self.provider, self.name, self.ensure)

    def _settled(self, installed: Installed, available: Available) -> bool:
        version = installed.version
        if self.ensure == ABSENT:
            return not (version or (self._purge and installed.status == CONFIG_FILES))
        if not version:
            return self._only_upgrade
        if self.ensure == LATEST:
            # Newer than the candidate is settled too: there is nothing to upgrade to.
            candidate = available.candidate
            return not candidate or self.provider.compare(version, candidate) >= 0
        return self.ensure == PRESENT or self.provider.has_version(installed, self.ensure)

    def actions(self, state: State, refresh: bool) -> List[Action]:
        """Install, upgrade, downgrade or remove. Nothing here is a refresh."""
        installed = state.installed
        if self._settled(installed, state.available):
            if self.ensure == ABSENT or not installed.version:
                return []
            marks = [self._marking()] if self._is_to_mark(installed) else []
            holds = self._hold.actions(self.context, installed, False)
            return self._answering(installed) + marks + holds
        step = self._step(state)
        held = self._preconditions().hold(state.installed) if step.operation.removal else None
        if held is not None:
            raise ResourceError(held.message, hint=held.hint)
        foreseen: Sequence[VersionChange] = ()
        answering = self._answering(installed)
        if self._from is not None and not step.operation.removal:
            self._file = self._from.fetch()
            step = self._step(state)
        self._hold.lift(installed)
        if self.context.noop:
            foreseen = self._foreseen(state, step)
        elif self.context.promised:
            # Held to what was promised, so each is a transaction of its own.
            foreseen = self.provider.foresee(step.operation)
        try:
            planned = [self._action(state, step, foreseen)]
        except Missing as missing:
            missing.would = missing.would or self._would(state)
            raise
        except ResourceError as error:  # what the package holds cannot come to this host
            raise Missing(error.message, would=self._would(state), hint=error.hint) from error
        if self._is_to_mark(state.installed) and not self.provider.marks_changed:
            planned.append(self._marking())
        answers = self._answers
        if self.context.noop and answers is not None:
            answers.suppose(self.context)
        return answering + planned + self._hold.actions(self.context, installed, True)

    def _is_to_mark(self, installed: Installed) -> bool:
        """Whether it is there for another package only, and would go with that."""
        return self.ensure != ABSENT and bool(installed.version) and installed.automatic

    def _marking(self) -> Action:
        if self.context.noop:
            self.provider.wished(self.name)

        def act() -> None:
            self.provider.mark_manual(self.name)
            self.provider.acted()

        return Action(wording.MARKED, act, [Change("marked as", "automatic", "manual")], [])

    def _coming(self, own: Operation) -> "List[PlannedChange]":
        """What the turns right behind this one are going to do of the same kind."""
        from remote_runtime.packages.batch import MAX_PACKAGES

        found: "List[PlannedChange]" = []
        context = self.context
        alone = bool(context.promised or context.halts or self.item.health_checks)
        alone = alone or bool(own.file) or not self.provider.batches
        for item in () if alone else context.coming():
            if item.type != self.item.type or not self.provider.takes(item):
                break
            special = item.noop or item.monitor_only or item.deferred_error or item.deferred_render
            if special or item.own or len(found) >= MAX_PACKAGES:
                break
            other = type(self)(item, self.provider, self.context)
            with self.context.turn(item, False):
                try:
                    wish = other.wish()
                except (ResourceError, Unknowable):
                    break  # the resource of that package reports the error when it runs
            if wish is None:
                continue
            if self.provider.kind(wish.operation) != self.provider.kind(own):
                break
            found.append(wish)
            if item.health_checks:
                break
        return found

    def wish(self) -> "Optional[PlannedChange]":
        """What this turn is going to do, None for nothing; ``ResourceError`` where that cannot be
        told before the turn."""
        from remote_runtime.packages.batch import PlannedChange

        if self.properties.get("source") and self.ensure != ABSENT:
            raise ResourceError("its file is read at its turn")
        installed = self.provider.status(self.name)
        available = Available()
        if self._needs_lists(installed):
            if "update_cache" in self.properties:
                from remote_runtime.text import duration

                if self.provider.lists_outdated(duration.parse(self.properties["update_cache"])):
                    raise ResourceError("the lists are refreshed first")
            available = self.provider.available(self.name)
        obstacle = self._obstacle(installed, available)
        if self._settled(installed, available) or obstacle is not None or installed.held:
            if not self._hold.is_right(installed):
                raise ResourceError("its hold is changed first")
            return None
        answers = self._answers
        if answers is not None and answers.pending(installed):
            raise ResourceError("its answers are set first")
        state = State(self._reported(installed), installed=installed, available=available)
        return PlannedChange(self.item, self._step(state).operation, installed)

    def _would(self, state: State) -> List[Action]:
        """What it would do, as far as can be told where something is in its way."""
        return [self._action(state, self._step(state), ())]

    def _action(self, state: State, step: _Step, foreseen: Sequence[VersionChange]) -> Action:
        own = self._change("ensure", state.installed.version, step.after)
        if self._purge and not state.installed.version:
            own = Change("configuration files", "present", "absent")
        changes = [own, *self._others(foreseen)]

        def act() -> None:
            """Carry the step out with those of other packages, and note what else came of it."""
            from remote_runtime.packages import batch

            done = self._hold.released(
                state.installed,
                lambda: batch.carry_out(
                    self.provider,
                    batch.PlannedChange(self.item, step.operation, state.installed),
                    others=lambda: self._coming(step.operation),
                    lock_timeout=self._lock_timeout(),
                    tried=self._tried,
                ),
            )
            changes[1:] = self._others(done)
            if self._from is not None:
                self._from.discard()

        looked = foreseen if self.context.noop else ()
        if self.context.noop and not step.operation.removal:
            self.provider.wished(self.name)
        effects = once(self.provider.effects(step.operation, looked))
        return Action(step.message, act, changes, effects)

    def _tried(self, step: "Callable[[], Result]") -> "Result":
        """Try what downloads again where that failed: nothing was changed by then."""

        def count(number: int) -> "Result":
            self.tries = max(self.tries, number) if tries.maximum > 1 else 0
            return step()

        tries = tries_of(self.properties)
        return retry(self.context, tries, count, lambda error: error.kind == DOWNLOAD)

    def _foreseen(self, state: State, step: _Step) -> Sequence[VersionChange]:
        """What the package manager would change; ``Missing`` where it would fail or has to wait."""
        would = [self._action(state, step, ())]
        holder = self.provider.holder()
        if holder:
            raise Unknowable("a push would wait for the package lock %s" % holder, would=would)
        try:
            return self.provider.foresee(step.operation)
        except Unknowable as error:
            raise Unknowable(error.message, would=would) from error
        except ResourceError as error:
            raise Missing(error.message, would=would, hint=error.hint) from error

    def _others(self, changed: Sequence[VersionChange]) -> List[Change]:
        """The records of what changes beside this package itself."""
        own = self.name.partition(":")[0]
        return [
            self._change("package %s" % change.name, change.before, change.after)
            for change in changed
            if change.name.partition(":")[0] != own
        ]

    def _change(self, what: str, before: str, after: str) -> Change:
        """The record of a version that becomes another one, "" for none."""
        old, new = self.provider.told(before, after)
        return Change(what, old or ABSENT, new or ABSENT)

    def _step(self, state: State) -> _Step:
        """What is to be done, with the file that the package comes from."""
        step = self._step_from_lists(state)
        if self._file is None or step.operation.removal:
            return step
        return step._replace(operation=step.operation._replace(file=self._file.path))

    def _step_from_lists(self, state: State) -> _Step:
        installed, candidate = state.installed, state.available.candidate
        if self.ensure == ABSENT:
            words = wording.PURGED if self._purge else wording.UNINSTALLED
            return _Step(words, Operation(self.name, removal=True, purge=self._purge), ABSENT)
        if self.ensure == PRESENT:
            wanted = Operation(self.name, recommends=self._recommends())
            return _Step(wording.INSTALLED, wanted, candidate or PRESENT)
        if self.ensure == LATEST:
            words = wording.UPGRADED_LATEST
            if not installed.version:
                words = wording.INSTALLED_LATEST
            wanted = Operation(self.name, candidate, recommends=self._recommends())
            return _Step(words, wanted, candidate or LATEST)
        version = matching_version(self.provider, state.available, self.ensure) or self.ensure
        if not installed.version:
            words = wording.INSTALLED_VERSION
        elif self.provider.compare(installed.version, version) < 0:
            words = wording.UPGRADED
        else:
            words = wording.DOWNGRADED
        operation = Operation(self.name, version, exact=True, recommends=self._recommends())
        return _Step(words % self.ensure, operation, version)

    def _recommends(self) -> Optional[bool]:
        given = self.properties.get("install_recommends")
        return None if given is None else bool(given)

    def _lock_timeout(self) -> float:
        given = self.properties.get("lock_timeout")
        if given is None:
            return self.context.options.lock_timeout
        from remote_runtime.text import duration

        return duration.parse(given)

    def unachieved(self, state: State) -> str:
        """Why the package is not as desired, with how far the package manager got."""
        if self._settled(state.installed, state.available):
            if self._is_to_mark(state.installed):
                return "%s is marked as installed automatically" % self.name
            if not state.installed.version:
                return ""
            if not self._hold.is_right(state.installed):
                return "the hold of %s is not as desired" % self.name
            answers = self._answers
            return answers.unachieved(state.installed) if answers is not None else ""
        return "%s is %s, not %s (package manager: %s)" % (
            self.name,
            state.ensure,
            self.ensure,
            state.installed.status,
        )


def _offered(file: "PackageFile") -> Available:
    """What can be installed from a file."""
    return Available(known=True, candidate=file.version, versions=(file.version,))


def _lists(kind: str, value: str, present: bool) -> bool:
    return kind == "lists"
