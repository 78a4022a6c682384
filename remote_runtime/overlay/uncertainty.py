"""Unknown effects of earlier actions in a preview (target)."""

from typing import Callable, Dict, List, NamedTuple, Sequence

from remote_runtime.effects import Things, UnknownEffect
from remote_runtime.uncertainty import Uncertainty

_NAMES = ("user", "group", "package", "unit", "path")  # kinds whose value is a name


class UnknownRegion(NamedTuple):
    """Unknown effects since a moment; ``record_read`` excludes later known effects. ``by`` is the
    resource that causes them.
    """

    effect: UnknownEffect
    since: int
    by: str = ""

    def names(self, kind: str, value: str) -> bool:
        """Return whether the resource mentions the name of a thing."""
        if kind not in _NAMES or not value:
            return False
        import re

        name = value.rpartition(".")[0] or value if kind == "unit" else value
        pattern = r"(?<![A-Za-z0-9_])%s(?![A-Za-z0-9_])" % re.escape(name)
        return re.search(pattern, "%s\n%s" % (self.by, self.effect.text)) is not None


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


Note = Callable[[Sequence[Uncertainty], str], None]


def _why(uncertainties: Sequence[Uncertainty]) -> str:
    """Return the reason of the first uncertainty, and that of a more important one."""
    worst = Uncertainty()
    for uncertainty in uncertainties:
        worst = worst.worse(uncertainty)
    nearest = uncertainties[0]
    return (
        nearest.reason
        if worst.level == nearest.level
        else " and ".join((nearest.reason, worst.reason))
    )


def _nowhere(path: str) -> List[str]:
    return []


class UnknownRegions(object):
    """All unknown effects of a preview. ``note`` receives the uncertainties of each read, and why a
    failure because of them may not happen; ``others`` returns the other paths of a path.
    """

    def __init__(self, note: Note, others: Callable[[str], List[str]] = _nowhere) -> None:
        self._note = note
        self._others = others
        self._all: List[UnknownRegion] = []
        self._elsewhere: Dict[str, List[LinkedAction]] = {}  # by the last part of the tail

    def __bool__(self) -> bool:
        return bool(self._all or self._elsewhere)

    def copy(self) -> "UnknownRegions":
        """Return an independent copy."""
        other = UnknownRegions(self._note, self._others)
        other._all = list(self._all)
        other._elsewhere = {name: list(regions) for name, regions in self._elsewhere.items()}
        return other

    def add(self, effect: UnknownEffect, since: int, by: str = "") -> None:
        """Add an unknown effect of the resource ``by``. ``since`` never decreases."""
        things, uncertainty = effect.covers, effect.uncertainty
        if isinstance(things, Things):  # an earlier effect on the same things adds nothing
            self._all = [
                region
                for region in self._all
                if not things.is_same_as(region.effect.covers)
                or uncertainty.worse(region.effect.uncertainty) != uncertainty
            ]
        self._all.append(UnknownRegion(effect, since, by))

    def record_read(self, kind: str, value: str, present: bool, since: int = 0) -> None:
        """Record the uncertainty of a read whose value is known as of ``since``.

        The resources that mention the thing come first, then the nearest: of several equal
        uncertainties, the first one is reported.
        """
        if not self:
            return
        places = [value]
        if kind == "path" and self._all:
            places += self._others(value)
        result: List[UnknownRegion] = []
        for region in reversed(self._all):
            if region.since <= since:
                break
            covers = region.effect.covers
            if any(covers(kind, place, present) for place in places):
                result.append(region)
        naming = [c for c in result if any(c.names(kind, place) for place in places)]
        if result:
            likely = naming[:1] or result
            uncertainties = [region.effect.uncertainty for region in naming + result]
            self._note(uncertainties, _why([region.effect.uncertainty for region in likely]))
        if kind == "path" and self._elsewhere:
            for name in value.split("/"):
                for other in self._elsewhere.get(name, ()):
                    if other.since > since and other.covers(value):
                        self._note([other.uncertainty], other.uncertainty.reason)

    def suppose(self, uncertainty: Uncertainty) -> None:
        """Record the uncertainty of an action, not of a read."""
        self._note([uncertainty], uncertainty.reason)

    def over(self, path: str, present: bool, since: int, kind: str = "path") -> bool:
        """Return whether the state of a path is unknown, or its ``kind`` content, without recording
        a read.
        """
        unknown_regions = (region for region in self._all if region.since > since)
        return any(region.effect.covers(kind, path, present) for region in unknown_regions)

    def add_elsewhere(self, done: LinkedAction) -> None:
        """Record an action at a path below one with an unknown target."""
        self._elsewhere.setdefault(done.tail.rpartition("/")[2], []).append(done)
