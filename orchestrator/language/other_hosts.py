"""The data of other hosts in the templates of one host, for every language (controller)."""

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from orchestrator.language.errors import OtherFactsError, UnavailableFamilyError
from orchestrator.language.facts import Facts

FACTS = "facts"
GATHERED = "gathered"
OF_FACTS = (FACTS, GATHERED)
"""The keys of a host whose facts are known."""
_MAX_UNPACKED = 32


class ReadOnlyMap(dict[str, Any]):
    """A map that all hosts of a run share, so templates cannot change it."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("Groups and Hosts cannot be changed")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: Any) -> "ReadOnlyMap":
        return self


class OtherFacts(Facts, ReadOnlyMap):
    """The facts of another host; reading a family that it could not gather raises an error."""

    def __init__(self, name: str, facts: Mapping[str, Any], unavailable: Mapping[str, str]) -> None:
        super().__init__(facts, unavailable)
        self._name = name

    def refuse(self, key: object) -> None:
        """Raise FactsUnavailableError if ``key`` is a family that was not gathered."""
        if self.unavailable and key in self.unavailable:
            raise UnavailableFamilyError(self._name, str(key), self.unavailable[str(key)])


class Members(list[str]):
    """The names of a group's hosts, in the order of the inventory."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self._all = frozenset(self)

    def __contains__(self, name: object) -> bool:
        try:
            return name in self._all
        except TypeError:  # a list or a map
            return False


class PackedFacts(NamedTuple):
    """The facts of one host, and the moment (UTC) at which they were ``gathered``.

    They must be small, because a run may store those of thousands of hosts.
    """

    gathered: str
    data: bytes

    @classmethod
    def of(
        cls, gathered: str, facts: Mapping[str, Any], unavailable: Mapping[str, str] | None = None
    ) -> "PackedFacts":
        """The facts of a host as JSON, with the families that it could not gather and
        the reasons.
        """
        text = json.dumps([facts, dict(unavailable or {})])
        return cls(gathered, zlib.compress(text.encode("ascii"), 1))

    def unpacked(self, name: str) -> OtherFacts:
        """The facts themselves, of the host of this name."""
        facts, unavailable = json.loads(zlib.decompress(self.data))
        return OtherFacts(name, read_only(facts), unavailable)


class FactsOfHosts:
    """The available facts of other hosts in a run, and the reasons why others are missing.
    Thread-safe.

    ``read`` are the hosts whose facts a template has read.
    """

    def __init__(self) -> None:
        self.known: dict[str, PackedFacts] = {}
        self.reasons: dict[str, str] = {}
        self.read: dict[str, None] = {}
        self._unpacked: dict[str, OtherFacts] = {}

    def of(self, name: str) -> OtherFacts | None:
        """The facts of a host; None if they are not known."""
        self.read[name] = None
        facts = self._unpacked.get(name)
        if facts is None and name in self.known:
            facts = self.known[name].unpacked(name)
            if len(self._unpacked) >= _MAX_UNPACKED:
                self._unpacked = {}
            self._unpacked[name] = facts
        return facts

    def unavailable(self, name: str) -> OtherFactsError:
        """The error for a template that reads the facts of a host whose facts are not known."""
        reason = self.reasons.get(name, f"none are stored; 'ccm facts -l {name}' gathers them")
        return OtherFactsError(name, reason)


class OtherHost(ReadOnlyMap):
    """One host of the inventory: ``name``, ``address``, ``groups`` and ``vars``.

    ``facts`` and ``gathered`` exist if its facts are known; they are only accessed by name.
    """

    def __init__(self, about: Mapping[str, Any], facts: FactsOfHosts) -> None:
        super().__init__(read_only(about))
        self._facts = facts

    def __contains__(self, key: object) -> bool:
        if key in OF_FACTS:
            return self._of_facts(str(key)) is not None
        return super().__contains__(key)

    def __missing__(self, key: str) -> Any:
        if key not in OF_FACTS:
            raise KeyError(key)
        found = self._of_facts(key)
        if found is None:
            raise self.unavailable()
        return found

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        try:
            return self[key]
        except (KeyError, OtherFactsError):
            return default

    def unavailable(self) -> OtherFactsError:
        """The error for reading unknown facts."""
        return self._facts.unavailable(dict.__getitem__(self, "name"))

    def _of_facts(self, key: str) -> Any:
        name = dict.__getitem__(self, "name")
        if key == FACTS:
            return self._facts.of(name)
        known = self._facts.known.get(name)
        return known.gathered if known else None


def read_only(value: Any) -> Any:
    """A copy of a tree whose maps cannot be changed."""
    if isinstance(value, Mapping):
        return ReadOnlyMap({key: read_only(below) for key, below in value.items()})
    if isinstance(value, list | tuple):
        return [read_only(below) for below in value]
    return value
