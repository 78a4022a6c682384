"""What a resource may use of the run it is part of (target)."""

from typing import TYPE_CHECKING, Any, Callable, ContextManager, Dict, List, Sequence, Set

from .base import Condition, Item
from .cancellation import Cancellation
from .pending import Pending

if TYPE_CHECKING:
    from .blobs import Blobs
    from .masking import Mask
    from .system.accounts import Accounts
    from .system.commands import Commands
    from .system.files import Files


class Context(object):
    """One run on one target, as types and providers see it.

    ``noop`` is that of the resource whose turn it is. ``changed_paths`` are the absolute paths that
    resources of this run have written or removed so far (never in noop). ``lock_timeout`` is how
    many seconds a lock that somebody else holds is waited for. ``acted`` counts the
    actions called so far; a provider that answered all its queries in one go compares it to know
    whether its answers may be stale.
    """

    def __init__(
        self,
        commands: "Commands",
        files: "Files",
        accounts: "Accounts",
        blobs: "Blobs",
        mask: "Mask",
        cancellation: Cancellation,
        items: Sequence[Item] = (),
        diff: bool = True,
        diff_private: bool = False,
    ) -> None:
        self.commands = commands
        self.files = files
        self.accounts = accounts
        self.blobs = blobs
        self.mask = mask
        self.cancellation = cancellation
        self.diff = diff
        self.diff_private = diff_private
        self.noop = False
        self.lock_timeout = 60.0
        self.pending = Pending()
        self.changed_paths: Set[str] = set()
        self.acted = 0
        self.on_progress: Callable[[str], None] = lambda action: None
        self.on_notice: Callable[[str, str], None] = lambda level, text: None
        self._peers: Dict[str, List[Item]] = {}
        self._index(items)

    def _index(self, items: Sequence[Item]) -> None:
        for item in items:
            self._peers.setdefault(item.type, []).append(item)
            if item.managed:
                self._index(item.children)

    def peers(self, type_name: str) -> List[Item]:
        """Every item of a type in the plan, children included, in the order written."""
        return self._peers.get(type_name, [])

    def planned(self, condition: Condition) -> bool:
        """Whether noop counts this as there, because an earlier action would provide it."""
        return self.noop and self.pending.holds(condition)

    def progress(self, action: str) -> None:
        """Say what the resource is doing right now, as in "installing nginx"."""
        self.on_progress(self.mask.text(action))

    def notice(self, level: str, text: str) -> None:
        """Send a line for people; ``level`` is info, warning or error."""
        self.on_notice(level, self.mask.text(text))

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

    def unkillable(self) -> ContextManager[Any]:
        """A block whose commands are let finish on cancel, as in ``with context.unkillable():``."""
        return self.cancellation.protected()
