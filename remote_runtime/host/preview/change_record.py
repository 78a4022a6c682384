"""The changes that a type has made to an overlay (target)."""

from typing import TYPE_CHECKING, Callable, List, Optional, Sequence

from remote_runtime.effects import Covers, Effect, everything, once
from remote_runtime.uncertainty import Uncertainty

if TYPE_CHECKING:
    from remote_runtime.overlay.host_overlay import HostOverlay, PathConflict


Covering = Callable[[Optional[Sequence[str]]], Covers]


def anything(affects: Optional[Sequence[str]]) -> Covers:
    """For commands that may change anything, regardless of what they declare."""
    return everything


def covers_lists(kind: str, value: str, present: bool) -> bool:
    """The ``covers`` function of an uncertainty about the package lists."""
    return kind == "lists"


class Record(object):
    """The effects of calls, in order; later calls take them into account immediately.

    If the overlay is ``shared``, it is copied once a call depends on the effects of another call.
    ``runs``: a program would have run, with unknown success. ``assumed`` is the condition of the
    prediction. ``covering`` returns what a command may change, from its declaration. ``partial``:
    other resources manage other parts of the same paths. ``checks``: calls fail if the machine
    would refuse them; otherwise, effects are only recorded. ``unfinished`` are the effects that
    remain if the last call fails. ``conflicts`` are the desired states of earlier resources that
    the calls undo.
    """

    def __init__(
        self,
        overlay: "HostOverlay",
        by: str,
        *,
        covering: Covering = anything,
        shared: bool = False,
        partial: bool = False,
    ) -> None:
        self._overlay, self._shared, self._partial = overlay, shared, partial
        self._waiting: List[Effect] = []  # effects not added to a shared overlay
        self.by = by
        self.covering = covering
        self.effects: List[Effect] = []
        self.unfinished: List[Effect] = []
        self.conflicts: "List[PathConflict]" = []
        self.runs = False
        self.assumed: List[Uncertainty] = []
        self.checks = True

    def add(self, *effects: Effect) -> None:
        """Record effects, and add them to the overlay."""
        effects = tuple(once(effects)) if self._partial else effects
        self.effects.extend(effects)
        self._waiting.extend(effects)
        if not self._shared:
            self._lay()

    @property
    def overlay(self) -> "HostOverlay":
        """The host after these calls."""
        if self._waiting:
            self.own()
        return self._overlay

    def own(self) -> None:
        """Continue with a copy if the overlay is shared."""
        if self._shared:
            self._overlay, self._shared = self._overlay.fork(), False
            self._lay()

    def _lay(self) -> None:
        self.conflicts += self._overlay.lay(tuple(self._waiting), Uncertainty(), self.by)
        self._waiting = []
