"""How fast ``ccm studio`` is over a long history: python -m benchmarks.histories DIR

Writes run directories to DIR/runs as pushes would: 1,000 runs of 100 hosts, or with ``--wide``
10 runs of 10,000 hosts. Then it builds the index and requests each page, and prints what each took.
With ``--group N``, the pages are those of a user who sees N of the hosts.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.testclient import TestClient

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.unchanged_resources import UnchangedResources
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_origin import Origin
from orchestrator.fleet.store.run_directory import RunDirectory
from orchestrator.studio.index.updater import IndexKeeper
from orchestrator.studio.web.start import StudioOptions, assemble

RESOURCES = 50
START = 1_790_000_000.0
PHASES = (
    Phase.CONNECTING,
    Phase.AUTHENTICATING,
    Phase.STARTING,
    Phase.GATHERING,
    Phase.PLANNING,
    Phase.RUNNING,
)
NAMES = tuple(f"/etc/app/{number}.conf" for number in range(RESOURCES))
IMPLIED = tuple(
    json.dumps(
        {
            "type": "file",
            "name": name,
            "properties": {"ensure": "present", "mode": "0644", "owner": "root"},
            "requested_ensure": "present",
        },
        separators=(",", ":"),
    )
    for name in NAMES
)
DIFF = "--- {0}\n+++ {0}\n@@ -1,2 +1,2 @@\n-listen {1}\n+listen {2}\n threads 4\n"
PASSWORD = "as long as it has to be"
COMMIT = "8c1f0de2c4b7a6958473625140f0e1d2c3b4a596"


def main() -> int:
    """Write the history and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--wide", action="store_true", help="10 runs of 10,000 hosts")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--hosts", type=int)
    parser.add_argument("--group", type=int, default=0, help="hosts that the user sees")
    args = parser.parse_args()
    runs, hosts = (10, 10_000) if args.wide else (1_000, 100)
    runs, hosts = args.runs or runs, args.hosts or hosts
    if not (args.directory / "runs").exists():
        begin = time.monotonic()
        write_history(args.directory, runs, hosts)
        print(f"{runs:,} runs of {hosts:,} hosts written in {time.monotonic() - begin:.1f} s")
    begin = time.monotonic()
    work = time.process_time()
    keeper = IndexKeeper(args.directory)
    keeper.refresh()
    took, work = time.monotonic() - begin, time.process_time() - work
    print(f"index up to date in {took:.1f} s ({work:.1f} s of processor time)")
    print(f"index: {keeper.path.stat().st_size / 1e6:,.0f} MB")
    begin = time.monotonic()
    keeper.refresh()
    print(f"a look without news: {1000 * (time.monotonic() - begin):.0f} ms")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    keeper.stop()
    _pages(args.directory, hosts, args.group)
    print(f"memory: {memory / 1e3:,.0f} MB")
    return 0


def _user(state: Path, hosts: int, group: int) -> dict[str, Any]:
    """The options for a user of a group with so many hosts, and the user's file."""
    from orchestrator.studio.web.users import UserFile

    names = [_name(number) for number in range(1, hosts + 1)]
    inventory = {"hosts": names, "groups": {"own": {"hosts": names[:group]}}}
    (state / "hosts.yaml").write_text(json.dumps(inventory))
    UserFile(state / "users").add("me", "look", PASSWORD, ("own",))
    return {"inventory": (str(state / "hosts.yaml"),), "auth": state / "users"}


def _pages(state: Path, hosts: int, group: int) -> None:
    """Request each page three times, and print the best."""
    said: list[str] = []
    options = StudioOptions(state, "127.0.0.1", 8700, user="me")
    if group:
        options = options._replace(**_user(state, hosts, group))
    parts = assemble(options, 8700, said.append)
    parts.pages.prepare()
    parts.keeper.refresh()
    parts.access.announce()
    browser = TestClient(parts.app, base_url="http://127.0.0.1:8700", follow_redirects=False)
    token = said[-1].partition("token=")[2]
    login = {"name": "me", "password": PASSWORD} if group else {"token": token}
    assert browser.post("/login", data=login).status_code == 303
    runs = sorted(path.name for path in (state / "runs").iterdir())
    resource = f"/resource?name={quote('file#' + NAMES[14])}"
    last, before = runs[-1], runs[-4]
    for page in (
        "/", "/?page=9", "/?state=fine", "/?hosts=web1*", "/runs", f"/runs/{before}",
        f"/runs/{before}?page=2", f"/runs/{before}/hosts/web5.example.org",
        "/hosts/web5.example.org", resource, f"/compare?a={before}&b={last}", "/search?q=web1",
        "/search?q=space",
    ):  # fmt: skip
        best, size = _best(browser, page)
        times = f"{best.wall:6.0f} ms, {best.work:6.0f} ms of processor time"
        print(f"{times}, {size / 1e3:6.0f} kB: {page}")
    parts.keeper.stop()


class _Took(NamedTuple):
    """Milliseconds."""

    work: float
    wall: float


