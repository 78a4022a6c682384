"""What earlier actions of a preview may do that nobody can tell (target)."""

from typing import Callable, Dict, List, NamedTuple

from remote_runtime.effects import Doubt, Fog


class Cloud(NamedTuple):
    """Fog since a moment; ``heed`` leaves out what is known of later ones."""

    fog: Fog
    since: int


class Elsewhere(NamedTuple):
    """What was done at a path that ends so, wherever a link had led that stood at ``link``, which
    was not above itself; ``whole``: to all below.
    """

    link: str
    tail: str
    whole: bool
    doubt: Doubt
    since: int

    def covers(self, path: str) -> bool:
        """Whether a path may be meant."""
        if self.whole:
            return ("/" + self.tail + "/") in (path + "/").partition("/")[2]
        folder = path[: -len(self.tail) - 1]
        inside = path.endswith("/" + self.tail) and bool(folder)
        return inside and not self.link.startswith(folder + "/")


def _nowhere(path: str) -> List[str]:
    return []


class Clouds(object):
    """All fog there is. ``note`` is told of the doubt over each thing that is read; ``others`` are
    the other paths at which the same thing is seen.
    """

    def __init__(
        self, note: Callable[[Doubt], None], others: Callable[[str], List[str]] = _nowhere
    ) -> None:
        self._note = note
        self._others = others
        self._all: List[Cloud] = []
        self._elsewhere: Dict[str, List[Elsewhere]] = {}  # by the last part of the tail

    def __bool__(self) -> bool:
        return bool(self._all)

    def copy(self) -> "Clouds":
        """The same, to go on by itself."""
        other = Clouds(self._note, self._others)
        other._all = list(self._all)
        other._elsewhere = {name: list(found) for name, found in self._elsewhere.items()}
        return other

    def add(self, fog: Fog, since: int) -> None:
        """There is fog from this moment on."""
        self._all.append(Cloud(fog, since))

    def heed(self, kind: str, value: str, present: bool, since: int = 0) -> None:
        """Note the doubt over something that is read, which is known as of ``since``."""
        places = [value]
        if kind == "path" and self._all:
            places += self._others(value)
        for cloud in self._all:
            covers = cloud.fog.covers
            if cloud.since > since and any(covers(kind, place, present) for place in places):
                self._note(cloud.fog.doubt)
        if kind == "path" and self._elsewhere:
            for name in value.split("/"):
                for other in self._elsewhere.get(name, ()):
                    if other.since > since and other.covers(value):
                        self._note(other.doubt)

    def over(self, path: str, present: bool, since: int) -> bool:
        """Whether a path is in fog, without a note."""
        clouds = (cloud for cloud in self._all if cloud.since > since)
        return any(cloud.fog.covers("path", path, present) for cloud in clouds)

    def add_elsewhere(self, done: Elsewhere) -> None:
        """Something was done at a path below one of which nobody knows where it leads."""
        self._elsewhere.setdefault(done.tail.rpartition("/")[2], []).append(done)
