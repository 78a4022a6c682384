"""Runs a scenario: a new host, set up, previewed, compared, pushed and pushed again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from tests.lab import Host, Lab, LabError
from tests.push.command import Ccm, Run

from . import fingerprint
from .judging import (
    WRONG,
    Event,
    Verdict,
    judge,
    moved_again,
    not_as_meant,
    told_in_vain,
    told_to_undo,
)
from .scenario import Scenario
from .template import PRELUDE, Template, put_npm

_PLAN = "kept.plan"
_PREDICTED = ("changed", "stable", "failed", "skipped")


@dataclass
class Result:
    """What came of a scenario: a verdict for each resource, and what else did not hold."""

    scenario: Scenario
    verdicts: list[Verdict] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    """What the preview changed on a host."""
    unstable: list[str] = field(default_factory=list)
    """What the second push did."""
    in_vain: list[str] = field(default_factory=list)
    """Contradictions that are told and are none."""
    undone: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of resources that the preview says undo each other."""
    again: list[str] = field(default_factory=list)
    """Resources that the second push changed or that failed in it."""
    broken: list[str] = field(default_factory=list)
    """Why the scenario is not what it is meant to be."""

    def faults(self) -> list[str]:
        """What the corpus does not let pass, but for what is said of each resource."""
        return [
            *(f"{v.host}: {v.resource}: certain and wrong" for v in self.wrong()),
            *(f"the preview changed {line}" for line in self.touched),
            *(f"the second push: {line}" for line in self.unstable),
            *(f"the preview: {line}" for line in self.in_vain),
            *(f"the scenario: {line}" for line in self.broken),
        ]

    def wrong(self) -> list[Verdict]:
        """Certain predictions that did not come true, and could have been known."""
        return [verdict for verdict in self.verdicts if verdict.kind == WRONG]


class Corpus:
    """Two hosts that take turns. Use it in a ``with`` block; ``run`` may be called often.

    ``kept``: the preview is kept as a plan, and that is pushed.
    """

    def __init__(self, workers: int = 2, *, kept: bool = False) -> None:
        self._workers = workers
        self._kept = kept
        self._template = Template()
        names = [f"web{number + 1}" for number in range(max(workers, 2))]
        self._lab = Lab(names=names, prepare=dict.fromkeys(names, self._template.put))
        self._free: SimpleQueue[Host] = SimpleQueue()

    def __enter__(self) -> Corpus:
        self._directory = Path(tempfile.mkdtemp(prefix="ccm-preview-"))
        scratch = self._directory / "template"
        scratch.mkdir()
        self._lab.__enter__()
        try:
            self._template.take(self._lab, self._ccm(scratch), self._directory)
        except BaseException:
            self.close()
            raise
        for host in self._lab.hosts.values():
            self._free.put(host)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the hosts."""
        self._lab.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Result]:
        """Run scenarios, as many at once as there are workers; results come as they are there."""
        alone = [scenario for scenario in scenarios if scenario.second is None]
        with ThreadPoolExecutor(self._workers) as pool:
            yield from pool.map(self._one, alone)
        for scenario in scenarios:
            if scenario.second is not None:
                yield self._one(scenario)

    def _one(self, scenario: Scenario) -> Result:
        count = 1 if scenario.second is None else 2
        with self._borrowed(count) as hosts:
            try:
                return self._play(scenario, hosts)
            except (LabError, AssertionError) as error:
                return Result(scenario, broken=[str(error)])

    @contextmanager
    def _borrowed(self, count: int) -> Iterator[list[Host]]:
        hosts = sorted((self._free.get() for _ in range(count)), key=lambda host: host.name)
        try:
            yield hosts
        finally:
            for host in hosts:
                self._free.put(host)

    def _ccm(self, scratch: Path) -> Ccm:
        """A command line in a directory; what it keeps of its runtime is the same for all."""
        return Ccm(scratch, {"XDG_CACHE_HOME": str(self._directory / "cache")})

    def _play(self, scenario: Scenario, hosts: list[Host]) -> Result:
        result = Result(scenario)
        for host, setup in zip(hosts, [scenario.setup, scenario.second or ""]):
            host.reset()
            if scenario.npm:
                put_npm(host.root)
            host.run(PRELUDE + setup, timeout=120)
        with tempfile.TemporaryDirectory(dir=self._directory) as scratch:
            ccm = self._ccm(Path(scratch))
            pushes = _Pushes(
                scenario,
                ccm,
                self._lab.inventory(ccm.scratch / "hosts.yaml", **scenario.connect),
                hosts,
            )
            result.broken += pushes.run_earlier()
            before = [fingerprint.look(host) for host in hosts]
            preview = pushes.plan() if self._kept else pushes.run("--noop")
            for host, was in zip(hosts, before):
                result.touched += fingerprint.differing(
                    was, fingerprint.look(host), scenario.touches
                )
            push = pushes.run_plan() if self._kept else pushes.run()
            again = pushes.run()
        if not push.events:
            raise AssertionError(f"nothing was pushed: {push.output}")
        result.verdicts = judge(scenario, _judged(preview.events), _judged(push.events))
        result.unstable = moved_again(scenario, again.events)
        result.broken += not_as_meant(scenario, push.events)
        result.undone = told_to_undo(preview.output)
        result.in_vain = told_in_vain(result.undone, scenario.again)
        result.again = [
            f"{event['type']}#{event['name']}"
            for event in again.events
            if event["status"] in ("changed", "failed")
        ]
        return result


class _Pushes:
    """The pushes of one scenario, from a directory of its own."""

    def __init__(self, scenario: Scenario, ccm: Ccm, inventory: Path, hosts: list[Host]) -> None:
        self._scenario = scenario
        self._ccm = ccm
        self._directory = ccm.scratch / "site"
        self._inventory = inventory
        self._hosts = hosts
        self._options = ("-l", ":".join(host.name for host in hosts), *scenario.options)

    def run(self, *options: str) -> Run:
        return self._push(self._scenario, *options)

    def plan(self) -> Run:
        """Keep the preview."""
        options = ("-i", str(self._inventory), *self._options)
        return self._ccm.recorded("plan", *options, "-o", _PLAN, str(self._written(self._scenario)))

    def run_plan(self) -> Run:
        """Push what was kept."""
        return self._ccm.recorded("push", _PLAN)

    def run_earlier(self) -> list[str]:
        """Push what the scenario says comes before its preview; what did not end as it says."""
        broken = []
        for number, push in enumerate(self._scenario.earlier):
            ran = self._push(self._scenario.as_earlier(push))
            if (ran.code != 0) != push.get("fails", False):
                broken.append(f"earlier push {number}: {ran.output}")
            for host in self._hosts:
                host.run(PRELUDE + push.get("then", ""), timeout=120)
        return broken

    def _push(self, scenario: Scenario, *options: str) -> Run:
        site = self._written(scenario)
        return self._ccm.push(self._inventory, site, *self._options, *options)

    def _written(self, scenario: Scenario) -> Path:
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory.mkdir()
        return scenario.write(self._directory)


def _judged(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event["status"] in _PREDICTED]
