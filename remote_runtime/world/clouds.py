"""What earlier actions of a preview may do that nobody can tell (target)."""

from typing import Callable, List, NamedTuple

from remote_runtime.effects import Doubt, Fog


class Cloud(NamedTuple):
    """Fog since a moment; ``heed`` leaves out what is known of later ones."""

    fog: Fog
    since: int


class Clouds(object):
    """All fog there is. ``note`` is told of the doubt over each thing that is read."""

    def __init__(self, note: Callable[[Doubt], None]) -> None:
        self._note = note
        self._all: List[Cloud] = []

    def __bool__(self) -> bool:
        return bool(self._all)

    def copy(self) -> "Clouds":
        """The same, to go on by itself."""
        other = Clouds(self._note)
        other._all = list(self._all)
        return other

    def add(self, fog: Fog, since: int) -> None:
        """There is fog from this moment on."""
        self._all.append(Cloud(fog, since))

    def heed(self, kind: str, value: str, present: bool, since: int = 0) -> None:
        """Note the doubt over something that is read, which is known as of ``since``."""
        for cloud in self._all:
            if cloud.since > since and cloud.fog.covers(kind, value, present):
                self._note(cloud.fog.doubt)
