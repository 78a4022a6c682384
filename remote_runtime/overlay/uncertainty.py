"""Unknown effects of earlier actions in a preview (target)."""

from typing import Callable, Dict, List, NamedTuple, Optional

from remote_runtime.effects import UnknownEffect
from remote_runtime.overlay.region_index import Read, RegionIndex, UnknownRegion
from remote_runtime.uncertainty import UNKNOWN, Uncertainty


class LinkedAction(NamedTuple):
    """An action at a path with this ending, below the unknown target of the link ``link``, except
    above the path itself; ``whole``: on everything below.
    """

    link: str
    tail: str
    whole: bool
    uncertainty: Uncertainty
    since: int

    def covers(self, path: str) -> bool:
        """Return whether the uncertainty may affect a path."""
        if self.whole:
            return ("/" + self.tail + "/") in (path + "/").partition("/")[2]
        directory = path[: -len(self.tail) - 1]
        inside = path.endswith("/" + self.tail) and bool(directory)
        return inside and not self.link.startswith(directory + "/")


Note = Callable[[Uncertainty, str], None]


def _newer(one: Optional[UnknownRegion], other: Optional[UnknownRegion]) -> Optional[UnknownRegion]:
    found = [region for region in (one, other) if region is not None]
    return max(found, key=lambda region: region.position, default=None)


def _nowhere(path: str) -> List[str]:
    return []


class UnknownRegions(object):
    """All unknown effects of a preview. ``note`` receives the uncertainty of each read, and why a
    failure because of them may not happen; ``others`` returns the other paths of a path.
    """

    def __init__(self, note: Note, others: Callable[[str], List[str]] = _nowhere) -> None:
        self._note = note
        self._others = others
        self._count = 0
        self._unknown, self._assumed = RegionIndex(), RegionIndex()
        self._elsewhere: Dict[str, List[LinkedAction]] = {}  # by the last part of the tail

    def __bool__(self) -> bool:
        return bool(self._count or self._elsewhere)

    def copy(self) -> "UnknownRegions":
        """Return an independent copy."""
        other = UnknownRegions(self._note, self._others)
        other._count = self._count
        other._unknown, other._assumed = self._unknown.copy(), self._assumed.copy()
        other._elsewhere = {name: list(regions) for name, regions in self._elsewhere.items()}
        return other

    def add(self, effect: UnknownEffect, since: int, by: str = "") -> None:
        """Add an unknown effect of the resource ``by``. ``since`` never decreases."""
        self._count += 1
        index = self._unknown if effect.uncertainty.level == UNKNOWN else self._assumed
        index.add(UnknownRegion(effect, since, by, self._count))

    def record_read(self, kind: str, value: str, present: bool, since: int = 0) -> None:
        """Record the uncertainty of a read whose value is known as of ``since``.

        The newest one is reported, preferably of a resource that mentions the thing.
        """
        if not self:
            return
        if self._count:
            names = [value, *(self._others(value) if kind == "path" else ())]
            self._record(Read(kind, names, present, since))
        if kind == "path" and self._elsewhere:
            for name in value.split("/"):
                for other in self._elsewhere.get(name, ()):
                    if other.since > since and other.covers(value):
                        self._note(other.uncertainty, other.uncertainty.reason)

    def _record(self, read: Read) -> None:
        unknown, assumed = self._unknown.newest(read), self._assumed.newest(read)
        newest = _newer(unknown, assumed)
        if newest is None:
            return
        unknown_naming = unknown and self._unknown.newest_naming(read)
        naming = _newer(unknown_naming, assumed and self._assumed.newest_naming(read))
        nearest = naming or newest
        worst = (unknown_naming or unknown or nearest).effect.uncertainty
        reason = nearest.effect.uncertainty.reason
        if naming is None and worst.level != nearest.effect.uncertainty.level:
            reason = " and ".join((reason, worst.reason))
        self._note(worst, reason)

    def suppose(self, uncertainty: Uncertainty) -> None:
        """Record the uncertainty of an action, not of a read."""
        self._note(uncertainty, uncertainty.reason)

    def over(self, path: str, present: bool, since: int, kind: str = "path") -> bool:
        """Return whether the state of a path is unknown, or its ``kind`` content, without recording
        a read.
        """
        read = Read(kind, [path], present, since)
        return bool(self._unknown.newest(read) or self._assumed.newest(read))

    def add_elsewhere(self, done: LinkedAction) -> None:
        """Record an action at a path below one with an unknown target."""
        self._elsewhere.setdefault(done.tail.rpartition("/")[2], []).append(done)
