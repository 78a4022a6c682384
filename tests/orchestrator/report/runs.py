"""Runs to make reports of: kept in a directory, as a push keeps them."""

import json
import time
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_origin import Origin
from orchestrator.fleet.store.run_directory import RunDirectory
from orchestrator.fleet.store.stored_runs import SavedRun, saved_run
from tests.orchestrator.fleet.fakes import make_event

START = 1_790_000_000.0
PHASES = (
    (Phase.CONNECTING, START),
    (Phase.GATHERING, START + 0.2),
    (Phase.PLANNING, START + 0.5),
    (Phase.RUNNING, START + 0.6),
)
SITE = "/srv/site/site.yaml"
UNKNOWN = Origin()
AGAIN = ("ccm", "push", "-i", "hosts.yaml", SITE)
DIFF = "--- /etc/motd\n+++ /etc/motd\n@@ -1 +1 @@\n-old <b>\n+new {host}\n"


class Kept:
    """Keeps a run that is told event by event; ``end`` gives it back as reports read it."""

    def __init__(
        self,
        *hosts: str,
        run_id: str = "20260921T133640Z-aaaaaa",
        noop: bool = False,
        origin: Origin = UNKNOWN,
        command: str = "push",
    ) -> None:
        started = run_events.RunStarted(
            run_id, START, hosts, noop, SITE, command=command, again=AGAIN, origin=origin
        )
        self._directory = RunDirectory(started, {"forks": 5})
        self._run_id = run_id
        self._tallies = {host: Tally() for host in hosts}
        self._clock = dict.fromkeys(hosts, START + 0.6)
        self._events = 0

    def event(
        self,
        host: str,
        name: str,
        status: str = "stable",
        seconds: float = 0.01,
        *,
        misprediction: str | None = None,
        **members: Any,
    ) -> None:
        """One resource is done after so many seconds; ``misprediction`` is as a plan's."""
        self._events += 1
        self._clock[host] += seconds
        at = self._clock[host]
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"
        event = make_event(
            name=name, status=status, timestamp=stamp, duration=int(seconds * 1e9),
            event_id=f"{self._events:026d}", **members,
        )  # fmt: skip
        event.update(host=host, run_id=self._run_id)
        self._tallies[host].add(event, again=False, misprediction=misprediction)
        self._directory.handle(run_events.ResourceEvent(host, event, json.dumps(event)))

    def changed(self, host: str, name: str, diff: str = "", seconds: float = 0.2) -> None:
        """A resource of which a property changed."""
        change = {"what": "content", "from": "a" * 64, "to": "b" * 64}
        if diff:
            change["diff"] = diff
        self.event(host, name, "changed", seconds, changes=[change])

    def rewritten(self, host: str, name: str, number: int, diff: str) -> None:
        """A file whose old and new contents are this host's own."""
        before, after = (f"sha256:{number}{letter * 63}" for letter in "cd")
        change = {"what": "content", "from": before, "to": after, "diff": diff}
        self.event(host, name, "changed", changes=[change])

    def notice(self, host: str, text: str) -> None:
        """A host warns."""
        self._directory.handle(run_events.HostNotice(host, "warning", text))

    def plan(self, *planned: run_events.HostPlanned) -> None:
        """What hosts have to do."""
        for each in planned:
            self._directory.handle(each)

    def step(self, *steps: run_events.RolloutStep) -> None:
        """Where a rollout stands."""
        for step in steps:
            self._directory.handle(step)

    def end(self, **outcomes: dict[str, Any]) -> SavedRun:
        """The run is over; ``outcomes`` sets members of hosts' results."""
        for host, tally in self._tallies.items():
            outcome = "failed" if tally.failed else "ok"
            seconds = self._clock[host] - START
            result = HostResult(host, tally, outcome, seconds=seconds, phases=PHASES)
            result = result._replace(**outcomes.get(host, {}))
            self._directory.handle(run_events.HostFinished(result))
        self._directory.handle(run_events.RunFinished(max(self._clock.values()) + 0.1, False))
        self._directory.close()
        return saved_run(self._run_id)


def held_run(noop: bool = False) -> SavedRun:
    """A rollout in two waves that is held behind the first."""
    run_id = "20260921T133641Z-bbbbbb" if noop else "20260921T133642Z-cccccc"
    kept = Kept("web1", "web2", "web3", run_id=run_id, noop=noop)
    kept.step(run_events.RolloutPlanned((("web1",), ("web2", "web3")), 0, {"waves": "1"}, "ccm go"))
    if noop:
        return kept.end()
    kept.step(run_events.WaveStarted(1, START))
    kept.event("web1", "/etc/broken", "failed", error=["no"])
    kept.step(run_events.RolloutHeld("budget", "", ("web2", "web3"), START + 1))
    held: dict[str, Any] = {
        "outcome": "held",
        "phase": Phase.WAITING,
        "message": "held",
        "phases": (),
    }
    return kept.end(web2=held, web3=held)


def dangerous_preview() -> SavedRun:
    """A preview of removals on two hosts and of a restart, with something unknown."""
    kept = Kept("web1", "web2", run_id="20260921T133643Z-dddddd", noop=True)
    preview: dict[str, Any] = {"status": "changed", "noop": True, "prediction": "certain"}
    gone = [{"what": "ensure", "from": "present", "to": "absent"}]
    for host in ("web1", "web2"):
        kept.event(host, "/etc/<b>old", changes=gone, **preview)
    mode = [{"what": "content", "from": "a", "to": "b"}]
    restart = [{"kind": "unit", "name": "nginx.service", "state": "restarted"}]
    kept.event(
        "web1", "/etc/nginx.conf", changes=mode, effects=restart, operations=restart, **preview
    )
    kept.event("web1", "/etc/x", **{**preview, "prediction": "unknown"})
    return kept.end()


def mixed_run(hosts: int = 8, resources: int = 12, noop: bool = False) -> SavedRun:
    """A fleet on which most is stable, some changed, one failed and the last one is not there."""
    names = [f"web{number}" for number in range(1, hosts + 1)]
    kept = Kept(*names, noop=noop)
    for host in names[:-1]:
        kept.changed(host, "/etc/motd", DIFF.format(host=host))
        for number in range(resources - 3):
            kept.event(host, f"/etc/app/{number}.conf", seconds=0.02 * number)
    kept.event(names[1], "/etc/broken", "failed", 0.7, error=["exit status 3", "E: <i>no</i>"])
    kept.event(names[1], "/etc/after", "skipped", 0.0, unmet_requirements=["file#/etc/broken"])
    checks = [{"name": "http", "status": "WARNING", "tries": 1, "output": "slow: 3 s"}]
    kept.event(names[0], "/etc/checked", health_check=checks)
    kept.notice(names[0], "mirror is old")
    gone = {
        "outcome": "unreachable", "kind": "transport.connect", "phase": Phase.CONNECTING,
        "message": f"{names[-1]} (192.0.2.9:22) does not answer", "hint": "is it up?",
    }  # fmt: skip
    return kept.end(**{names[-1]: gone})
