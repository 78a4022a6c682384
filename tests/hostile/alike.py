"""Hosts that are planned together, on sites of chance, against hosts that are planned alone.

Whoever else is planned, before or beside it, a host gets its own plan, byte for byte; and what the
controller says of a resource that is as desired is what the host itself would have said.
"""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from orchestrator.fleet.checks.event_check import EventCheck, finished
from orchestrator.fleet.checks.unchanged_resources import TextNumbers, check_unchanged, read_line
from orchestrator.fleet.events import ResourcesStable
from orchestrator.manifest import load_site
from orchestrator.planning import Planner, PlanOptions, implied_members, shared_resources
from orchestrator.planning.host_plan import HostPlan
from orchestrator.support import caches
from orchestrator.workers.event_receiver import EventReceiver
from orchestrator.workers.event_sender import EventSender
from remote_runtime.errors import InputError, PlanError, ResourceError
from remote_runtime.plan_item import Item, each_of
from remote_runtime.plans.plan import parse
from remote_runtime.protocol.unchanged_batch import UnchangedBatch, UnchangedEvent
from remote_runtime.reporting.event_reporter import unplanned_of
from remote_runtime.reporting.events import (
    EventMaker,
    Outcome,
    encode_id,
    requested_of,
    secrets_of,
    timestamp_of,
)
from remote_runtime.reporting.masking import Mask
from tests.hostile.drawn_sites import DrawnSite
from tests.hostile.figures import Figures
from tests.orchestrator.planning.planned import FakeHost, gathered

TITLE = "Hosts planned together"
ENVELOPE = {"run_id": "1", "manifest": "m"}
MIN_SITES = 15  # sites
_AT_ONCE = 3


def run(seconds: float, seed: int, now: Callable[[], float] = time.monotonic) -> Figures:
    """Sites until the time is up."""
    until, counts, broken = now() + seconds, Counter[str](), []
    while counts["sites"] < MIN_SITES or now() < until:
        seed += 1
        with tempfile.TemporaryDirectory(prefix="ccm-alike-") as top:
            counts["sites"] += 1
            try:
                found = list(_differences(seed, Path(top), counts))
            except Exception as error:  # a crash is a finding with its seed
                found = [repr(error)]
            broken += [f"seed {seed}: {text}" for text in found]
    return Figures(dict(counts), broken[:20])


def _differences(seed: int, directory: Path, counts: Counter[str]) -> Iterator[str]:
    """What differs on a site."""
    site, draw = DrawnSite(seed), random.Random(seed)
    site.write(directory)
    options = PlanOptions(environ=site.environ)

    def planner() -> Planner:
        return Planner(load_site(directory / "site.yaml"), options)

    try:
        planner()
    except InputError:
        counts["sites refused"] += 1
        return
    alone = {host.name: _plan(planner(), _Sinks(), host, facts) for host, facts in site.hosts}
    for plan in alone.values():
        counts["plans refused" if isinstance(plan, str) else "plans"] += 1
        if not isinstance(plan, str):
            yield from plan["events"]
    with _tight(draw) if site.tight else nullcontext():
        for threads in (1, _AT_ONCE):
            makes, sinks = planner(), _Sinks()
            twice = draw.sample(site.hosts * 2, len(site.hosts) * 2)
            with ThreadPoolExecutor(threads) as pool:
                found = pool.map(partial(_plan, makes, sinks), *zip(*twice, strict=True))
                for (host, _), together in zip(twice, found, strict=True):
                    if together != alone[host.name]:
                        yield f"{host.name}: {together!r:.2000}, alone {alone[host.name]!r:.2000}"
            yield from sinks.lost()


@contextmanager
def _tight(draw: random.Random) -> Iterator[None]:
    """Have little room for what hosts share, so that it is forgotten now and then."""
    with (
        mock.patch.object(shared_resources.SharedResources.__init__, "__defaults__", (9_000,)),
        mock.patch.object(caches.RepeatFilter.__init__, "__defaults__", (draw.choice([1, 4]),)),
        mock.patch.multiple(implied_members, MAX_MASKS=2, MAX_RESOURCES=draw.choice([1, 3])),
    ):
        yield


