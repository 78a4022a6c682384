"""A resource of a state type while it runs, as the lifecycle and the preview use it (target).

The lifecycle calls the actions, then observes again; the preview describes them. ``read`` receives
the machine in a push and the overlay in a preview, and can only read. ``apply`` receives the
machine in a push. In a preview, it receives a copy of the overlay, which records the effects of the
action. A state type has no other access to the host: it has no context.
"""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    Union,
)

from remote_runtime.base import (
    AccountStateType,
    Change,
    Diff,
    FilePartStateType,
    PathStateType,
    StateType,
    Unknowable,
)
from remote_runtime.changes import Action, Ended
from remote_runtime.context import Context, DryRun
from remote_runtime.effects import (
    ACCOUNT_FILES,
    DATABASES,
    AccountEffect,
    Below,
    Covers,
    Effect,
    PathEffect,
    UnknownEffect,
    everything,
)
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.host.file_text import FileText, diff_of, recorded
from remote_runtime.host.host_reader import reader
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.plan_item import Item, Properties
from remote_runtime.reporting.masking import MASKED
from remote_runtime.system.paths import is_within
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.host.machine.write_ahead import Upcoming
    from remote_runtime.overlay.host_overlay import HostOverlay
    from remote_runtime.system.account_files import Group, User

Step = Callable[[Host], None]


class State(NamedTuple):
    """An observed state: ``ensure`` as the event reports it, and what the type ``found``."""

    ensure: str
    found: Any = None


