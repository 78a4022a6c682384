"""An index of unknown effects by what they cover and mention (target; in previews only)."""

from typing import (
    Callable,
    Dict,
    Iterable,
    Iterator,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from remote_runtime.effects import AnyOf, Below, Covers, Things, UnknownEffect, sources

_Key = Tuple[str, str]
_ALL, _ANYWHERE, _DROPINS = ("all", ""), ("anywhere", ""), ("dropins", "")
_NAMES = ("user", "group", "package", "unit", "path")  # kinds whose value is a name
_WORD = frozenset(chr(code) for code in range(128) if chr(code).isalnum() or chr(code) == "_")
_SPACED = bytes(code if chr(code) in _WORD else ord(" ") for code in range(256))


class UnknownRegion(NamedTuple):
    """Unknown effects since a moment; ``record_read`` excludes later known effects. ``by`` is the
    resource that causes them.
    """

    effect: UnknownEffect
    since: int
    by: str
    position: int


class Read(NamedTuple):
    """A read of a thing, by each of its names, whose value is known as of ``since``."""

    kind: str
    names: Sequence[str]
    present: bool
    since: int

    def depends_on(self, region: UnknownRegion) -> bool:
        """Return whether unknown effects may affect it."""
        covers = region.effect.covers
        return any(covers(self.kind, name, self.present) for name in self.names)


class _Chain(NamedTuple):
    """Regions, the newest first; copies of an index share the older ones."""

    region: UnknownRegion
    older: "Optional[_Chain]"
    length: int


class RegionIndex(object):
    """Unknown regions. A lookup compares only those that probably match, from the newest to the
    first match.
    """

    def __init__(self) -> None:
        self._coverages: Dict[_Key, _Chain] = {}
        self._mentions: Dict[bytes, _Chain] = {}

    def copy(self) -> "RegionIndex":
        """Return an independent copy."""
        other = RegionIndex()
        other._coverages, other._mentions = dict(self._coverages), dict(self._mentions)
        return other

    def add(self, region: UnknownRegion) -> None:
        """Add a region, which is newer than all others."""
        for key in {_ALL, *_keys(region.effect.covers)}:
            self._coverages[key] = _longer(region, self._coverages.get(key))
        for word in _words("%s %s" % (region.by, region.effect.text)):
            self._mentions[word] = _longer(region, self._mentions.get(word))

    def newest(self, read: Read) -> Optional[UnknownRegion]:
        """Return the newest region that may affect a read."""
        chains = map(self._coverages.get, _keys_of_read(read))
        return _newest(chains, read, read.depends_on)

    def newest_naming(self, read: Read) -> Optional[UnknownRegion]:
        """Return the newest region that may affect a read and whose resource mentions the name."""
        names = [name for name in read.names if read.kind in _NAMES]
        if read.kind == "unit":
            names = [name.rpartition(".")[0] or name for name in names]
        return _newest(
            map(self._mentioning, names),
            read,
            lambda region: (
                any(_is_mentioned(n, t) for n in names for t in (region.by, region.effect.text))
                and read.depends_on(region)
            ),
        )

    def _mentioning(self, name: str) -> Optional[_Chain]:
        """Return all regions that mention a name, and others with the same words."""
        chains = [self._mentions.get(word) for word in _words(name)]
        known = [chain for chain in chains if chain is not None]
        return min(known, key=lambda chain: chain.length) if 0 < len(known) == len(chains) else None


def _longer(region: UnknownRegion, chain: Optional[_Chain]) -> _Chain:
    return _Chain(region, chain, 1 if chain is None else chain.length + 1)


def _newest(
    chains: Iterable[Optional[_Chain]], read: Read, matches: Callable[[UnknownRegion], bool]
) -> Optional[UnknownRegion]:
    """Return the newest matching region after the time of a read."""
    found: Optional[UnknownRegion] = None
    for chain in chains:
        while chain is not None:
            region, chain, _ = chain
            if region.since <= read.since or (found and region.position <= found.position):
                break
            if matches(region):
                found = region
                break
    return found


def _keys(covers: Covers) -> Set[_Key]:
    """Return keys of a coverage. Each read that it covers has one of them."""
    if isinstance(covers, AnyOf):
        return {key for part in covers.parts for key in _keys(part)}
    if isinstance(covers, Things):
        return {(kind, value) for kind in covers.kinds for value in covers.values}
    if isinstance(covers, Below):
        return {("below", covers.top), *([_DROPINS] if ".d" in covers.top else ())}
    return {_ANYWHERE}


def _keys_of_read(read: Read) -> Set[_Key]:
    if read.kind in ("host", "space"):
        return {_ALL}
    keys = {_ANYWHERE, *([_DROPINS] if read.kind == "unit" else ())}
    for name in read.names:
        keys.add((read.kind, name))
        for path in sources(read.kind, name):
            keys.update(("below", above) for above in _itself_and_above(path))
    return keys


def _itself_and_above(path: str) -> Iterator[str]:
    yield path
    while path.strip("/"):
        path = path.rpartition("/")[0] or "/"
        yield path


def _words(text: str) -> Set[bytes]:
    return set(text.encode("ascii", "replace").translate(_SPACED).split())


def _is_mentioned(name: str, text: str) -> bool:
    """Return whether a text has a name that is not part of a longer word."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not (text[start - 1 : start] in _WORD or text[end : end + 1] in _WORD):
            return True
        start = text.find(name, start + 1)
    return False