def _plan(
    planner: Planner, sinks: _Sinks, host: FakeHost, facts: dict[str, Any]
) -> dict[str, Any] | str:
    """All that there is to a host's plan, or why there is none."""
    try:
        plan = planner.plan(host, gathered(json.loads(json.dumps(facts))))
    except PlanError as error:
        return str(error)
    payload = plan.payload(ENVELOPE)
    named = {blob.sha for entry in plan._everything for blob in entry.blobs}
    return {
        "payload": payload,
        "blobs": {sha: b"".join(plan.blob(sha).chunks()) for sha in named},
        "turns": [_turn(plan, item) for item in plan.items if item.deferred_render],
        "registrations": [repr(plan.registrations(each)) for each in plan.identities()],
        "desired": list(plan.desired()),
        "rest": [plan.secrets, plan.warnings, plan.longest(), list(plan.subscriptions())],
        "events": list(sinks.differ(plan, payload, host.name)),
    }


def _turn(plan: HostPlan, item: Item) -> Any:
    def read(path: str) -> bytes:
        if path.endswith("web1"):
            raise ResourceError("it is not there")
        return f"what {path} holds".encode()

    try:
        return plan.render(item.index, read)
    except ResourceError as error:
        return str(error)


class _Sinks:
    """Where the turns of all hosts go: the directory of a run, and a worker's channel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = TextNumbers()
        self._texts: list[str] = []
        self._told: list[list[str]] = []
        self._frames: list[str] = []
        self._outbox = EventSender(mock.Mock(send=self._frames.append))
        self._outbox.start()

    def differ(self, plan: HostPlan, payload: bytes, host: str) -> Iterator[str]:
        """Turns of a host on which all is as desired, that do not come to its events."""
        theirs, message = _told(plan, payload, host)
        if not theirs:
            return
        check = EventCheck(host, "1", planned=plan.identities())
        unchanged, _ = check_unchanged(check, message, plan.implied)
        with self._lock:
            line = unchanged.line(self._numbers)
            self._texts += self._numbers.new
            self._numbers.new.clear()
            self._outbox.handle(ResourcesStable(host, unchanged))
            self._told.append(theirs)
        kept = read_line(line, "1", self._texts.__getitem__)
        for one, ours in (("told", unchanged), ("kept", kept)):
            shown = [text for _, text in ours.events()]
            if shown != theirs:
                yield f"{host}: {one} {shown!r:.2000}, there {theirs!r:.2000}"

    def lost(self) -> Iterator[str]:
        """What comes out of the worker's channel otherwise than it was told, at the end."""
        self._outbox.close()
        received = EventReceiver("1")
        events = map(received.event, "\n".join(self._frames).split("\n") if self._frames else ())
        for told, event in zip(self._told, filter(None, events), strict=True):
            assert isinstance(event, ResourcesStable)
            if [text for _, text in event.unchanged.events()] != told:
                yield f"{event.host}: heard {event!r:.2000}, told {told!r:.2000}"


def _told(plan: HostPlan, payload: bytes, host: str) -> tuple[list[str], dict[str, Any]]:
    """The events of a target on which all is as desired, and the message that stands for them."""
    seen = parse(json.loads(payload))
    mask = Mask()
    for part in (seen, *seen.before):
        mask.add(part.secrets)
        for item in each_of(part.items, managed=True):
            if item.secrets and not item.sensitive:
                mask.add(secrets_of(item))
    maker, batch = EventMaker(mask), UnchangedBatch()
    events: list[str] = []
    for item in each_of(seen.items):
        outcome = Outcome(item)
        outcome.provider = "posix"
        outcome.final_ensure = "another" if item.index % 3 == 0 else requested_of(item)
        said = unplanned_of(outcome, False, maker)
        if (said is None) != (plan.implied(item.index) is None):
            raise ValueError(f"{item.id} is told in another way")
        if said is not None:
            number = (1 << 120) + len(events)
            batch.add(UnchangedEvent(len(events) + 1, number, 1e9, 0, item.index, said))
            event = maker.make(outcome, False, 0.0)
            event["event_id"], event["timestamp"] = encode_id(number), timestamp_of(10**15)
            events.append(finished({**event, "host": host, "run_id": "1"})[1])
    return events, batch.take() if events else {}
