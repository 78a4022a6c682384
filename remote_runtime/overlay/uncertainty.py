"""Unknown effects of earlier actions in a preview (target)."""

from typing import Callable, Dict, Iterator, List, NamedTuple, Sequence

from remote_runtime.effects import FILE_READS, Below, Things, UnknownEffect
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

_NAMES = ("user", "group", "package", "unit", "path")  # kinds whose value is a name


class UnknownRegion(NamedTuple):
    """Unknown effects since a moment; ``record_read`` excludes later known effects. ``by`` is the
    resource that causes them.
    """

    effect: UnknownEffect
    since: int
    by: str
    position: int


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
_Regions = Sequence[UnknownRegion]


def _naming(regions: _Regions, kind: str, values: Sequence[str]) -> _Regions:
    """Return the regions whose resource mentions the name of a thing."""
    names = [value for value in values if value] if kind in _NAMES else []
    if kind == "unit":
        names = [name.rpartition(".")[0] or name for name in names]
    likely = [r for r in regions if any(name in r.by or name in r.effect.text for name in names)]
    if not likely:
        return likely
    import re

    either = "|".join([re.escape(name) for name in names])
    mention = re.compile(r"(?<![A-Za-z0-9_])(?:%s)(?![A-Za-z0-9_])" % either)
    return [r for r in likely if mention.search(r.by) or mention.search(r.effect.text)]


def _replaces(newer: UnknownEffect, things: Things, older: UnknownEffect) -> bool:
    return things.is_same_as(older.covers) and not (
        older.uncertainty.level == UNKNOWN != newer.uncertainty.level
    )


def _itself_and_above(path: str) -> Iterator[str]:
    yield path
    while path.strip("/"):
        path = path.rpartition("/")[0] or "/"
        yield path


def _nowhere(path: str) -> List[str]:
    return []


class UnknownRegions(object):
    """All unknown effects of a preview. ``note`` receives the uncertainty of each read, and why a
    failure because of them may not happen; ``others`` returns the other paths of a path.
    """

    def __init__(self, note: Note, others: Callable[[str], List[str]] = _nowhere) -> None:
        self._note = note
        self._others = others
        self._all: List[UnknownRegion] = []  # in the order of their positions
        self._anywhere: List[UnknownRegion] = []  # those that are not in _below
        self._below: Dict[str, List[UnknownRegion]] = {}  # by the path of a Below
        self._elsewhere: Dict[str, List[LinkedAction]] = {}  # by the last part of the tail

    def __bool__(self) -> bool:
        return bool(self._all or self._elsewhere)

    def copy(self) -> "UnknownRegions":
        """Return an independent copy."""
        other = UnknownRegions(self._note, self._others)
        other._all, other._anywhere = list(self._all), list(self._anywhere)
        other._below = {top: list(regions) for top, regions in self._below.items()}
        other._elsewhere = {name: list(regions) for name, regions in self._elsewhere.items()}
        return other

    def add(self, effect: UnknownEffect, since: int, by: str = "") -> None:
        """Add an unknown effect of the resource ``by``. ``since`` never decreases."""
        covers = effect.covers
        position = self._all[-1].position + 1 if self._all else 0
        region = UnknownRegion(effect, since, by, position)
        if isinstance(covers, Things):  # an earlier effect on the same things adds nothing
            older = [one for one in self._anywhere if _replaces(effect, covers, one.effect)]
            self._all = [one for one in self._all if one not in older]
            self._anywhere = [one for one in self._anywhere if one not in older]
        self._all.append(region)
        if isinstance(covers, Below):
            self._below.setdefault(covers.top, []).append(region)
        else:
            self._anywhere.append(region)

    def _candidates(self, kind: str, places: Sequence[str]) -> List[UnknownRegion]:
        """Return the regions that may cover a thing, the newest first."""
        if kind not in FILE_READS:
            return self._all[::-1]
        regions = list(self._anywhere)
        if kind == "path" and self._below:
            for top in {above for place in places for above in _itself_and_above(place)}:
                regions += self._below.get(top, ())
            regions.sort(key=lambda region: region.position)
        return regions[::-1]

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
        for region in self._candidates(kind, places):
            if region.since <= since:
                break
            covers = region.effect.covers
            for place in places:
                if covers(kind, place, present):
                    result.append(region)
                    break
        if result:
            self._record(_naming(result, kind, places), result)
        if kind == "path" and self._elsewhere:
            for name in value.split("/"):
                for other in self._elsewhere.get(name, ()):
                    if other.since > since and other.covers(value):
                        self._note(other.uncertainty, other.uncertainty.reason)

    def _record(self, naming: _Regions, regions: _Regions) -> None:
        """Record the uncertainty of a read that these regions cover, the nearest first."""
        uncertainties = [region.effect.uncertainty for region in (*naming, *regions)]
        nearest = uncertainties[0]
        worst = next((one for one in uncertainties if one.level == UNKNOWN), nearest)
        both = not naming and worst.level != nearest.level
        reason = " and ".join((nearest.reason, worst.reason)) if both else nearest.reason
        self._note(worst, reason)

    def suppose(self, uncertainty: Uncertainty) -> None:
        """Record the uncertainty of an action, not of a read."""
        self._note(uncertainty, uncertainty.reason)

    def over(self, path: str, present: bool, since: int, kind: str = "path") -> bool:
        """Return whether the state of a path is unknown, or its ``kind`` content, without recording
        a read.
        """
        return any(
            region.since > since and region.effect.covers(kind, path, present)
            for region in self._candidates(kind, [path])
        )

    def add_elsewhere(self, done: LinkedAction) -> None:
        """Record an action at a path below one with an unknown target."""
        self._elsewhere.setdefault(done.tail.rpartition("/")[2], []).append(done)