class ManagedResource(object):
    """One resource while it runs: it observes, compares and returns actions, but never acts."""

    _reads_machine = False  # until a change is planned: an overlay costs a converged preview time
    may_fail = False  # only running its actions shows whether they succeed
    ended: Optional[Ended] = None  # how the command of the user ended, if it runs one
    tries = 0  # the number of tries, if several are allowed
    state_left: Any = None  # the state that it observed last; None if it may have changed since

    def __init__(self, kind: Type[StateType], item: Item, provider: Any, context: Context) -> None:
        self.item = item
        self.name = item.name
        self.provider = provider
        self.context = context
        self._readers: _Readers = context.one(_Readers)
        self.read_only = kind.read_only  # its actions change nothing, such as waiting
        self._type = kind(item.name, item.properties)
        self._type.provider = provider.name
        self._type.sensitive = item.sensitive
        self._noun = self._type.noun or item.type
        self._refreshes = kind.refresh is not StateType.refresh
        self._keeps_part = kind.left is not StateType.left
        self._done: List[Effect] = []  # of the steps that ran on the overlay

    @property
    def _removes(self) -> bool:
        return self._type.ensure == "absent"

    # -- reading ----------------------------------------------------------------------------------

    def _reader(self, overlay: "Optional[HostOverlay]" = None) -> HostReader:
        """Return a reader of the host's current state, or of the overlay ``overlay``."""
        if overlay is not None:
            return reader(overlay, self.context, overlay)
        noop = self.context.noop
        if noop and (self.context.overlay is not None or not self._reads_machine):
            return self._readers.planned()
        return self._readers.machine(noop)

    def _supported(self) -> HostReader:
        """A host that can be read, on which the resource can be managed."""
        host = self._reader()
        reason = self._type.unsupported(host)
        if reason:
            raise ResourceError(reason, kind="resource.unsupported")
        return host

    def wanted(self) -> List[str]:
        """The SHA-256 hashes of the blobs that this resource will need, as far as a quick check
        shows.
        """
        return []

    def observe(self) -> State:
        """Read the state of the target and change nothing. ``ResourceError`` or ``Missing``."""
        values = self._type.read(self._supported())
        return State(self._type.state_of(values), found=values)

    def _diff(self, current: Any) -> Optional[Diff]:
        """The difference; None if nothing differs."""
        if self._removes:
            return None if current is None else Diff(current, self._type.remaining())
        return Diff(current, self._type.desired()) or None

    def found(self) -> Properties:
        """Return the properties that ``ccm status`` shows: ``ensure`` and the other current
        properties.

        The resource may have only a name. Changes nothing. ``ResourceError``.
        """
        state = self.observe()
        entries = (state.found or {}).items()
        properties = {k: recorded(v) for k, v in entries if k not in self._type.secret}
        return dict(properties, ensure=state.ensure)

    def answer(self) -> Optional[Properties]:
        """The answers to ``ccm.ask``; None for a type without lookups.

        The resource has only a name. A preview returns the predicted answers. Changes nothing.
        ``ResourceError``.
        """
        answers = self._type.answers(self._supported())
        return None if answers is None else dict(answers)

    def observation(self, state: Any) -> Any:
        """The parts of a state that determine the actions, in addition to the old values in the
        changes: the values that the type desires or, for ``ensure: absent``, everything that was
        found.

        The keys are properties, which somebody may correct before the push. It is plain data, is
        equal as long as the host does not change, and is predicted if earlier resources of a
        preview change it. A push of a plan file continues only if it is equal to that in the plan's
        preview.
        """
        if state.found is None:
            return None
        keys = state.found if self._removes else self._type.desired()
        return {key: recorded(state.found.get(key)) for key in keys}

    def drift_state(self) -> Optional[Properties]:
        """Return the state that ``ccm drift`` compares: the state after a push, without secrets and
        values that change by themselves. A type that changes a part of a file compares this part.

        None for a type without such a state, which has drifted if there is anything to do. Changes
        nothing. ``ResourceError``.
        """
        state = self.observe() if self.state_left is None else self.state_left
        if self._keeps_part:
            return dict(self._type.left(self._reader()) or {}, ensure=state.ensure)
        keys = () if self._removes else self._type.desired()
        current = state.found or {}
        properties = {
            key: recorded(current.get(key)) for key in keys if key not in self._type.secret
        }
        return dict(properties, ensure=state.ensure)

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """Hints about who changed a path: ``owner``, ``changed`` (a time) and ``package``, and the
        ``path`` if it is not the name of the resource.

        Called for a resource that has drifted, with the actions that would correct it.
        ``ResourceError``.
        """
        if not isinstance(self._type, PathStateType):
            return {}
        from remote_runtime.plans.observed_state import provenance_of

        return provenance_of(self.context, self.name)

    # -- acting -----------------------------------------------------------------------------------

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """Compare, and return the required actions; there are none in the desired state."""
        diff = self._diff(state.found)
        actions = [] if diff is None else [self._changing(diff)]
        if self.accepts_refresh(refresh):
            message = "Would have refreshed the %s via subscribe" % self._noun
            change = Change("refresh", None, "refreshed")
            actions.append(self._action("refreshing", message, self._type.refresh, [change]))
        return actions

    def needs_refresh(self, state: Any) -> bool:
        """Return whether its own change takes effect only after a refresh. If a run ends before
        that, the next run refreshes it."""
        return False

    def accepts_refresh(self, refresh: bool) -> bool:
        """Return whether a triggered subscription (``refresh``) affects the actions."""
        return refresh and self._refreshes and not self._removes

    def _step(self, diff: Diff) -> Step:
        if self._removes:
            return self._type.remove
        return lambda host: self._type.apply(host, diff)

    def _changing(self, diff: Diff) -> Action:
        step = self._step(diff)
        if self._removes:
            message = "Would have removed the %s" % self._noun
            changes = [
                Change("ensure", self._type.state_of(diff.found), "absent"),
                *self._changes(diff),
            ]
            return self._action("removing", message, step, changes)
        message = "Would have %s the %s" % ("created" if diff.new else "updated", self._noun)
        doing = "creating" if diff.new else "updating"
        changes = [Change("ensure", "absent", self._type.ensure)] if diff.new else []
        return self._action(doing, message, step, changes + self._changes(diff))

    def _changes(self, diff: Diff) -> List[Change]:
        """The records of the keys that differ."""
        changes = []
        current = diff.found or {}
        for key in diff.keys:
            before, after = current.get(key), diff.desired[key]
            if diff.new and (key == "type" or after is None):
                continue  # ``ensure`` already shows the rest
            texts = self._shown(before, after) if isinstance(after, FileText) else None
            hidden = key in self._type.secret
            if hidden or self._holds_secret(after):
                before, after = None if before is None else MASKED, MASKED
            texts = None if hidden else texts
            changes.append(Change(key, recorded(before), recorded(after), texts))
        return changes

    def _holds_secret(self, value: Any) -> bool:
        """Return whether a text contains a secret, which could be guessed from the hash of the
        text.
        """
        if not isinstance(value, FileText) or self.context.mask.is_empty:
            return False
        text = value.data.decode("utf-8", "replace")
        return self.context.mask.text(text) != text

    def _shown(self, before: Any, after: Optional[FileText]) -> Optional[str]:
        """Return the diff of a text, if the run may show one."""
        options = self.context.options
        if not options.diff or self.item.sensitive:
            return None
        old = before if isinstance(before, FileText) else None
        return diff_of(old, after, self.name, options.diff_private)

    def _action(self, action: str, message: str, step: Step, changes: List[Change]) -> Action:
        """A step with the effects that its dry run recorded."""
        effects: List[Effect] = []
        unfinished: List[Effect] = []

        def call() -> None:
            self.context.progress("%s %s %s" % (action, self._noun, self.name))
            host = self._machine()
            try:
                step(host)
            finally:
                self.tries = host.tries

        def preflight() -> None:
            effects.extend(
                self._predicted_effects(step, unfinished, achieves=action != "refreshing")
            )

        return Action(
            message, call, changes=changes, effects=effects, preflight=preflight,
            unfinished=unfinished,
        )  # fmt: skip

    def _machine(self) -> Host:
        from remote_runtime.host.machine.machine_host import machine

        def log(line: str) -> None:
            if not self.item.sensitive:
                self.context.notice("info", "%s: %s" % (self.item.id, line))

        return machine(self.context, log, self._warn, self._upcoming)

    def _upcoming(self) -> "Iterable[Upcoming]":
        """The later resources that can already be prepared, and their work."""
        return ()

    def _warn(self, line: str) -> None:
        if not self.item.sensitive:
            self.context.notice("warning", "%s: %s" % (self.item.id, line))

    def _predicted_effects(
        self, step: Step, unfinished: List[Effect], *, achieves: bool
    ) -> List[Effect]:
        """Return the effects of a step, after earlier steps. ``ResourceError`` if it would fail or
        would not achieve its goal; ``unfinished`` then receives its effects.
        """
        from remote_runtime.host.preview.preview_host import Overlay

        context = self.context
        base, overlay = context.planned(), context.overlay_with(self._done)
        partial = self._type.partial
        host = Overlay(overlay, self.item.label, context=context, warn=self._warn, partial=partial)
        try:
            step(host)
        except ResourceError:
            unfinished.extend(host.record.effects)
            raise
        for uncertainty in host.record.assumed:
            context.suppose(uncertainty.reason)
        self._done = [*self._done, *host.record.effects]
        tried = host.record.effects, host.record.conflicts
        context.has_tried(DryRun(base, base.sequence, overlay, *tried))
        if host.record.runs:
            self.may_fail = True
        elif achieves:
            try:
                self._require_achieved(host.record.overlay)
            except UnsettledError:
                unfinished.extend(host.record.effects)
                raise
        return host.record.effects

    def _require_achieved(self, overlay: "HostOverlay") -> None:
        """``UnsettledError`` if the state after a step differs from the desired one, as far as it
        is known.
        """
        try:
            with self.context.ignoring():
                diff = self._diff(self._type.read(self._reader(overlay)))
        except Unknowable:
            return
        if diff is not None:
            changes = self._changing(diff).changes
            raise UnsettledError(
                "; ".join("%s is %r, not %r" % (c.what, c.before, c.after) for c in changes)
            )

    def assumed_actions(self, refresh: bool) -> List[Action]:
        """Return the likely actions if its deferred templates cannot be rendered before an earlier
        pending change; called only in a preview. ``refresh`` as for ``actions``.

        Assumes no current state. Effects that no preflight check can predict remain unknown.
        """
        diff = Diff(None, {} if self._removes else self._type.desired())
        action = self._changing(diff)
        effects: Sequence[Effect]
        try:
            with self.context.ignoring():
                effects = self._predicted_effects(self._step(diff), [], achieves=False)
        except ResourceError:
            known = isinstance(self._type, PathStateType) or self._type.lists
            if isinstance(self._type, AccountStateType):
                known = self._type.home is not None
            effects = self.unknown_effects(None if known else everything)
        return [action._replace(effects=effects, changes=(), preflight=None)]

    def unknown_effects(self, covers: Optional[Covers] = None) -> Sequence[Effect]:
        """Return the possible effects of a change that fails in a preview but may succeed after an
        earlier change. By default, these are all changes below the paths that it names, except its
        inputs, and to the object with its name.
        """
        uncertainty = Uncertainty(UNKNOWN, "the result of %s is unknown" % self.item.id)
        if isinstance(self._type, AccountStateType):
            covers = covers or _account(self.name, self._type.home or "")
        given, inputs = self.item.properties.items(), self._type.inputs
        texts = [value for key, value in given if isinstance(value, str) and key not in inputs]
        places = [Below(text, itself=True) for text in (self.name, *texts) if text[:1] == "/"]
        name = "" if self.name[:1] == "/" else self.name
        return [UnknownEffect(uncertainty, covers or _called(name, places, self._type.lists))]

    def known_effects(self, state: Any) -> Sequence[Effect]:
        """Return the effects that are known once this resource is in the desired state: accounts,
        and paths that are absent or symlinks. Everything else remains uncertain.

        Called in a preview after a change with unknown effects.
        """
        if isinstance(self._type, AccountStateType):
            return self._account_pins(self._type.account)
        by_path = isinstance(self._type, PathStateType)
        if not by_path or isinstance(self._type, FilePartStateType):
            return ()
        if state.found is None:  # something may exist where it makes no difference
            return [PathEffect(self.name, "absent")] if self._removes else ()
        if state.found.get("type") == "symlink" and "target" in state.found:
            return [PathEffect(self.name, "symlink", target=state.found["target"])]
        return ()

    def _account_pins(self, kind: str) -> Sequence[Effect]:
        accounts = self._reader().accounts
        entry: "Union[User, Group, None]"
        try:
            with self.context.ignoring():
                if kind == "user":
                    entry = user = accounts.user(self.name)
                    number = -1 if user is None else user.uid
                else:
                    entry = group = accounts.group(self.name)
                    number = -1 if group is None else group.gid
        except Unknowable:  # an earlier change decides the rest of it
            return ()
        return [AccountEffect(kind, self.name, number, present=entry is not None, entry=entry)]

    def unachieved(self, state: Any) -> str:
        """After acting: return why the desired state was not achieved, or ""."""
        actions = self.actions(state, False)
        reasons = [
            "%s differs from the desired state" % c.what  # both values are secret
            if c.before == c.after
            else "%s is %r, not %r" % (c.what, c.before, c.after)
            for action in actions
            for c in action.changes
        ]
        return "; ".join(reasons) or ("still to do: " + self.describe(actions) if actions else "")

    def describe(self, actions: Sequence[Action]) -> str:
        """The noop message of these actions: their texts joined by commas, each once."""
        words: List[str] = []
        for action in actions:
            if action.message and action.message not in words:
                words.append(action.message)
        return ", ".join(w if i == 0 else w[:1].lower() + w[1:] for i, w in enumerate(words))


