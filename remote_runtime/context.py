"""The interface between resources and their run (target)."""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from remote_runtime.cancellation import Cancellation, Protected
from remote_runtime.effects import Effect
from remote_runtime.options import RunOptions
from remote_runtime.plan_item import Item, each_of
from remote_runtime.state.lazy_refreshes import Refreshes
from remote_runtime.uncertainty import ASSUMED, CERTAIN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.execution.reboot_resume import Boot
    from remote_runtime.lookups import Known
    from remote_runtime.overlay.file_overlay import FileOverlay
    from remote_runtime.overlay.host_overlay import HostOverlay, PathConflict
    from remote_runtime.protocol.blobs import Blobs
    from remote_runtime.protocol.channel import Channel
    from remote_runtime.protocol.package_sharing import PackageSharing
    from remote_runtime.reporting.masking import Mask
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files
    from remote_runtime.system.kernel.mounts import MountTable
    from remote_runtime.system.kernel.parameters import Kernel
    from remote_runtime.system.process.commands import Commands
    from remote_runtime.system.process.crontabs import Crontabs


class Ahead(object):
    """Work prepared for later resources."""

    def begin(self, item: Item) -> None:
        """Start an item: work that was not prepared for it must be dropped."""
        raise NotImplementedError


class UncertainRead(NamedTuple):
    """The uncertainty of one read, and why a failure because of it may not happen."""

    uncertainty: Uncertainty
    why: str


class _Current(NamedTuple):
    position: int
    noop: bool
    mask: "Mask"
    uncertainties: List[UncertainRead]
    own: bool = False
    rendered: bool = False


