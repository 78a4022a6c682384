"""Lets the lifecycle run a state type (target).

``read`` gets the machine in a push and the overlay in a preview, and can only read. ``apply`` gets
the machine in a push. In a preview it gets a copy of the overlay, which then has recorded the
effects of the action. A state type has no other access to the host: it has no context.
"""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Optional,
    Sequence,
    Type,
    Union,
)

from remote_runtime.base import (
    AccountStateType,
    ActionStateType,
    Change,
    Diff,
    FilePartStateType,
    Missing,
    PathStateType,
    Properties,
    StateType,
    Unknowable,
)
from remote_runtime.changes import Action
from remote_runtime.context import Context
from remote_runtime.effects import (
    UNKNOWN,
    AccountEffect,
    Effect,
    PathEffect,
    Uncertainty,
    UnknownEffect,
    below,
    everything,
    once,
)
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.host.file_text import FileText, diff_of, recorded
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.item import Item
from remote_runtime.reporting.masking import MASKED
from remote_runtime.resource import ManagedResource, State

if TYPE_CHECKING:
    from remote_runtime.host.machine.write_ahead import Coming
    from remote_runtime.overlay.overlay import HostOverlay
    from remote_runtime.system.account_files import Group, User

Step = Callable[[Host], None]


class StateResource(ManagedResource):
    """One resource of a state type while it runs."""

    def __init__(
        self, item: Item, provider: Any, context: Context, *, kind: Type[StateType]
    ) -> None:
        super().__init__(item, provider, context)
        self._type = kind(item.name, item.properties)
        self._type.provider = provider.name
        self._type.sensitive = item.sensitive
        self._noun = self._type.noun or item.type
        self._refreshes = kind.refresh is not StateType.refresh
        self._keeps_part = kind.left is not StateType.left
        self._done: List[Effect] = []  # of the steps that ran on the overlay
        self.default_ensure = kind.default_ensure
        self.read_only = kind.read_only

    # -- reading ----------------------------------------------------------------------------------

    def _reader(self, world: "Optional[HostOverlay]" = None) -> HostReader:
        """The current state of the host, or that of a ``world``."""
        from remote_runtime.host.machine.machine import reader

        context = self.context
        seen = context.planned() if world is None and context.noop else world
        return reader(context if seen is None else seen, context, world)

    def _supported(self) -> HostReader:
        """A host that can be read, on which the resource can be managed."""
        reader = self._reader()
        why = self._type.unsupported(reader)
        if why:
            raise ResourceError(why, kind="resource.unsupported")
        return reader

    def observe(self) -> State:
        found = self._type.read(self._supported())
        return State(self._type.state_of(found), found=found)

    def _diff(self, found: Any) -> Optional[Diff]:
        """The difference; None if nothing differs."""
        if self.ensure == "absent":
            return None if found is None else Diff(found, self._type.remaining())
        return Diff(found, self._type.desired()) or None

    def found(self) -> Properties:
        state = self.observe()
        found = (state.found or {}).items()
        shown = {k: recorded(v) for k, v in found if k not in self._type.secret}
        return dict(shown, ensure=state.ensure)

    def observation(self, state: Any) -> Any:
        """The values that the type desires; all that was found for ``ensure: absent``."""
        if state.found is None:
            return None
        keys = state.found if self.ensure == "absent" else self._type.desired()
        return {key: recorded(state.found.get(key)) for key in keys}

    def drift_state(self) -> Optional[Properties]:
        """Without secrets. A type that changes a part of a file compares this part."""
        state = self.observe() if self.state_left is None else self.state_left
        if self._keeps_part:
            return dict(self._type.left(self._reader()) or {}, ensure=state.ensure)
        keys = () if self.ensure == "absent" else self._type.desired()
        found = state.found or {}
        kept = {key: recorded(found.get(key)) for key in keys if key not in self._type.secret}
        return dict(kept, ensure=state.ensure)

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """Only for types of paths."""
        if not isinstance(self._type, PathStateType):
            return {}
        from remote_runtime.plans.observed_state import provenance_of

        return provenance_of(self.context, self.name)

    # -- acting -----------------------------------------------------------------------------------

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        diff = self._diff(state.found)
        actions = [] if diff is None else [self._changing(diff)]
        if self.accepts_refresh(refresh):
            message = "Would have refreshed the %s via subscribe" % self._noun
            change = Change("refresh", None, "refreshed")
            actions.append(self._action("refreshing", message, self._type.refresh, [change]))
        return actions

    def accepts_refresh(self, refresh: bool) -> bool:
        return refresh and self._refreshes and self.ensure != "absent"

    def _step(self, diff: Diff) -> Step:
        if self.ensure == "absent":
            return self._type.remove
        return lambda host: self._type.apply(host, diff)

    def _changing(self, diff: Diff) -> Action:
        step = self._step(diff)
        if self.ensure == "absent":
            message = "Would have removed the %s" % self._noun
            changes = [
                Change("ensure", self._type.state_of(diff.found), "absent"),
                *self._changes(diff),
            ]
            return self._action("removing", message, step, changes)
        message = "Would have %s the %s" % ("created" if diff.new else "updated", self._noun)
        doing = "creating" if diff.new else "updating"
        changes = [Change("ensure", "absent", self.ensure)] if diff.new else []
        return self._action(doing, message, step, changes + self._changes(diff))

    def _changes(self, diff: Diff) -> List[Change]:
        """The records of the keys that differ."""
        changes = []
        found = diff.found or {}
        for key in diff.keys:
            before, after = found.get(key), diff.desired[key]
            if diff.new and (key == "type" or after is None):
                continue  # ``ensure`` already shows the rest
            shown = self._shown(before, after) if isinstance(after, FileText) else None
            hidden = key in self._type.secret
            if hidden or self._holds_secret(after):
                before, after = None if before is None else MASKED, MASKED
            shown = None if hidden else shown
            changes.append(Change(key, recorded(before), recorded(after), shown))
        return changes

    def _holds_secret(self, value: Any) -> bool:
        """Whether a text contains a secret, which could be guessed by the hash of the text."""
        if not isinstance(value, FileText) or self.context.mask.is_empty:
            return False
        text = value.data.decode("utf-8", "replace")
        return self.context.mask.text(text) != text

    def _shown(self, before: Any, after: FileText) -> Optional[str]:
        """The diff of a text, as far as the run may show one."""
        options = self.context.options
        if not options.diff or self.item.sensitive:
            return None
        old = before if isinstance(before, FileText) else None
        return diff_of(old, after, self.name, options.diff_private)

    def _action(self, doing: str, message: str, step: Step, changes: List[Change]) -> Action:
        """A step with the effects that its dry run recorded."""
        effects: List[Effect] = []
        unfinished: List[Effect] = []

        def call() -> None:
            self.context.progress("%s %s %s" % (doing, self._noun, self.name))
            host = self._machine()
            try:
                step(host)
            finally:
                self.tries = host.tries

        def rehearse() -> None:
            effects.extend(self._rehearsed(step, unfinished, achieves=doing != "refreshing"))

        return Action(
            message, call, changes=changes, effects=effects, rehearse=rehearse,
            unfinished=unfinished,
        )  # fmt: skip

    def _machine(self) -> Host:
        from remote_runtime.host.machine.machine import machine

        def log(line: str) -> None:
            if not self.item.sensitive:
                self.context.notice("info", "%s: %s" % (self.item.id, line))

        return machine(self.context, log, self._warn, self._coming)

    def _coming(self) -> "Iterable[Coming]":
        """The later resources that can already be prepared now, and their work."""
        return ()

    def _warn(self, line: str) -> None:
        if not self.item.sensitive:
            self.context.notice("warning", "%s: %s" % (self.item.id, line))

    def _rehearsed(self, step: Step, unfinished: List[Effect], *, achieves: bool) -> List[Effect]:
        """What a step would leave, after earlier steps. ``ResourceError`` if it would fail or would
        not achieve its goal; ``unfinished`` then gets what it would leave."""
        from remote_runtime.host.overlay.overlay import Overlay

        context = self.context
        world = context.world_with(self._done)
        host = Overlay(world, self.item.id, context=context, warn=self._warn)
        try:
            step(host)
        except ResourceError:
            unfinished.extend(host.record.effects)
            raise
        for uncertainty in host.record.assumed:
            context.suppose(uncertainty.reason)
        self._done = [*self._done, *host.record.effects]
        if host.record.runs:
            self.may_fail = True
        elif achieves:
            try:
                self._require_achieved(host.record.world)
            except UnsettledError:
                unfinished.extend(host.record.effects)
                raise
        return once(host.record.effects) if self._type.partial else host.record.effects

    def _require_achieved(self, world: "HostOverlay") -> None:
        """``UnsettledError`` if the state differs from the desired one after a step, as far as it
        is known.
        """
        try:
            with self.context.ignoring():
                left = self._diff(self._type.read(self._reader(world)))
        except Unknowable:
            return
        if left is not None:
            changes = self._changing(left).changes
            raise UnsettledError(
                "; ".join("%s is %r, not %r" % (c.what, c.before, c.after) for c in changes)
            )

    def assumed_actions(self, refresh: bool) -> List[Action]:
        """Takes nothing as found. Effects that cannot be rehearsed stay unknown."""
        diff = Diff(None, {} if self.ensure == "absent" else self._type.desired())
        action = self._changing(diff)
        effects: Sequence[Effect]
        try:
            with self.context.ignoring():
                effects = self._rehearsed(self._step(diff), [], achieves=False)
        except ResourceError:
            uncertainty = Uncertainty(UNKNOWN, "the result of %s is unknown" % self.item.id)
            by_path = isinstance(self._type, PathStateType)
            covers = below(self.name, itself=True) if by_path else everything
            effects = [UnknownEffect(uncertainty, covers)]
        return [action._replace(effects=effects, changes=(), rehearse=None)]

    def known_effects(self, state: Any) -> Sequence[Effect]:
        """Accounts, and of a path that it is absent or a symlink; the rest stays in doubt."""
        if isinstance(self._type, AccountStateType):
            return self._account_pins(self._type.account)
        by_path = isinstance(self._type, PathStateType)
        if not by_path or isinstance(self._type, FilePartStateType):
            return ()
        if state.found is None:  # something may exist where it makes no difference
            return [PathEffect(self.name, "absent")] if self.ensure == "absent" else ()
        if state.found.get("type") == "symlink" and "target" in state.found:
            return [PathEffect(self.name, "symlink", target=state.found["target"])]
        return ()

    def _account_pins(self, kind: str) -> Sequence[Effect]:
        accounts = self._reader().accounts
        entry: "Union[User, Group, None]"
        with self.context.ignoring():
            if kind == "user":
                entry = user = accounts.user(self.name)
                number = -1 if user is None else user.uid
            else:
                entry = group = accounts.group(self.name)
                number = -1 if group is None else group.gid
        return [AccountEffect(kind, self.name, number, present=entry is not None, entry=entry)]


