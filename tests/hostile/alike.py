"""Hosts that are planned together, on sites of chance, against hosts that are planned alone.

Whoever else is planned, before or beside it, a host gets its own plan, byte for byte; and what the
controller says of a resource that is as desired is what the host itself would have said.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

from orchestrator.manifest import load_site
from orchestrator.planning import Planner, PlanOptions, alike, implications
from orchestrator.planning.host_plan import HostPlan
from orchestrator.support import recurring
from remote_runtime.errors import InputError, PlanError, ResourceError
from remote_runtime.events import EventMaker, Outcome, requested_of, secrets_of
from remote_runtime.expansion import whole_events
from remote_runtime.item import Item, each_of
from remote_runtime.masking import Mask
from remote_runtime.plan import parse
from remote_runtime.telling import told_of
from tests.hostile.drawn_sites import DrawnSite
from tests.hostile.figures import Figures
from tests.orchestrator.planning.planned import FakeHost, gathered

TITLE = "Hosts planned together"
ENVELOPE = {"run_id": "1", "manifest": "m"}
LEAST = 15  # sites
_AT_ONCE = 3


def run(seconds: float, seed: int, now: Callable[[], float] = time.monotonic) -> Figures:
    """Sites until the time is up."""
    until, counts, broken = now() + seconds, Counter[str](), []
    while counts["sites"] < LEAST or now() < until:
        seed += 1
        with tempfile.TemporaryDirectory(prefix="ccm-alike-") as top:
            counts["sites"] += 1
            try:
                found = list(_differences(seed, Path(top), counts))
            except Exception as error:
                found = [repr(error)]
            broken += [f"seed {seed}: {text}" for text in found]
    return Figures(dict(counts), broken[:20])


def _differences(seed: int, folder: Path, counts: Counter[str]) -> Iterator[str]:
    """What differs on a site."""
    site, draw = DrawnSite(seed), random.Random(seed)
    site.write(folder)
    options = PlanOptions(environ=site.environ)

    def planner() -> Planner:
        return Planner(load_site(folder / "site.yaml"), options)

    try:
        planner()
    except InputError:
        counts["sites refused"] += 1
        return
    alone = {host.name: _plan(planner(), host, facts) for host, facts in site.hosts}
    for plan in alone.values():
        counts["plans refused" if isinstance(plan, str) else "plans"] += 1
        if not isinstance(plan, str):
            yield from plan["events"]
    with _tight(draw) if site.tight else nullcontext():
        for threads in (1, _AT_ONCE):
            makes, twice = planner(), draw.sample(site.hosts * 2, len(site.hosts) * 2)
            with ThreadPoolExecutor(threads) as pool:
                found = pool.map(lambda one: _plan(makes, *one), twice)  # noqa: B023 - used at once
                for (host, _), together in zip(twice, found, strict=True):
                    if together != alone[host.name]:
                        yield f"{host.name}: {together!r:.2000}, alone {alone[host.name]!r:.2000}"


@contextmanager
def _tight(draw: random.Random) -> Iterator[None]:
    """Have little room for what hosts share, so that it is forgotten now and then."""
    with (
        mock.patch.object(alike.AlikeResources.__init__, "__defaults__", (9_000,)),
        mock.patch.object(recurring.Recurring.__init__, "__defaults__", (draw.choice([1, 4]),)),
        mock.patch.multiple(implications, MOST_MASKS=2, MOST_RESOURCES=draw.choice([1, 3])),
    ):
        yield


def _plan(planner: Planner, host: FakeHost, facts: dict[str, Any]) -> dict[str, Any] | str:
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
        "events": list(_events_that_differ(plan, payload)),
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


def _events_that_differ(plan: HostPlan, payload: bytes) -> Iterator[str]:
    """Events of resources that are as desired, made here otherwise than on the target."""
    seen = parse(json.loads(payload))
    mask = Mask(seen.secrets)
    for item in each_of(seen.items, managed=True):
        if item.secrets and not item.sensitive:
            mask.add(secrets_of(item))
    maker = EventMaker(mask)
    for item in each_of(seen.items):
        implied = plan.implied(item.index)
        if implied is None:
            assert not item.implied
            continue
        for final in (requested_of(item), "another"):
            outcome = Outcome(item)
            outcome.provider, outcome.final_ensure = "posix", final
            told = told_of(outcome, False, maker)
            assert told is not None
            theirs = maker.make(outcome, False, 0.5)
            groups = [(told.members(), [theirs["duration"]], [json.loads(implied.text)])]
            (ours,) = whole_events(1 << 120, 10**15, groups)
            own = {key: theirs[key] for key in ("event_id", "timestamp")}
            if json.dumps({**ours, **own}) != json.dumps(theirs) or (
                implied.members != json.loads(implied.text)
            ):
                yield f"{ours!r} here, {theirs!r} there"
