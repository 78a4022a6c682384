"""What a type has done to an overlay (target)."""

from typing import TYPE_CHECKING, Callable, List, Optional, Sequence

from remote_runtime.effects import Effect, Uncertainty, everything

if TYPE_CHECKING:
    from remote_runtime.overlay.overlay import HostOverlay


Covers = Callable[[str, str, bool], bool]
Covering = Callable[[Optional[Sequence[str]]], Covers]


def anything(affects: Optional[Sequence[str]]) -> Covers:
    """For commands that may change anything, whatever they say."""
    return everything


def covers_lists(kind: str, value: str, present: bool) -> bool:
    """The ``covers`` of uncertainty about the package lists."""
    return kind == "lists"


class Record(object):
    """The effects of calls, in order; later calls see them at once.

    The world is copied once a call sees the effects of another, if it is ``shared``. ``runs``: a
    program would have run, whose success is unknown. ``assumed`` is what must hold for the
    prediction to come true.
    ``covering`` says what a command may change by what it says that it affects. ``checks``: what
    the machine would refuse fails; without, only the effects are recorded. ``unfinished`` are the
    effects that count where the last call fails.
    """

    def __init__(
        self, world: "HostOverlay", by: str, *, covering: Covering = anything, shared: bool = False
    ) -> None:
        self._world, self._shared = world, shared
        self._waiting: List[Effect] = []  # which are not laid over a shared world
        self.by = by
        self.covering = covering
        self.effects: List[Effect] = []
        self.unfinished: List[Effect] = []
        self.runs = False
        self.assumed: List[Uncertainty] = []
        self.checks = True

    def add(self, *effects: Effect) -> None:
        """Note effects, and lay them over the host."""
        self.effects.extend(effects)
        self._waiting.extend(effects)
        if not self._shared:
            self._lay()

    @property
    def world(self) -> "HostOverlay":
        """The host as the calls have left it."""
        if self._waiting:
            self.own()
        return self._world

    def own(self) -> None:
        """Go on with a copy, if the world is shared."""
        if self._shared:
            self._world, self._shared = self._world.fork(), False
            self._lay()

    def _lay(self) -> None:
        self._world.lay(tuple(self._waiting), Uncertainty(), self.by)
        self._waiting = []