class ActionResource(StateResource):
    """One resource of an action type while it runs."""

    may_fail = True
    _type: ActionStateType

    def _reader(self, world: "Optional[HostOverlay]" = None) -> HostReader:
        """The host itself until a change is planned: an overlay costs a converged preview time."""
        from remote_runtime.host.machine.machine import reader

        context = self.context
        if context.world is None:
            return reader(context, context)
        return super()._reader(world)

    def observe(self) -> State:
        return super().observe() if self.read_only else State("present")

    def found(self) -> Properties:
        """Absent if it is due. See the base class."""
        return {"ensure": super().observe().ensure}

    def observation(self, state: Any) -> Any:
        return None

    def drift_state(self) -> Optional[Properties]:
        left = self._type.left(self._reader())
        return None if left is None else dict(left)

    def accepts_refresh(self, refresh: bool) -> bool:
        return refresh and not self.read_only

    def unachieved(self, state: Any) -> str:
        return ""

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        reader = self._supported()
        refresh = self.accepts_refresh(refresh)
        if not refresh and (self._type.refresh_only or not self._type.due(reader)):
            return []
        if self._type.is_served(reader, refresh):
            return []
        action = self._acting(refresh, self._type.details)
        try:
            self._type.require(reader)
        except Missing as missing:
            missing.would = [action._replace(effects=self._effects())]
            raise
        return [action]

    def assumed_actions(self, refresh: bool) -> List[Action]:
        if self._type.refresh_only and not refresh:
            return []
        return [self._acting(refresh)._replace(effects=self._effects(), changes=(), rehearse=None)]

    def _acting(self, refresh: bool, details: str = "") -> Action:
        words = [self._type.done, details, "via subscribe" if refresh else ""]
        message = " ".join(["Would have", *filter(None, words)])
        changes = [Change(key, None, value) for key, value in self._type.desired().items()]
        effects: List[Effect] = []

        def call() -> None:
            host = self._machine()
            try:
                self._type.act(host)
            finally:
                self.ended, self.tries = host.commands.ended, host.commands.tries

        def rehearse() -> None:
            self._rehearse(effects)

        return Action(message, call, changes=changes, effects=effects, rehearse=rehearse)

    def _effects(self) -> List[Effect]:
        """What it would leave, in a preview on whose host it cannot act yet."""
        effects: List[Effect] = []
        if self.context.noop:
            try:
                with self.context.ignoring():
                    self._rehearse(effects)
            except ResourceError:
                pass  # all that it would leave is recorded
        return effects

    def _rehearse(self, effects: List[Effect]) -> None:
        """Record what it would leave. ``ResourceError`` if it would fail."""
        from remote_runtime.host.overlay.overlay import Overlay

        host = Overlay(
            self.context.world_with(()),
            self.item.id,
            covering=self._covering,
            context=self.context,
            warn=self._warn,
        )
        try:
            self._type.act(host)
        finally:
            effects.extend(host.record.effects)
        for uncertainty in host.record.assumed:
            self.context.suppose(uncertainty.reason)

    def _covering(self, affects: Optional[Sequence[str]]) -> Callable[[str, str, bool], bool]:
        from remote_runtime.packages.affects import affected

        return affected(affects, self.context)
