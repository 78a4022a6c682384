"""The predicted target when a resource runs, which a preview reads (target).

It is the host under a layer with the predicted effects of earlier resources. Unknown effects are
recorded, and so is each read that they may affect. A run that changes things reads only the host,
and so does a preview before the first change.
"""

from typing import (
    TYPE_CHECKING,
    Callable,
    Dict,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from remote_runtime.effects import (
    ACCOUNT_DATABASES,
    DATABASES,
    NETWORK,
    SHADOW,
    AccountEffect,
    AnyOf,
    Below,
    Covers,
    Effect,
    KernelEffect,
    MountEffect,
    Named,
    PackageEffect,
    PathEffect,
    Things,
    UnitEffect,
    UnknownEffect,
)
from remote_runtime.errors import ResourceError
from remote_runtime.overlay.account_tables import (
    Passwords,
    Table,
    parsed,
    parsed_groups,
    parsed_passwords,
    parsed_users,
)
from remote_runtime.overlay.accounts import OverlayAccounts
from remote_runtime.overlay.crontabs import OverlayCrontabs
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.kernel import OverlayKernel
from remote_runtime.overlay.planned_mounts import PlannedMounts
from remote_runtime.overlay.planned_nodes import UNTOLD
from remote_runtime.overlay.predicted_files import OverlayFiles
from remote_runtime.overlay.uncertainty import LinkedAction, Note, UnknownRegions
from remote_runtime.uncertainty import ASSUMED, CERTAIN, UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.overlay.user_commands import OverlayCommands
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files
    from remote_runtime.system.process.commands import Commands
    from remote_runtime.system.process.crontabs import Crontabs


_LIMIT = 4 << 20  # bytes of a file of accounts
_ACCOUNTS = {path: kind for kind, path in DATABASES.items()}


class PathConflict(NamedTuple):
    """A path that another resource manages would be changed back."""

    other: str
    path: str


class HostOverlay(object):
    """The predicted effects of earlier actions in a preview, over the host.

    ``files``, ``accounts`` and ``commands`` are the adapters of the host that also see the layer.
    ``packages`` and ``units`` are the latest effects by name. ``note`` receives each uncertainty.
    """

    def __init__(
        self,
        files: "Files",
        accounts: "Accounts",
        *,
        commands: "Commands",
        crontabs: "Callable[[], Crontabs]",
        note: Note,
    ) -> None:
        self._adapters = files, accounts, commands
        self._host_crontabs = crontabs
        self.sequence = 0
        self.packages: Dict[str, PackageEffect] = {}
        self.units: Dict[str, UnitEffect] = {}
        self._unverified_packages: Dict[str, Callable[[], bool]] = {}
        layer = FileOverlay(files)
        self._open(layer, UnknownRegions(note, layer.others))

    def _open(self, layer: FileOverlay, unknown_regions: UnknownRegions) -> None:
        files, accounts, _ = self._adapters
        self.layer = layer
        self.unknown_regions = unknown_regions
        self.files = OverlayFiles(files, layer, unknown_regions)
        self.accounts = OverlayAccounts(accounts, unknown_regions)
        self.kernel = OverlayKernel(self.files, unknown_regions)
        self.mounts = PlannedMounts(self.files, layer, unknown_regions)
        self.crontabs = OverlayCrontabs(self._host_crontabs, layer, unknown_regions, self.accounts)
        self._commands: "Optional[OverlayCommands]" = None

    @property
    def commands(self) -> "OverlayCommands":
        """Runs commands of the user on the predicted host."""
        if self._commands is None:
            from remote_runtime.overlay.user_commands import OverlayCommands

            self._commands = OverlayCommands(
                self.host_commands,
                self.layer,
                files=self.files,
                accounts=self.accounts,
                unknown_regions=self.unknown_regions,
                beyond=self._beyond_files,
                unverified_packages=self._unverified_packages,
            )
        return self._commands

    @property
    def host_commands(self) -> "Commands":
        """Runs the programs of the host, without planned changes."""
        return self._adapters[2]

    @property
    def host_files(self) -> "Files":
        """The files of the host, without planned changes."""
        return self._adapters[0]

    def _beyond_files(self) -> Set[str]:
        """Return the planned changes that commands cannot see in a file, by each of their names."""
        names = {name for _, name in self.accounts.planned}
        names.update(self.packages, self.mounts.planned)
        for unit in self.units:
            names.update((unit, unit.rpartition(".")[0]))
        for path in self.kernel.planned:
            key = path.split("/", 3)[-1]
            names.update((path, key, key.replace("/", ".")))
        return names

    def fork(self) -> "HostOverlay":
        """Return a copy of this overlay that changes independently."""
        other = HostOverlay.__new__(HostOverlay)
        other._adapters, other._host_crontabs = self._adapters, self._host_crontabs
        other.sequence = self.sequence
        other.packages, other.units = dict(self.packages), dict(self.units)
        other._unverified_packages = dict(self._unverified_packages)
        other._open(self.layer.copy(), self.unknown_regions.copy())
        other.accounts.planned = dict(self.accounts.planned)
        other.accounts.tables = dict(self.accounts.tables)
        other.accounts.passwords = self.accounts.passwords
        other.kernel.planned = dict(self.kernel.planned)
        other.mounts.planned = dict(self.mounts.planned)
        other.mounts.reloaded = self.mounts.reloaded
        return other

    def lay(
        self,
        effects: Tuple[Effect, ...],
        uncertainty: Uncertainty,
        by: str,
        gate: Uncertainty = CERTAIN,
    ) -> List[PathConflict]:
        """Add the effects of an action of the resource ``by``; ``uncertainty`` is that of its
        prediction, ``gate`` that of whether it runs.

        The effects of an unknown action are unknown, too; those of one that is assumed to run are
        assumed. Return the desired states of earlier resources of the run that this one undoes.
        """
        clashes = []
        for effect in effects:
            self.sequence += 1
            if isinstance(effect, UnknownEffect):
                self.unknown_regions.add(effect, self.sequence, by)
                continue
            if uncertainty.level and isinstance(effect, PathEffect):
                self.lay_elsewhere(effect, uncertainty)
            if uncertainty.level == UNKNOWN:
                reason = Uncertainty(UNKNOWN, "the result of %s is unknown" % by)
                self.unknown_regions.add(UnknownEffect(reason, _named(effect)), self.sequence, by)
            elif isinstance(effect, MountEffect):
                self._mount(effect, by)
            elif isinstance(effect, PathEffect):
                other = self._lay_path(effect, uncertainty, by)
                if other:
                    clashes.append(PathConflict(other, effect.path))
            else:
                self._put(effect, by)
        if gate.level == ASSUMED and uncertainty.level != UNKNOWN:
            known = [effect for effect in effects if not isinstance(effect, UnknownEffect)]
            self.suppose(known, gate, by)
        return clashes

    def suppose(self, effects: Sequence[Effect], uncertainty: Uncertainty, by: str) -> None:
        """Add effects that an action of the resource ``by`` has if it runs, which is uncertain."""
        self.sequence += 1
        for effect in effects:
            if isinstance(effect, UnknownEffect):
                possible = effect._replace(uncertainty=uncertainty)
                self.unknown_regions.add(possible, self.sequence, by)
        self.unknown_regions.add(
            UnknownEffect(uncertainty, AnyOf([_named(effect) for effect in effects])),
            self.sequence,
            by,
        )

    def _lay_path(self, effect: PathEffect, uncertainty: Uncertainty, by: str) -> str:
        """Add a change of a path; return the resource that it undoes, or ""."""
        keeps = effect.kind == "file" and (effect.part or effect.content is None)
        doubtful = bool(uncertainty.level) and keeps and self._is_doubtful(effect.path)
        other = self.layer.put(effect, self.sequence, by, sure=not uncertainty.level)
        if effect.path in _ACCOUNTS:
            self._lay_accounts(effect, uncertainty)
        elif effect.path == SHADOW:
            self._lay_passwords(effect)
        if effect.content is not None and effect.content.uncertainty is not None:
            self._lay_doubtful(effect.path, effect.content.uncertainty)
        elif doubtful:
            self._lay_doubtful(effect.path, uncertainty, "content")  # it depends on the old one
        return other

    def _is_doubtful(self, path: str) -> bool:
        """Return whether the content of a path is uncertain."""
        old = self.layer.find(path, follow=False)
        return any(
            self.unknown_regions.over(old.path, True, old.since, kind)
            for kind in ("path", "content")
        )

    def _mount(self, effect: MountEffect, by: str) -> None:
        if effect.reloads:
            self.mounts.reloaded = self.sequence
            return
        if effect.remounts:
            self.layer.remount(effect)
        elif not effect.table_only:
            self.layer.mount(effect, self.sequence, by)
        self.mounts.planned[effect.path] = effect, self.sequence

    def _lay_doubtful(self, path: str, uncertainty: Uncertainty, kind: str = "path") -> None:
        """Add a file: its planned content is only as certain as its source. With the ``kind``
        content, it certainly exists.
        """
        place = self.layer.find(path, follow=False).path
        self.sequence += 1
        self.unknown_regions.add(UnknownEffect(uncertainty, Things([kind], [place])), self.sequence)

    def _lay_accounts(self, effect: PathEffect, uncertainty: Uncertainty) -> None:
        """Add the accounts of an account file, as far as it can be read in advance."""
        kind, path = _ACCOUNTS[effect.path], effect.path
        self.accounts.tables.pop(kind, None)
        text = self._planned_text(effect)
        try:
            today = parsed(self._adapters[0].read(path, _LIMIT).decode("utf-8", "replace"))
        except ResourceError:
            text = None
        if text is not None:
            entries = parsed_groups(text) if kind == "group" else parsed_users(text)
            if effect.content and effect.content.uncertainty:
                uncertainty = uncertainty.worse(effect.content.uncertainty)
            self.accounts.tables[kind] = Table(
                parsed(text),
                today,
                since=self.sequence,
                path=path,
                entries=None if uncertainty.level == UNKNOWN else entries,
            )
        gone = None if text is None else set(today)
        self.unknown_regions.add(_accounts_of(path, gone), self.sequence)
        if uncertainty.level:
            self.unknown_regions.add(
                UnknownEffect(uncertainty, lambda thing, _, there: thing == kind), self.sequence
            )

    def _lay_passwords(self, effect: PathEffect) -> None:
        text = self._planned_text(effect)
        doubtful = effect.content is not None and effect.content.uncertainty is not None
        rows = None if text is None or doubtful else parsed_passwords(text)
        self.accounts.passwords = Passwords(rows, self.sequence)

    def _planned_text(self, effect: PathEffect) -> Optional[str]:
        """Return the future text of a file; None if there is none or it cannot be read."""
        try:
            text = self.files.read(effect.path, _LIMIT) if effect.kind == "file" else None
        except ResourceError:
            return None
        return None if text is None else text.decode("utf-8", "replace")

    def lay_elsewhere(self, effect: PathEffect, uncertainty: Uncertainty) -> None:
        """Add actions elsewhere: if an uncertain path becomes a link, actions below it happen at
        its target.
        """
        if self.unknown_regions.over("/", True, 0):
            return  # everything in it is already uncertain
        parts = effect.path.split("/")[1:]
        for number in range(1, len(parts)):
            above, tail = "/" + "/".join(parts[:number]), "/".join(parts[number:])
            planned_path = self.layer.find(above, follow=False)
            node = planned_path.within or planned_path.node
            unreported = node is not None and (node.kind == UNTOLD or node.unsure)
            if unreported or self.unknown_regions.over(planned_path.path, True, planned_path.since):
                if uncertainty.level == UNKNOWN:
                    uncertainty = Uncertainty(UNKNOWN, "the target of %s is unknown" % above)
                whole = effect.kind == "absent"
                done = LinkedAction(
                    above, tail, whole=whole, uncertainty=uncertainty, since=self.sequence
                )
                self.unknown_regions.add_elsewhere(done)
                return

    def _put(self, effect: Effect, by: str) -> None:
        if isinstance(effect, AccountEffect):
            self.accounts.planned[effect.kind, effect.name] = effect, self.sequence
            reason = "%s changes the accounts in this file" % by
            unknown = UnknownEffect(Uncertainty(UNKNOWN, reason), ACCOUNT_DATABASES)
            self.unknown_regions.add(unknown, self.sequence)
        elif isinstance(effect, KernelEffect):
            self.kernel.planned[effect.path] = effect, self.sequence
            uncertainty = Uncertainty(UNKNOWN, "%s changes it in the kernel" % by)
            self.unknown_regions.add(
                UnknownEffect(uncertainty, _KernelReads(effect.path)), self.sequence
            )
        elif isinstance(effect, PackageEffect):
            self.packages[effect.name] = effect
            if effect.is_so is not None:
                self._unverified_packages[effect.name] = effect.is_so
        elif isinstance(effect, UnitEffect):
            older = self.units.get(effect.name)
            self.units[effect.name] = effect if older is None else _merged(older, effect)


def _accounts_of(path: str, today: Optional[Set[str]]) -> UnknownEffect:
    """Add the accounts of a planned account file. An account in the current file (``today``) that
    is not in the planned one may also be in another database of the host. If the content of a file
    is unknown (None), its accounts may be removed.
    """
    reason = "whether it exists depends on the planned %s" % path

    def covers(kind: str, name: str, there: bool) -> bool:
        if kind != _ACCOUNTS[path] or name == "root":
            return False
        return today is None or (not there and name in today)

    return UnknownEffect(Uncertainty(UNKNOWN, reason), covers)


class _KernelReads(Below):
    """Which reads depend on a kernel value: files and commands, but not network requests, unless
    addresses may change.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, itself=True)
        self._addresses = not path.startswith("/proc/sys/") or path.endswith("/disable_ipv6")

    def __call__(self, kind: str, value: str, present: bool) -> bool:
        if kind == "host" and value == NETWORK and not self._addresses:
            return False
        return super().__call__(kind, value, present)


def _named(effect: Effect) -> Covers:
    """Return the subject of an effect."""
    if isinstance(effect, (PathEffect, MountEffect, KernelEffect)):
        return Below(effect.path, itself=True)
    if isinstance(effect, UnknownEffect):
        return effect.covers
    if isinstance(effect, AccountEffect):
        return Named(effect.kind, effect.name)
    return Named("package" if isinstance(effect, PackageEffect) else "unit", effect.name)


def _merged(older: UnitEffect, newer: UnitEffect) -> UnitEffect:
    return UnitEffect(
        newer.name,
        active=older.active if newer.active is None else newer.active,
        enabled=older.enabled if newer.enabled is None else newer.enabled,
        masked=older.masked if newer.masked is None else newer.masked,
    )
