"""Unknown effects of earlier actions in a preview (target)."""

import re
from typing import Callable, Dict, List, NamedTuple, Sequence

from remote_runtime.effects import Uncertainty, UnknownEffect

_NAMES = ("user", "group", "package", "unit", "path")  # kinds whose value is a name


class UnknownRegion(NamedTuple):
    """Unknown effects since a moment; ``heed`` excludes later known ones. ``by`` is the resource
    that causes them.
    """

    fog: UnknownEffect
    since: int
    by: str = ""

    def names(self, kind: str, value: str) -> bool:
        """Whether the resource mentions a thing by its name."""
        if kind not in _NAMES or not value:
            return False
        name = value.rpartition(".")[0] or value if kind == "unit" else value
        pattern = r"(?<![A-Za-z0-9_])%s(?![A-Za-z0-9_])" % re.escape(name)
        return re.search(pattern, "%s\n%s" % (self.by, self.fog.text)) is not None


class LinkedAction(NamedTuple):
    """An action at a path with this ending, wherever the uncertain link ``link`` leads, except
    above itself; ``whole``: on everything below.
    """

    link: str
    tail: str
    whole: bool
    uncertainty: Uncertainty
    since: int

    def covers(self, path: str) -> bool:
        """Whether a path may be meant."""
        if self.whole:
            return ("/" + self.tail + "/") in (path + "/").partition("/")[2]
        directory = path[: -len(self.tail) - 1]
        inside = path.endswith("/" + self.tail) and bool(directory)
        return inside and not self.link.startswith(directory + "/")


Note = Callable[[Sequence[Uncertainty], str], None]


def _why(uncertainties: Sequence[Uncertainty]) -> str:
    """The reason of the first doubt, and that of one that weighs more."""
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
    """All fog there is. ``note`` gets the doubts over each thing that is read and why a failure may
    not come; ``others`` are the other paths at which the same thing is seen.
    """

    def __init__(self, note: Note, others: Callable[[str], List[str]] = _nowhere) -> None:
        self._note = note
        self._others = others
        self._all: List[UnknownRegion] = []
        self._elsewhere: Dict[str, List[LinkedAction]] = {}  # by the last part of the tail

    def __bool__(self) -> bool:
        return bool(self._all)

    def copy(self) -> "UnknownRegions":
        """The same, to continue by itself."""
        other = UnknownRegions(self._note, self._others)
        other._all = list(self._all)
        other._elsewhere = {name: list(found) for name, found in self._elsewhere.items()}
        return other

    def add(self, fog: UnknownEffect, since: int, by: str = "") -> None:
        """There is fog from this moment on, which the resource ``by`` leaves."""
        self._all.append(UnknownRegion(fog, since, by))

    def heed(self, kind: str, value: str, present: bool, since: int = 0) -> None:
        """Note the doubt over something that is read, which is known as of ``since``.

        The resources that mention the thing come first, then the nearest: of several doubts that
        are equal, the first one is reported.
        """
        places = [value]
        if kind == "path" and self._all:
            places += self._others(value)
        found: List[UnknownRegion] = []
        for cloud in reversed(self._all):
            covers = cloud.fog.covers
            if cloud.since > since and any(covers(kind, place, present) for place in places):
                found.append(cloud)
        named = [c for c in found if any(c.names(kind, place) for place in places)]
        if found:
            likely = named[:1] or found
            uncertainties = [cloud.fog.uncertainty for cloud in named + found]
            self._note(uncertainties, _why([cloud.fog.uncertainty for cloud in likely]))
        if kind == "path" and self._elsewhere:
            for name in value.split("/"):
                for other in self._elsewhere.get(name, ()):
                    if other.since > since and other.covers(value):
                        self._note([other.uncertainty], other.uncertainty.reason)

    def suppose(self, uncertainty: Uncertainty) -> None:
        """Note a doubt over what is done, not over what was read."""
        self._note([uncertainty], uncertainty.reason)

    def over(self, path: str, present: bool, since: int) -> bool:
        """Whether a path is in fog, without a note."""
        clouds = (cloud for cloud in self._all if cloud.since > since)
        return any(cloud.fog.covers("path", path, present) for cloud in clouds)

    def add_elsewhere(self, done: LinkedAction) -> None:
        """Record an action at a path below one with an unknown target."""
        self._elsewhere.setdefault(done.tail.rpartition("/")[2], []).append(done)