def _best(browser: TestClient, page: str) -> tuple[_Took, int]:
    found = []
    for _ in range(3):
        wall, work = time.monotonic(), time.process_time()
        response = browser.get(page)
        took = _Took(1e3 * (time.process_time() - work), 1e3 * (time.monotonic() - wall))
        assert response.status_code == 200, (page, response.status_code)
        found.append(took)
    return min(found), len(response.content)


def write_history(state: Path, runs: int, hosts: int, seed: int = 1) -> None:
    """Write runs of hosts ``web1`` and so on, an hour apart; the same for the same seed."""
    chance = random.Random(seed)
    (state / "runs").mkdir(parents=True, mode=0o700)
    names = tuple(map(_name, range(1, hosts + 1)))
    for number in range(runs):
        _write_run(state / "runs", number, names, chance)


def _name(number: int) -> str:
    return f"web{number}.example.org"


def _write_run(parent: Path, number: int, names: tuple[str, ...], chance: random.Random) -> None:
    at = START + 3600 * number
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at))
    who = Origin(
        user=chance.choice(("alice", "bob", "ci")),
        machine="desk",
        ccm="0.1.0",
        commit=f"{number // 5:06x}{COMMIT[6:]}",
        clean=True,
    )
    started = run_events.RunStarted(
        f"{stamp}-{number:07x}", at, names, number % 7 == 3, "/srv/site/site.yaml",
        identity="site/site.yaml", again=("ccm", "push", "site.yaml"), origin=who,
    )  # fmt: skip
    directory = RunDirectory(started, {"inventory": ["hosts.yaml"], "forks": 50}, parent=parent)
    touched = chance.sample(range(RESOURCES), chance.choice((0, 0, 1, 3)))
    broken = chance.choice(NAMES) if number % 11 == 5 else ""
    for place, host in enumerate(names):
        directory.handle_all(
            list(_host_events(started, host, place, touched=touched, broken=broken, chance=chance))
        )
    directory.handle(run_events.RunFinished(at + 120, False))
    directory.close()


def _host_events(
    started: run_events.RunStarted,
    host: str,
    place: int,
    *,
    touched: list[int],
    broken: str,
    chance: random.Random,
) -> Iterator[run_events.Event]:
    at = started.at + place * 0.01
    if chance.random() < 0.002 or (place % 97 == 11 and place):
        result = HostResult(
            host, Tally(), "unreachable", kind="transport.connect", phase=Phase.CONNECTING,
            message=f"{host} (192.0.2.9:22) does not answer", hint="is it up?", seconds=10.0,
            phases=((Phase.CONNECTING, at),),
        )  # fmt: skip
        yield run_events.HostFinished(result)
        return
    phases = tuple((phase, at + 0.1 * step) for step, phase in enumerate(PHASES))
    yield run_events.HostPhase(host, Phase.RUNNING, phases[-1][1], phases[:-1])
    yield run_events.HostPlanned(host, tuple(f"file#{name}" for name in NAMES))
    tally = Tally()
    fails = NAMES.index(broken) if broken and place % 9 == 4 else -1
    told = {*touched, *([fails] if fails >= 0 else [])}
    rows: list[list[Any]] = [
        [index, 40_000, "posix"] for index in range(RESOURCES) if index not in told
    ]
    yield run_events.ResourcesStable(
        host,
        UnchangedResources(
            host=host, run_id=started.run_id, number=1 << 80 | place << 32,
            at=int(at * 1e6) + 700_000, noop=started.noop, prediction="", rows=rows,
            implied=tuple(IMPLIED[row[0]] for row in rows),
        ),
    )  # fmt: skip
    tally.add_stable(len(rows), 0)
    for index in sorted(told):
        event = _event(started, host, index, place, fails=index == fails)
        tally.add(event, again=False)
        yield run_events.ResourceEvent(host, event, json.dumps(event, separators=(",", ":")))
    outcome = "failed" if tally.failed else "ok"
    yield run_events.HostFinished(
        HostResult(host, tally, outcome, planned=RESOURCES, seconds=1.2, phases=phases)
    )


def _event(
    started: run_events.RunStarted, host: str, index: int, place: int, *, fails: bool
) -> dict[str, Any]:
    name = NAMES[index]
    number = int(started.at) % 9_000
    change = {
        "what": "content",
        "from": "sha256:" + "a" * 64,
        "to": "sha256:" + f"{number:064x}",
        "diff": DIFF.format(name, number, number + 1),
    }
    status = "failed" if fails else "changed"
    return {
        "protocol": "io.choria.ccm.v1.transaction.event",
        "event_id": f"{place * RESOURCES + index:026d}",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(started.at)),
        "type": "file", "name": name, "provider": "posix", "requested_ensure": "present",
        "final_ensure": "present", "duration": 2_000_000,
        "properties": {"ensure": "present", "mode": "0644"}, "status": status,
        "changes": [] if fails else [change],
        "error": [f"cannot write {name} on {host}: No space left on device"] if fails else [],
        "changed": not fails, "refreshed": False, "failed": fails, "skipped": False,
        "noop": started.noop, "unmet_requirements": [],
        "host": host, "run_id": started.run_id,
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
