"""Turns the messages of a worker into events of the run (controller)."""

import json
import re
import sys
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.event_check import ADDED, shape_problem
from orchestrator.fleet.checks.unchanged_resources import read_unchanged
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult
from orchestrator.support.plain_text import is_plain_json, plain_value
from orchestrator.workers.event_sender import MAX_NUMBERED
from remote_runtime.errors import ProtocolError

DecodedEvent = (
    run_events.HostPhase
    | run_events.HostPlanned
    | run_events.ResourceProgress
    | run_events.ResourceEvent
    | run_events.ResourcesStable
    | run_events.HostNotice
    | run_events.HostPlanPart
    | run_events.HostFinished
)

_MAX_TEXTS = 1_000_000  # all messages of a host come before it restarts
_OF_PLAN = frozenset(["type", "name", "properties"])
_LEVELS = ("info", "warning", "error")
_CONTROL = re.compile("[\x00-\x1f]")
_encode = json.JSONEncoder(separators=(",", ":")).encode


class EventReceiver:
    """Reads the lines of one worker in order; see ``event_sender``.

    ``ValueError``, ``LookupError`` or ``TypeError`` for an invalid line.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._texts: list[str] = []
        self._names: list[run_events.HostPlanned] = []

    def event(self, line: str) -> DecodedEvent | None:
        """Return the event in a line; None for a line that defines shared parts of plans."""
        kind = line[0]
        if kind in "inc":
            self._learn(kind, line[1:])
            return None
        host, _, text = line[1:].partition("\t")
        if kind == "s":
            told = _plain(text)[0]
            unchanged = read_unchanged(host, self._run_id, told, self._texts.__getitem__)
            return run_events.ResourcesStable(host, unchanged)
        told, text = _plain(text)
        if kind == "p":
            *before, (phase, at) = [(Phase(value), at) for value, at in told]
            return run_events.HostPhase(host, phase, at, tuple(before))
        if kind == "e":
            _require_event(told, host)
            return run_events.ResourceEvent(host, told, text)
        if kind == "h":
            names: run_events.HostPlanned = self._names[told]
            return names._replace(host=host)
        if kind == "d":
            resource, action, at = told
            if type(resource) is not str or type(action) is not str:
                raise TypeError("resource and action must be strings")
            return run_events.ResourceProgress(host, resource, action, float(at))
        if kind == "t":
            level, words, waits = told
            if level not in _LEVELS or type(words) is not str or type(waits) is not bool:
                raise ValueError(
                    "a notice must have a level, text and a flag that shows whether the host waits"
                )
            return run_events.HostNotice(host, level, words, waits)
        if kind == "k":
            _require_plan_part(told)
            return run_events.HostPlanPart(host, told)
        if kind == "f":
            return run_events.HostFinished(HostResult.from_record(told))
        raise ValueError(f"a worker cannot report {kind!r}")

    def _learn(self, kind: str, text: str) -> None:
        """Number shared parts of plans, or restart the numbering."""
        if kind == "i":
            # The controller stores equal parts of several workers once.
            self._texts += map(_implied, text.split("\t"))
        elif kind == "n":
            self._names.append(_planned(*_plain(text)[0]))
        else:
            (self._texts if text == "i" else self._names).clear()
        if len(self._texts) > _MAX_TEXTS or len(self._names) > MAX_NUMBERED:
            raise ValueError("too many strings or names")


def _plain(text: str) -> tuple[Any, str]:
    """A value from a worker with its JSON text, without control characters: workers are
    not trusted.
    """
    told = json.loads(text)
    if text.isascii() and is_plain_json(text) and not _CONTROL.search(text):
        return told, text
    try:
        told = plain_value(told)
    except ProtocolError as error:
        raise ValueError(error.message) from error
    return told, _encode(told)


def _implied(text: str) -> str:
    """The JSON text of implied members, stored unchanged; ValueError if it is invalid or could end
    a line.
    """
    if _CONTROL.search(text):
        raise ValueError("expected JSON on one line")
    told = json.loads(text)
    if type(told) is not dict or not told.keys() >= _OF_PLAN:
        raise ValueError("expected the plan's data of a resource")
    return sys.intern(text)


def _require_event(message: Any, host: str) -> None:
    """ValueError if it is not a transaction event of the host."""
    problem = "it is not an object"
    if isinstance(message, dict):
        problem = shape_problem({key: message[key] for key in message.keys() - ADDED})
        if not problem and message.get("host", host) != host:
            problem = "it belongs to another host"
    if problem:
        raise ValueError(f"an event: {problem}")


def _require_plan_part(message: Any) -> None:
    """Raise ValueError or TypeError unless it is facts or a part of a plan."""
    if type(message) is not dict:
        raise TypeError("the plan's data must be an object")
    if "facts" in message:
        return
    texts = [*message["files"], *message.get("secrets", ())]
    for name, digest, secret in message.get("items", ()):
        bytes.fromhex(secret)
        texts += [name, digest]
    if not all(type(text) is str for text in texts) or type(message.get("host", {})) is not dict:
        raise TypeError("the plan's data must consist of strings")
    if "host" in message and not {"items", "secrets"} <= message.keys():
        raise ValueError("the plan's data must have items and secrets")


def _planned(resources: list[str], *links: list[Any]) -> run_events.HostPlanned:
    subscribed, required, applied = (
        tuple((name, tuple(others)) for name, others in found) for found in links
    )
    pairs = (*subscribed, *required, *applied)
    named = (each for name, others in pairs for each in (name, *others))
    if not all(type(name) is str for name in (*resources, *named)):
        raise TypeError("resource names must be strings")
    return run_events.HostPlanned("", tuple(resources), subscribed, required, applied)
