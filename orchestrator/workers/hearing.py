"""What a worker tells becomes the events of the run again (controller)."""

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from orchestrator.fleet import events as happening
from orchestrator.fleet.event_check import ADDED, shape_problem
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.phases import Phase
from orchestrator.fleet.stable_turns import Form, StableGroup, StableTurns, forms_of
from orchestrator.support.plain_text import is_plain_json, plain_value
from orchestrator.workers.telling import MOST_NUMBERED
from remote_runtime.errors import ProtocolError

Told = (
    happening.HostPhase
    | happening.HostPlanned
    | happening.ResourceProgress
    | happening.ResourceEvent
    | happening.ResourcesStable
    | happening.HostNotice
    | happening.HostKept
    | happening.HostFinished
)

_MOST_SHARED = 5_000
_MOST_FORMS = 1_000_000  # all of a host come before it begins anew
_LEVELS = ("info", "warning", "error")
_CONTROL = re.compile("[\x00-\x1f]")
_encode = json.JSONEncoder(separators=(",", ":")).encode


class SharedForms:
    """The forms that workers tell of, each held once however many of them do: that ``of`` a line.
    Thread-safe."""

    def __init__(self) -> None:
        self.of: Callable[[str], Form] = lru_cache(_MOST_SHARED)(Form.read)


class Heard:
    """Reads the lines of one worker, in the order in which they come; see ``telling``.

    ``ValueError``, ``LookupError`` or ``TypeError`` for what is no such line.
    """

    def __init__(self, run_id: str, shared: SharedForms) -> None:
        self._run_id = run_id
        self._shared = shared
        self._forms: list[Form] = []
        self._names: list[happening.HostPlanned] = []

    def event(self, line: str) -> Told | None:
        """The event that a line tells; None for one that tells what plans have in common."""
        kind = line[0]
        if kind in "inc":
            self._learn(kind, line[1:])
            return None
        host, _, text = line[1:].partition("\t")
        if kind == "s":
            return self._stable(host, *text.split("\t"))
        told, text = _plain(text)
        if kind == "p":
            *before, (phase, at) = [(Phase(value), at) for value, at in told]
            return happening.HostPhase(host, phase, at, tuple(before))
        if kind == "e":
            _require_event(told, host)
            return happening.ResourceEvent(host, told, text)
        if kind == "h":
            names: happening.HostPlanned = self._names[told]
            return names._replace(host=host)
        if kind == "d":
            resource, action, at = told
            if type(resource) is not str or type(action) is not str:
                raise TypeError("a resource and what is done to it are texts")
            return happening.ResourceProgress(host, resource, action, float(at))
        if kind == "t":
            level, words, waits = told
            if level not in _LEVELS or type(words) is not str or type(waits) is not bool:
                raise ValueError("a notice is a level, a text and whether the host waits")
            return happening.HostNotice(host, level, words, waits)
        if kind == "k":
            return happening.HostKept(host, told)
        if kind == "f":
            return happening.HostFinished(HostResult.from_record(told))
        raise ValueError(f"no worker tells {kind!r}")

    def _learn(self, kind: str, text: str) -> None:
        """Number what plans have, or begin to count anew."""
        if kind == "i":
            self._forms += map(self._shared.of, _written(text.split("\t")))
        elif kind == "n":
            self._names.append(_planned(*_plain(text)[0]))
        else:
            (self._forms if text == "i" else self._names).clear()
        if len(self._forms) > _MOST_FORMS or len(self._names) > MOST_NUMBERED:
            raise ValueError("it tells of more than it keeps itself")

    def _stable(self, host: str, text: str, *own: str) -> Told:
        number, at, groups = _plain(text)[0]
        found = []
        for (first, told, durations, spans), values in zip(groups, _written(own), strict=True):
            forms = forms_of(spans, len(durations), self._forms.__getitem__)
            group = StableGroup(
                first=first, told=told, durations=durations, forms=forms, own=values
            )
            found.append(group)
        turns = StableTurns(host, self._run_id, number, at, tuple(found))
        return happening.ResourcesStable(host, turns)


def _plain(text: str) -> tuple[Any, str]:
    """What a worker says, and its JSON text, without what acts on a terminal: a worker may be
    anybody's."""
    told = json.loads(text)
    if text.isascii() and is_plain_json(text) and not _CONTROL.search(text):
        return told, text
    try:
        told = plain_value(told)
    except ProtocolError as error:
        raise ValueError(error.message) from error
    return told, _encode(told)


def _written(texts: Iterable[str]) -> list[str]:
    """JSON texts that are kept as they came; ValueError where one of them could end a line."""
    found = list(texts)
    if any(map(_CONTROL.search, found)):
        raise ValueError("JSON text on one line was expected")
    return found


def _require_event(told: Any, host: str) -> None:
    """ValueError for what is no transaction event of the host."""
    problem = "it is not an object"
    if isinstance(told, dict):
        problem = shape_problem({key: told[key] for key in told.keys() - ADDED})
        if not problem and told.get("host", host) != host:
            problem = "it is of another host"
    if problem:
        raise ValueError(f"an event: {problem}")


def _planned(resources: list[str], subscribed: list[Any]) -> happening.HostPlanned:
    pairs = tuple((name, tuple(sources)) for name, sources in subscribed)
    names = (*resources, *(each for name, sources in pairs for each in (name, *sources)))
    if not all(type(name) is str for name in names):
        raise TypeError("the names of resources are texts")
    return happening.HostPlanned("", tuple(resources), pairs)
