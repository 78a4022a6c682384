"""A history of runs, and a studio over it without a network."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from starlette.testclient import TestClient

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_origin import Origin
from orchestrator.fleet.store.run_directory import RunDirectory
from orchestrator.studio.web.start import StudioOptions, StudioParts, assemble
from tests.orchestrator.report.runs import START, Kept

PORT = 8700
ADDRESS = f"http://127.0.0.1:{PORT}"
FIRST, SECOND, THIRD = (f"20260921T1{hour}3640Z-aaaaaaa" for hour in (3, 4, 5))
ALICE = Origin(user="alice", machine="desk", commit="8c1f0de2" + "0" * 32, clean=True)
MESSAGE = "{host} (192.0.2.9:22) does not answer"


class Site:
    """A studio with a browser that is not logged in; ``said`` are the addresses it told."""

    def __init__(self, state: Path, **options: Any) -> None:
        self.said: list[str] = []
        chosen = StudioOptions(state, "127.0.0.1", PORT, user="alice")
        self.parts: StudioParts = assemble(
            chosen._replace(**options),
            PORT,
            self.said.append,
        )
        self.parts.keeper.refresh()
        self.parts.access.announce()
        self.browser = self.other_browser()

    def other_browser(self) -> TestClient:
        """A browser without a cookie."""
        return TestClient(self.parts.app, base_url=ADDRESS, follow_redirects=False)

    @property
    def token(self) -> str:
        """The token of the last login link."""
        return self.said[-1].partition("token=")[2]

    def log_in(self) -> TestClient:
        """The browser, logged in by the link."""
        done = self.browser.post("/login", data={"token": self.token})
        assert done.status_code == 303, done.text
        return self.browser

    def close(self) -> None:
        self.parts.keeper.stop()


def write_run(
    run_id: str,
    fill: Callable[[Kept], None],
    *hosts: str,
    origin: Origin = ALICE,
    noop: bool = False,
    command: str = "push",
    outcomes: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> None:
    """Store a run that ``fill`` writes the events of."""
    kept = Kept(*hosts, run_id=run_id, noop=noop, origin=origin, command=command)
    fill(kept)
    kept.end(**outcomes)


def three_runs() -> None:
    """web1 changes, web2 fails from the second run on, web3 is never reached."""
    gone: dict[str, Any] = {
        "outcome": "unreachable", "kind": "transport.connect", "phase": Phase.CONNECTING,
        "message": MESSAGE.format(host="web3"), "hint": "is it up?",
    }  # fmt: skip

    def first(kept: Kept) -> None:
        """All is well on two hosts."""
        kept.plan(*plans("web1", "web2"))
        for host in ("web1", "web2"):
            kept.changed(host, "/etc/motd", "--- a\n+++ b\n-old\n+new\n")
            kept.event(host, "/etc/app.conf")

    def second(kept: Kept) -> None:
        """A file cannot be written on one of them."""
        kept.plan(*plans("web1", "web2"))
        kept.event("web1", "/etc/motd")
        kept.event("web1", "/etc/app.conf")
        kept.event("web2", "/etc/motd", "failed", error=["No space left on device"])
        kept.event("web2", "/etc/app.conf", "skipped", unmet_requirements=["file#/etc/motd"])

    hosts = ("web1", "web2", "web3")
    bob = Origin(user="bob", machine="runner", commit="beef0123" + "0" * 32, clean=False)
    write_run(FIRST, first, *hosts, outcomes={"web3": gone})
    write_run(SECOND, second, *hosts, origin=bob, outcomes={"web3": gone})
    write_run(THIRD, second, *hosts, outcomes={"web3": gone})


def plans(*hosts: str) -> list[run_events.HostPlanned]:
    """Two files, of which the second one refers to the first."""
    names = ("file#/etc/motd", "file#/etc/app.conf")
    subscribed = (("file#/etc/app.conf", ("file#/etc/motd",)),)
    required = (("file#/etc/app.conf", ("file#/etc/motd",)),)
    return [run_events.HostPlanned(host, names, subscribed, required) for host in hosts]


class RunningRun:
    """A run that goes on until ``end``."""

    def __init__(self, run_id: str, *hosts: str) -> None:
        started = run_events.RunStarted(run_id, time.time(), hosts, False, "/srv/site/site.yaml")
        self.directory = RunDirectory(started, {})
        self._hosts = hosts

    def enter(self, host: str, phase: Phase) -> None:
        """A host enters a phase."""
        self.directory.handle(run_events.HostPhase(host, phase, START))

    def end_host(self, host: str, outcome: str = "ok") -> None:
        """A host ends."""
        self.directory.handle(run_events.HostFinished(HostResult(host, Tally(), outcome)))

    def end(self) -> None:
        """The run ends."""
        self.directory.handle(run_events.RunFinished(time.time(), False))
        self.directory.close()
