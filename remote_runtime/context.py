"""What a resource may use of the run it is part of (target)."""

from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Sequence, Set

from remote_runtime.cancellation import Cancellation, Protected
from remote_runtime.changes import Condition
from remote_runtime.item import Item
from remote_runtime.options import RunOptions
from remote_runtime.pending import Pending

if TYPE_CHECKING:
    from remote_runtime.blobs import Blobs
    from remote_runtime.masking import Mask
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.commands import Commands
    from remote_runtime.system.files import Files


class _Turn(NamedTuple):
    position: int
    noop: bool
    mask: "Mask"


class Context(object):
    """One run on one target, as types and providers see it.

    ``options`` are those of the whole run. ``changed_paths`` are the absolute paths that
    resources of this run have written or removed so far (never in noop). ``acted`` counts the
    actions called so far; a provider that answered all its queries in one go compares it to know
    whether its answers may be stale.

    ``on_progress`` gets the index of the resource whose turn it is and what it does,
    ``on_notice`` a level and a line; both masked.
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
    ) -> None:
        self.commands = commands
        self.files = files
        self.accounts = accounts
        self.blobs = blobs
        self.cancellation = cancellation
        self.options = options
        self.pending = Pending()
        self.changed_paths: Set[str] = set()
        self.acted = 0
        self._on_progress = on_progress
        self._on_notice = on_notice
        self._turn = _Turn(0, options.noop, mask)
        self._peers: Dict[str, List[Item]] = {}
        self._index(items)

    def _index(self, items: Sequence[Item]) -> None:
        for item in items:
            self._peers.setdefault(item.type, []).append(item)
            if item.managed:
                self._index(item.children)

    def turn(self, item: Item, noop: bool, secrets: Sequence[str] = ()) -> "InTurn":
        """A block in which it is the turn of this resource; turns may stand in each other.

        ``secrets`` are masked meanwhile.
        """
        return InTurn(self, _Turn(item.index, noop, self.mask.extended(secrets)))

    @property
    def noop(self) -> bool:
        """Whether the resource whose turn it is may change nothing; between turns the run."""
        return self._turn.noop

    @property
    def mask(self) -> "Mask":
        """What hides the secrets of the run and of the resource whose turn it is."""
        return self._turn.mask

    def peers(self, type_name: str) -> List[Item]:
        """Every item of a type in the plan, children included, in the order written."""
        return self._peers.get(type_name, [])

    def planned(self, condition: Condition) -> bool:
        """Whether noop counts this as there, because an earlier action would provide it."""
        return self.noop and self.pending.holds(condition)

    def progress(self, action: str) -> None:
        """Say what the resource is doing right now, as in "installing nginx"."""
        self._on_progress(self._turn.position, self.mask.text(action))

    def notice(self, level: str, text: str) -> None:
        """Send a line for people; ``level`` is info, waiting, warning or error."""
        self._on_notice(level, self.mask.text(text))

    @property
    def cancelled(self) -> bool:
        """Whether the run is to end; long loops ask and call ``check_cancelled``."""
        return self.cancellation.is_set()

    def check_cancelled(self) -> None:
        """Raise ``Cancelled`` when the run is to end."""
        self.cancellation.check()

    def sleep(self, seconds: float) -> None:
        """Wait that long, or raise ``Cancelled`` at once when the run is to end."""
        self.cancellation.sleep(seconds)

    def unkillable(self) -> Protected:
        """A block whose commands are let finish on cancel, as in ``with context.unkillable():``."""
        return self.cancellation.protected()


class InTurn(object):
    """See ``Context.turn``."""

    def __init__(self, context: Context, turn: _Turn) -> None:
        self._context = context
        self._turn = turn

    def __enter__(self) -> None:
        self._exchange()

    def __exit__(self, *failure: Any) -> None:
        self._exchange()

    def _exchange(self) -> None:
        self._context._turn, self._turn = self._turn, self._context._turn