class Context(object):
    """One run on one target, for types and providers.

    ``options`` are those of the current plan, ``items`` the resources of all plans of the run.
    ``silent``: no progress and no notices are reported. ``changed_paths`` are the absolute paths
    that resources of this run have written or removed so far (never in noop). ``acted`` counts the
    actions called so far; a provider that answered all its queries at once compares it to know
    whether its answers may be stale. ``observes``: a preview stores what it observed with each
    outcome. ``promised``: the run is bound to a plan file, so the records of an action are complete
    before its call.

    ``answers`` are the lookups of the run with their answers; ``asked_again`` stores, by the index
    of a lookup and the state of a preview, why its answer would differ then.

    ``outdated_lists`` are the repositories that have changed since the package lists were
    refreshed, by package manager (never in noop).

    ``boot`` is the reboot of this run, None without one. ``fired`` are the changed resources of
    this run to which the current resource subscribes.

    ``upcoming`` gives the resources right after the current one, in order, up to the first that may
    not run. ``ahead`` is work that was prepared for later resources. ``halts``: none of those runs
    if the current resource fails. ``changed_ahead`` are the indexes of resources that were changed
    together with an earlier one; these still run if the run is cancelled. ``refreshes`` is informed
    of such a change before it is made. ``before_change`` is called with all resources that will be
    changed, each time before that starts.

    ``on_progress`` gets the index of the current resource and what it does, ``on_notice`` a level
    and a line; both masked; ``on_depart`` the index of the resource that reboots the host, and the
    seconds within which the host must be back. ``channel`` is the connection to the controller, if
    there is one.
    """

    def __init__(
        self,
        *,
        commands: "Commands",
        files: "Files",
        accounts: "Accounts",
        blobs: "Blobs",
        mask: "Mask",
        cancellation: Cancellation,
        options: RunOptions,
        items: Sequence[Item],
        on_progress: Callable[[int, str], None],
        on_notice: Callable[[str, str], None],
        channel: Optional["Channel"] = None,
    ) -> None:
        self._adapters = files, accounts, commands
        self._read_only: Optional["Files"] = None
        self._overlay: Optional["HostOverlay"] = None
        self._unplanned: Optional["HostOverlay"] = None  # shared until an action is called
        self._dry_run: Optional[DryRun] = None  # the latest one
        self._planned = False
        self.blobs = blobs
        self.cancellation = cancellation
        self.options = options
        self.changed_paths: Set[str] = set()
        self.acted = 0
        self.observes = False
        self.promised = False
        self.silent = False
        self.boot: Optional["Boot"] = None
        self.answers: "Known" = []
        self.asked_again: Dict[Tuple[int, int, int], str] = {}
        self.fired: Sequence[str] = ()
        self.upcoming: Callable[[], Iterator[Item]] = lambda: iter(())
        self.ahead: Optional[Ahead] = None
        self.halts = False
        self.changed_ahead: Set[int] = set()
        self.checksum_files: Dict[str, bytes] = {}  # from servers, by request
        self.refreshes = Refreshes()
        self.memory_directory = ""  # the directory of stored state, "" for none
        self.outdated_lists: Dict[str, List[str]] = {}
        self.before_change: Callable[[Sequence[Item]], None] = lambda items: None
        self._on_progress = on_progress
        self._on_notice = on_notice
        self.on_depart: Callable[[int, float], None] = lambda index, seconds: None
        self._channel = channel
        self._made: Dict[Any, Any] = {}
        self._current = _Current(0, options.noop, mask, [])
        self._items = items
        self._peers: Dict[str, List[Item]] = {}
        for item in each_of(items, managed=True):
            self._peers.setdefault(item.type, []).append(item)

    def for_resource(self, item: Item, noop: bool, secrets: Sequence[str] = ()) -> "Exchange":
        """A block in which this resource runs; blocks may be nested.

        ``secrets`` are masked in it.
        """
        rendered = item.deferred_render
        mask = self.mask.extended(secrets)
        return Exchange(
            self, _current=_Current(item.index, noop, mask, [], own=item.own, rendered=rendered)
        )

    @property
    def noop(self) -> bool:
        """Whether the current resource may not change anything; between resources, the run."""
        return self._current.noop

    @property
    def position(self) -> int:
        """The index of the current resource in the plan."""
        return self._current.position

    @property
    def rendered(self) -> bool:
        """Whether templates of the current resource are rendered when it runs."""
        return self._current.rendered

    @property
    def mask(self) -> "Mask":
        """Return the mask for the secrets of the run and of the current resource."""
        return self._current.mask

    def peers(self, type_name: str) -> List[Item]:
        """Return all items of a type in the run, including children, in the order written."""
        return self._peers.get(type_name, [])

    def resources(self) -> Iterator[Item]:
        """Return all items of the run, including children and items that are not managed."""
        return each_of(self._items)

    def one(self, kind: "Callable[[Context], Any]") -> Any:
        """Return the only instance of its kind in this run, created on first use."""
        if kind not in self._made:
            self._made[kind] = kind(self)
        return self._made[kind]

    # -- the target, in a preview with the effects of earlier resources ---------------------------

    @property
    def overlay(self) -> Optional["HostOverlay"]:
        """The planned changes, in a preview that already has some."""
        return self._overlay if self._current.noop else None

    @property
    def files(self) -> "Files":
        """The file system; in a preview, for reading only."""
        if not self._current.noop:
            return self._adapters[0]
        return self._reading() if self._overlay is None else self._overlay.files

    def _reading(self) -> "Files":
        if self._read_only is None:
            from remote_runtime.system.read_only_files import read_only

            self._read_only = read_only(self._adapters[0])
        return self._read_only

    @property
    def accounts(self) -> "Accounts":
        """The users and groups."""
        return self._adapters[1] if self.overlay is None else self.overlay.accounts

    @property
    def kernel(self) -> "Kernel":
        """The parameters and modules of the kernel."""
        found: "Kernel" = self.one(Context._kernel) if self.overlay is None else self.overlay.kernel
        return found

    def _kernel(self) -> "Kernel":
        from remote_runtime.system.kernel.parameters import Kernel

        return Kernel(self._adapters[0], lambda: self.acted)

    @property
    def mounts(self) -> "MountTable":
        """The mounts."""
        found: "MountTable" = (
            self.one(Context._mounts) if self.overlay is None else self.overlay.mounts
        )
        return found

    def _mounts(self) -> "MountTable":
        from remote_runtime.system.kernel.mounts import MountTable

        return MountTable(self._adapters[0], lambda: self.acted)

    @property
    def crontabs(self) -> "Crontabs":
        """The crontabs of users."""
        found: "Crontabs" = (
            self.one(Context._crontabs) if self.overlay is None else self.overlay.crontabs
        )
        return found

    def _crontabs(self) -> "Crontabs":
        from remote_runtime.system.process.crontabs import Crontabs

        return Crontabs(self._adapters[2], lambda: self.acted)

    @property
    def commands(self) -> "Commands":
        """Runs ccm's own commands on the real host, and those of a custom type like a user's."""
        return self.user_commands if self._planned or self._current.own else self._adapters[2]

    def as_planned(self, look: Callable[..., str], *given: Any) -> str:
        """Return the result of ``look``, which also looks up ccm's own commands on the predicted
        host.
        """
        self._planned = True
        try:
            return look(*given)
        finally:
            self._planned = False

    @property
    def user_commands(self) -> "Commands":
        """Runs commands of the user, such as a guard, and looks up their programs."""
        return self._adapters[2] if self.overlay is None else self.overlay.commands

    def planned(self) -> "HostOverlay":
        """In a preview, the target with the planned changes, if any; read-only."""
        if self._overlay is not None:
            return self._overlay
        if self._unplanned is None:
            self._unplanned = self._new_overlay()
        return self._unplanned

    def overlay_with(self, effects: Sequence[Effect]) -> "HostOverlay":
        """Return the target with these changes as well, for one read."""
        overlay = self.planned().fork()
        overlay.lay(tuple(effects), Uncertainty(), "")
        return overlay

    def places(self, path: str) -> List[str]:
        """Return, in a preview, the path without links. A link at its end is kept, or also
        followed.
        """
        layer = self._layer()
        return [layer.find(path, follow).path for follow in (False, True)]

    def _layer(self) -> "FileOverlay":
        from remote_runtime.overlay.file_overlay import FileOverlay

        return FileOverlay(self.files) if self.overlay is None else self.overlay.layer

    def record_read(self, kind: str, value: str, present: bool = True) -> None:
        """Record a read that none of the above makes: of a package, a unit or lists.

        In a preview, its uncertainty is then recorded. See ``UnknownEffect`` for the kinds.
        """
        if self.overlay is not None:
            self.overlay.unknown_regions.record_read(kind, value, present)

    def suppose(self, reason: str) -> None:
        """Record that, in a preview, the result of this resource is assumed, for the
        given reason.
        """
        self._note(Uncertainty(ASSUMED, reason), reason)

    @property
    def uncertainty(self) -> Uncertainty:
        """Return the greatest uncertainty of this resource."""
        return self.uncertainty_since(0)

    def uncertainty_since(self, since: int) -> Uncertainty:
        """Return the same, for reads after this number of uncertain values."""
        worst = Uncertainty()
        for found in self._current.uncertainties[since:]:
            worst = worst.worse(found.uncertainty)
        return worst

    @property
    def excuse(self) -> str:
        """Return the reason why a failure may not happen: the last uncertain value that was read;
        "" if there is none.
        """
        return self._current.uncertainties[-1].why if self._current.uncertainties else ""

    @property
    def uncertainties(self) -> int:
        """The number of uncertain values that the resource has read."""
        return len(self._current.uncertainties)

    def expect(
        self,
        effects: Sequence[Effect],
        uncertainty: Uncertainty,
        by: str,
        gate: Uncertainty = CERTAIN,
    ) -> None:
        """Add, in a preview, the effects of an action of the resource ``by``; ``gate`` is the
        uncertainty of whether it runs.
        """
        if not effects:
            return
        base, dry_run, certain = self.planned(), self._dry_run, uncertainty == gate == CERTAIN
        if certain and dry_run is not None and dry_run.did(effects, base):
            self._overlay, conflicts = dry_run.overlay, dry_run.conflicts
        else:
            if self._overlay is None:
                self._overlay = base.fork()
            conflicts = self._overlay.lay(tuple(effects), uncertainty, by, gate)
        for clash in conflicts:
            self.notice(
                "warning",
                "%s and %s undo each other on every run: %s" % (clash.other, by, clash.path),
            )

    def has_tried(self, dry_run: "DryRun") -> None:
        """Record the dry run of an action. If exactly its effects are planned next, its overlay
        becomes the planned target.
        """
        self._dry_run = dry_run

    def suppose_effects(self, effects: Sequence[Effect], uncertainty: Uncertainty, by: str) -> None:
        """Add, in a preview, effects that the resource ``by`` has if it runs."""
        if self._overlay is None:
            self._overlay = self.planned().fork()
        self._overlay.suppose(effects, uncertainty, by)

    def _new_overlay(self) -> "HostOverlay":
        from remote_runtime.overlay.host_overlay import HostOverlay

        return HostOverlay(
            self._reading(),
            self._adapters[1],
            commands=self._adapters[2],
            crontabs=lambda: self.one(Context._crontabs),
            note=self._note,
        )

    def _note(self, uncertainty: Uncertainty, reason: str) -> None:
        self._current.uncertainties.append(UncertainRead(uncertainty, reason))

    def apart(self) -> "Exchange":
        """A block whose previews see earlier planned changes, and add none."""
        return Exchange(self, _overlay=None if self._overlay is None else self._overlay.fork())

    def trial(self, effects: Sequence[Effect]) -> "Exchange":
        """A block in which these values also apply, even if it fails."""
        overlay, current = self.overlay_with(effects), self._current._replace(uncertainties=[])
        return Exchange(self, _overlay=overlay, _current=current)

    def within(self, overlay: "HostOverlay") -> "Exchange":
        """A block that reads this target; the uncertainty of its reads is recorded."""
        return Exchange(self, _overlay=overlay)

    def ignoring(self) -> "Exchange":
        """A block in which the uncertainty of reads is not recorded."""
        return Exchange(
            self, _overlay=self._overlay, _current=self._current._replace(uncertainties=[])
        )

    def shared(self) -> "PackageSharing":
        """The findings of other hosts, for previews."""
        from remote_runtime.protocol.package_sharing import PackageSharing

        return PackageSharing(self._channel)

    def to_controller(self) -> "Channel":
        """The channel, for messages other than events."""
        if self._channel is None:
            raise ValueError("there is no controller")
        return self._channel

    def ledger(self) -> Refreshes:
        """The pending refreshes, before a change that may cause some."""
        self.refreshes = self.refreshes.opened()
        return self.refreshes

    def has_acted(self) -> None:
        """Record that an action was called, completely or not. Earlier answers of the host may be
        stale."""
        self.acted += 1
        self._unplanned = None

    def progress(self, action: str) -> None:
        """Report what the resource is doing now, such as "installing nginx"."""
        if not self.silent:
            self._on_progress(self._current.position, self.mask.text(action))

    def notice(self, level: str, text: str) -> None:
        """Report a line; ``level`` is info, waiting, warning or error."""
        if not self.silent:
            self._on_notice(level, self.mask.text(text))

    def depart(self, seconds: float) -> None:
        """Have the controller wait for the host, which is about to reboot.

        Everything that must outlive this run is already on disk.
        """
        self.on_depart(self._current.position, seconds)

    def check_cancelled(self, item: Optional[Item] = None) -> None:
        """Raise ``Cancelled`` if the run must end, unless the current resource, or the next
        ``item``, was already changed."""
        position = self._current.position if item is None else item.index
        if position not in self.changed_ahead:
            self.cancellation.check()

    def sleep(self, seconds: float) -> None:
        """Wait this long, or raise ``Cancelled`` as soon as the run must end."""
        self.cancellation.sleep(seconds)

    def unkillable(self) -> Protected:
        """A block whose commands complete even if the run is cancelled."""
        return self.cancellation.protected()


class DryRun(NamedTuple):
    """The effects of an action on ``overlay``, a copy of ``base`` at the sequence number ``since``,
    and the desired states of earlier resources that they undo.
    """

    base: "HostOverlay"
    since: int
    overlay: "HostOverlay"
    effects: Sequence[Effect]
    conflicts: "Sequence[PathConflict]"

    def did(self, effects: Sequence[Effect], base: "HostOverlay") -> bool:
        """Whether ``overlay`` is ``base``, which is planned now, with exactly these effects."""
        return (
            self.base is base
            and self.since == base.sequence
            and self.overlay.sequence == base.sequence + len(effects)
            and len(effects) == len(self.effects)
            and all(one is other for one, other in zip(effects, self.effects))
        )


class Exchange(object):
    """A block in which some attributes of a context have other values."""

    def __init__(self, context: Context, **values: Any) -> None:
        self._context = context
        self._values = values

    def __enter__(self) -> None:
        self._exchange()

    def __exit__(self, *failure: Any) -> None:
        self._exchange()

    def _exchange(self) -> None:
        for name, value in self._values.items():
            self._values[name] = getattr(self._context, name)
            setattr(self._context, name, value)
