"""A stand-in for a host: what it says is what was recorded, for the run and the name that it has.

What belongs to one run comes from what it is sent: the nonce and the hash of the runtime from the
command; the time and the ids of events are those of now. The plan is held against the one that was
recorded, with the files of this host's name in it: a stand-in says that it is as desired only if
that is what is asked for.
"""

import copy
import hashlib
import ipaddress
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from remote_runtime.protocol import wire
from remote_runtime.reporting.events import EventIds

from .replay import Recording
from .workload import content

LOGIN, START, RUN = "hangs at the login", "hangs at the start", "hangs in the run"
SLOW = "is slow"
# Of one run only.
_OF_RUN = ("run_id", "user", "login_keys", "manifest", "digest", "origin", "receipt", "recall")
_FIRST = int(ipaddress.IPv4Address("127.1.0.0"))


def name_of(number: int) -> str:
    """The name of a stand-in."""
    return f"host{number:05}"


def address_of(number: int) -> str:
    """Its address, of which this machine has sixteen million."""
    return str(ipaddress.IPv4Address(_FIRST + number))


def number_at(address: str) -> int:
    """The number of the stand-in that has an address."""
    return int(ipaddress.IPv4Address(address)) - _FIRST


class Part(NamedTuple):
    """What there is to say and to be asked: the messages that were recorded."""

    hello: dict[str, Any]
    facts: dict[str, Any]
    answer: list[dict[str, Any]]
    plan: dict[str, Any]

    @classmethod
    def of(cls, recording: Recording) -> "Part":
        """Read the frames of a recording."""
        hello, facts = _messages(recording.greeting)
        (plan,) = _messages(recording.plan)
        return cls(hello, facts, _messages(recording.answer), plan)

    def asks(self, plan: dict[str, Any], name: str) -> bool:
        """Whether a plan is the one that was recorded, for a host of this name; by any user."""
        own = {key: plan[key] for key in _OF_RUN if key in plan}
        resources = [
            {**one, "properties": {**one["properties"], "content": _blob(number, name)}}
            for number, one in enumerate(self.plan["resources"])
        ]
        return plan == {**self.plan, **own, "resources": resources}

    def facts_of(self, name: str) -> dict[str, Any]:
        """The facts of a host of this name."""
        facts: dict[str, Any] = copy.copy(self.facts)
        host = facts["facts"]["host"]
        own = {**host, "info": {**host["info"], "hostname": name}}
        facts["facts"] = {**facts["facts"], "host": own}
        return facts


def _messages(data: bytes) -> list[Any]:
    frames = wire.Decoder(wire.MAX_FROM_CONTROLLER).feed(data)
    return [frame for frame in frames if frame != {"t": "ping"}]


def _blob(number: int, name: str) -> dict[str, Any]:
    text = "".join(f"{line}\n" for line in content(number, name)).encode()
    return {"$blob": hashlib.sha256(text).hexdigest(), "size": len(text)}


class Conversation:
    """The host's side of one; ``say`` sends, ``end`` gives the exit status."""

    def __init__(
        self,
        part: Part,
        name: str,
        command: str,
        *,
        say: Callable[[bytes], None],
        end: Callable[[int], None],
    ) -> None:
        self._part, self._name = part, name
        self._say, self._end = say, end
        self._decoder = wire.Decoder(wire.MAX_FROM_CONTROLLER)
        self._due: list[dict[str, Any]] = []
        # shell, -c, text, name of the shell come first; see orchestrator/transport/start_command.py
        self._nonce, self._runtime = command.strip("'").split("' '")[4:6]

    def start(self) -> None:
        """Be ready, and say who it is."""
        hello = {**self._part.hello, "nonce": self._nonce, "runtime": self._runtime}
        ready = f"{wire.PROTOCOL} {self._nonce} ready \n".encode()
        self._say(ready + wire.encode(hello) + wire.encode(self._part.facts_of(self._name)))

    def hear(self, data: bytes) -> bool:
        """Take what the controller says; whether an answer is due."""
        for message in self._decoder.feed(data):
            if not isinstance(message, bytes) and message["t"] == "plan":
                self._due = self._answer(message)
                return True
        return False

    def answer(self) -> None:
        """Give the answer that is due."""
        self._say(b"".join(map(wire.encode, self._due)))
        self._end(0)

    def _answer(self, plan: dict[str, Any]) -> list[dict[str, Any]]:
        if not self._part.asks(plan, self._name):
            error = {"kind": "plan", "message": "this stand-in plays another plan than this one"}
            return [{"t": "done", "events": 0, "cancelled": False, "error": error}]
        own = {"id": EventIds().advance(), "at": int(time.time() * 1e6)}
        told = []
        for message in self._part.answer:
            if message["t"] == "stable":
                told.append({**message, **own})
                lasted = [row[1] for row in message["rows"]]
                own = {"id": own["id"] + len(lasted), "at": own["at"] + sum(lasted) // 1000}
            else:
                told.append(message)
        return told
