"""A fleet without hosts: links whose other end is a scripted runtime in a thread."""

import hashlib
import json
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from orchestrator.fleet.checks.unchanged_resources import PlannedFields, UnchangedResources
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.events import Event
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.interfaces import FileReceiver, OnPhase
from orchestrator.fleet.run_settings import RunSettings
from remote_runtime.errors import UnreachableError
from remote_runtime.protocol import wire
from remote_runtime.reporting.events import EventIds

NONCE, RUNTIME = "n0nce", "ab" * 32
SETTINGS = RunSettings("run-1", "alice@desk")


class FakeHost(NamedTuple):
    """A host of no inventory."""

    name: str
    vars: Mapping[str, Any] = MappingProxyType({})


class FakeLink:
    """A link; ``other`` runs the far end in a thread and is given the far end."""

    def __init__(self, other: Callable[["FarEnd"], Any]) -> None:
        self.nonce, self.runtime, self.host_key = NONCE, RUNTIME, ""
        self.login_keys: tuple[str, ...] = ()
        self._inbox: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._outbox: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self.closed = threading.Event()
        self.largest_send = 0
        far = FarEnd(self._inbox, self._outbox, self.closed)
        self._thread = threading.Thread(target=self._play, args=(other, far), daemon=True)
        self._thread.start()

    def _play(self, other: Callable[["FarEnd"], Any], far: "FarEnd") -> None:
        try:
            other(far)
        except HungUpError:
            return
        finally:
            far.end()

    def send(self, data: bytes) -> None:
        self.largest_send = max(self.largest_send, len(data))
        while not self.closed.is_set():
            try:
                return self._inbox.put(data, timeout=0.05)
            except queue.Full:
                continue
        raise UnreachableError("closed")

    def receive(self, timeout: float) -> bytes:
        if self.closed.is_set():
            return b""
        try:
            return self._outbox.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None

    def stderr_tail(self) -> str:
        return "last words\x1b[2J"

    def close(self) -> None:
        self.closed.set()


class HungUpError(Exception):
    """The controller closed the link."""


class FarEnd:
    """The runtime's side of a fake link."""

    def __init__(
        self, inbox: "queue.Queue[bytes]", outbox: "queue.Queue[bytes]", closed: threading.Event
    ) -> None:
        self._inbox, self._outbox, self._closed = inbox, outbox, closed
        self._decoder = wire.Decoder(wire.MAX_FROM_CONTROLLER)
        self._frames: list[wire.Frame] = []
        self.seen: list[str] = []

    def say(self, kind: str, **members: Any) -> None:
        self.raw(wire.encode({"t": kind, **members}))

    def raw(self, data: bytes) -> None:
        while not self._closed.is_set():
            try:
                return self._outbox.put(data, timeout=0.05)
            except queue.Full:
                continue
        raise HungUpError

    def end(self) -> None:
        while not self._closed.is_set():
            try:
                return self._outbox.put(b"", timeout=0.05)
            except queue.Full:
                continue

    def hear(self) -> wire.Frame:
        """The next frame of the controller."""
        while not self._frames:
            if self._closed.is_set():
                raise HungUpError
            try:
                self._frames += self._decoder.feed(self._inbox.get(timeout=0.05))
            except queue.Empty:
                continue
        frame = self._frames.pop(0)
        self.seen.append("bytes" if isinstance(frame, bytes) else frame["t"])
        return frame

    def await_message(self, kind: str) -> dict[str, Any]:
        """The next message of that kind; others are passed over."""
        while True:
            frame = self.hear()
            if not isinstance(frame, bytes) and frame["t"] == kind:
                return frame

    def greet_as(self, changed: Mapping[str, Any]) -> None:
        """The hello alone."""
        hello = {"protocol": wire.PROTOCOL, "nonce": NONCE, "runtime": RUNTIME}
        who = {"python": "3.11", "pid": 1, "user": "root", "uid": 0}
        self.say("hello", **{**hello, **who, **changed})

    def greet(self, **changed: Any) -> None:
        self.greet_as(changed)
        self.say("facts", facts={"host": {"info": {"os": "linux"}}})

    def carry_out_plan(self) -> dict[str, Any]:
        """Greet, and send one event for each resource of the plan."""
        self.greet()
        plan = self.await_message("plan")
        self.finish(plan)
        return plan

    def finish(self, plan: dict[str, Any]) -> None:
        """One event for each resource of the plan, and the last frame."""
        self.send_events(plan)
        self.say("done", events=len(plan["resources"]), cancelled=False)

    def send_events(self, plan: dict[str, Any]) -> None:
        ids = EventIds()
        for seq, item in enumerate(plan["resources"], 1):
            event = make_event(item["type"], item["name"], event_id=ids.next())
            self.say("event", seq=seq, event=event)


def make_event(kind: str = "file", name: str = "/etc/motd", **changed: Any) -> dict[str, Any]:
    """A transaction event as a target sends it."""
    event: dict[str, Any] = {
        "protocol": "io.choria.ccm.v1.transaction.event",
        "event_id": "01J0000000000000000000000A",
        "timestamp": "2026-03-14T09:15:02.000001Z",
        "type": kind,
        "name": name,
        "provider": "posix",
        "requested_ensure": "present",
        "final_ensure": "present",
        "duration": 1_000_000,
        "properties": {"ensure": "present", "mode": "0644"},
        "status": "stable",
        "changes": [],
        "error": [],
        "changed": False,
        "refreshed": False,
        "failed": False,
        "skipped": False,
        "noop": False,
        "unmet_requirements": [],
    }
    if "status" in changed and changed["status"] != "stable":
        event[changed["status"]] = True
    return {**event, **changed}


