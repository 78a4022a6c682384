"""What a type has done to an overlay (target)."""

from typing import TYPE_CHECKING, List

from remote_runtime.effects import Effect, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.overlay.overlay import World


class Record(object):
    """The effects of calls, in order; later calls see them at once.

    ``world`` is a private copy. ``runs``: a program would have run, whose success is unknown.
    """

    def __init__(self, world: "World", by: str) -> None:
        self.world = world
        self.by = by
        self.effects: List[Effect] = []
        self.runs = False

    def add(self, *effects: Effect) -> None:
        """Note effects, and lay them over the host."""
        self.world.lay(effects, Uncertainty(), self.by)
        self.effects.extend(effects)