class _Readers(object):
    """Readers of the host, which all resources of a run share."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._machine: Dict[bool, HostReader] = {}  # for a resource in noop, and for others
        self._planned: "Optional[Tuple[HostOverlay, HostReader]]" = None

    def machine(self, noop: bool) -> HostReader:
        """Return the reader of the machine, without planned changes, for the current resource."""
        if noop not in self._machine:
            self._machine[noop] = reader(self._context, self._context)
        return self._machine[noop]

    def planned(self) -> HostReader:
        """Return the reader of the machine with planned changes."""
        overlay = self._context.planned()
        if self._planned is None or self._planned[0] is not overlay:
            self._planned = overlay, reader(overlay, self._context)
        return self._planned[1]


def _account(name: str, home: str) -> Covers:
    """An account, the databases of accounts, its home, and files with its name."""

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind in DATABASES:
            return value == name
        if not value.startswith("/"):
            return kind == "host"
        if name in value.split("/") or value in ACCOUNT_FILES:
            return True
        return bool(home) and is_within(value, home)

    return covers


def _called(name: str, places: Sequence[Covers], lists: bool) -> Covers:
    """Accounts, units and files with a name, which may have a suffix, or in certain directories,
    and the package lists.
    """

    def covers(kind: str, value: str, present: bool) -> bool:
        last = value.rpartition("/")[2]
        called = bool(name) and name in (last, last.rpartition(".")[0])
        inside = any(place(kind, value, present) for place in places)
        return kind == "host" or called or inside or (lists and kind == "lists")

    return covers