class FakeBlob:
    """Bytes of a plan, made as they are read."""

    def __init__(self, size: int) -> None:
        self.size = size

    def chunks(self) -> Iterator[bytes]:
        left = self.size
        while left:
            step = min(left, 300_000)
            yield bytes(step)
            left -= step


def file_text(name: str, **properties: Any) -> str:
    """The JSON text of what a plan says of a file, in an event of it."""
    implied = {"type": "file", "name": name, "requested_ensure": "present"}
    properties = {"ensure": "present", **properties}
    return json.dumps({**implied, "properties": properties}, separators=(",", ":"))


def unchanged(host: str, *names: str) -> UnchangedResources:
    """Files that are as desired."""
    return UnchangedResources(
        host, "20260314T091502Z-aaaaaa", 1 << 100, 1795390122775418,
        noop=False, prediction="", rows=[[at, 7, "posix"] for at in range(len(names))],
        implied=tuple(map(file_text, names)),
    )  # fmt: skip


def file_names(turns: UnchangedResources) -> list[str]:
    """Of which resources their events are."""
    return [event["name"] for event, _ in turns.events()]


class FakePlan:
    """A plan of files; ``blobs`` by hash."""

    def __init__(
        self,
        names: list[str],
        blobs: Mapping[str, FakeBlob] | None = None,
        fail_on_error: bool = False,
    ) -> None:
        self.names = names
        self.known = [PlannedFields(file_text(name), True) for name in names]
        self.fail_on_error = fail_on_error
        self.blobs = blobs or {}
        self.warnings: list[str] = []
        self.secrets: list[str] = []
        self.seconds = 0.0
        self.rounds = 1
        self.previews = False
        self.before = 0
        self.observes = False
        self.incoming: FileReceiver | None = None
        self.to_keep: list[Mapping[str, Any]] = []

    def identities(self) -> Iterator[str]:
        return (f"file#{name}" for name in self.names)

    def subscriptions(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return iter(())

    def members(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return iter(())

    def requirements(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return iter(())

    def registrations(self, identity: str) -> Sequence[Mapping[str, Any]]:
        return ()

    def place(self, identity: str) -> str:
        return f"site.yaml:{self.names.index(identity.removeprefix('file#')) + 4}:11"

    def misprediction(self, event: Mapping[str, Any]) -> str | None:
        return None

    def kept(self) -> Mapping[str, Any] | None:
        return self.to_keep.pop(0) if self.to_keep else None

    def implied(self, index: int) -> PlannedFields | None:
        return self.known[index]

    def references(self) -> int:
        return len(self.blobs)

    @property
    def total(self) -> int:
        return len(self.names) + self.before

    def longest(self) -> float:
        return self.seconds

    def payload(self, envelope: Mapping[str, Any]) -> bytes:
        resources = [{"type": "file", "name": name} for name in self.names]
        return json.dumps({"t": "plan", **envelope, "resources": resources}).encode()

    def blob(self, sha: str) -> FakeBlob:
        return self.blobs[sha]

    def render(self, index: int, read: Callable[[str], bytes]) -> dict[str, Any]:
        return {"content": read("/etc/source").decode() + str(index)}


class FakePlanner:
    """Gives every host the same plan."""

    def __init__(
        self,
        names: list[str],
        blobs: Mapping[str, FakeBlob] | None = None,
        secrets: Sequence[str] = (),
        fail_on_error: bool = False,
        longest: float = 0.0,
        rounds: int = 1,
        before: int = 0,
        incoming: FileReceiver | None = None,
        previews: bool = False,
    ) -> None:
        self._incoming, self._previews = incoming, previews
        self._before = before
        self._names, self._blobs, self._secrets = names, blobs, secrets
        self._fail_on_error, self._longest, self._rounds = fail_on_error, longest, rounds

    def plan(self, host: FakeHost, gathered: HostFacts) -> FakePlan:
        plan = FakePlan(self._names, self._blobs, self._fail_on_error)
        plan.secrets += self._secrets
        plan.seconds = self._longest
        plan.rounds = self._rounds
        plan.previews = self._previews or self._rounds > 1
        plan.before = self._before
        plan.incoming = self._incoming
        return plan


class FakeConnector:
    """Opens fake links: ``scripts`` by host, ``script`` for the others."""

    def __init__(
        self,
        script: Callable[[FarEnd], Any] = FarEnd.carry_out_plan,
        scripts: Mapping[str, Callable[[FarEnd], Any]] | None = None,
        patience: float = 600.0,
    ) -> None:
        self._script, self._scripts, self._patience = script, scripts or {}, patience
        self.links: dict[str, FakeLink] = {}

    def open(self, host: FakeHost, on_phase: OnPhase, until: float | None = None) -> FakeLink:
        on_phase(Phase.CONNECTING)
        on_phase(Phase.AUTHENTICATING)
        script = self._scripts.get(host.name, self._script)
        link = self.links[host.name] = FakeLink(script)
        return link

    def patience(self, host: Any) -> float:
        return self._patience


class Recorder:
    """Subscriber that keeps everything."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def handle(self, event: Event) -> None:
        self.events.append(event)

    def close(self) -> None:
        pass

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def recorded_bus() -> tuple[Bus, Recorder]:
    """A bus and what it delivers."""
    recorder = Recorder()
    return Bus([recorder]), recorder


def sha_of(text: str) -> str:
    """A name for a blob."""
    return hashlib.sha256(text.encode()).hexdigest()
