"""Three hundred logical hosts of which one in ten is faulty: the others are done, and soon.

All are this machine, behind servers on loopback: one that is well, and one for each fault.
"""

from __future__ import annotations

import os
import random
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.outcome import OK, HostResult
from orchestrator.fleet.sliding_window import Window
from orchestrator.image import build
from orchestrator.transport import Connector, Credentials, Settings
from tests.hostile.figures import Figures
from tests.hostile.recorded import LogicalHost, planner, settings
from tests.lab.proxy import DelayProxy
from tests.orchestrator.transport.sshd import Sshd

TITLE = "Fleets with faulty hosts"
HOSTS = 300
FORKS = 32
_SITE = "ccm: {resources: [{exec: [{look: {command: 'true'}}]}]}"
# What a server of a faulty host does in place of what it is asked for.
_COMMANDS = {
    "hangs before the runtime": "sleep 25",
    "ends at once": "exit 3",
    "floods": "yes",
    "is of another protocol": "echo ccm1 x ready; sleep 1; echo y",
    "allows few files": 'ulimit -n 8; eval "$SSH_ORIGINAL_COMMAND"',
    "allows little memory": 'ulimit -v 25000; eval "$SSH_ORIGINAL_COMMAND"',
    "allows no time": 'ulimit -t 0; eval "$SSH_ORIGINAL_COMMAND"',
}


def run(seconds: float, seed: int, now: Callable[[], float] = time.monotonic) -> Figures:
    """One fleet after another until the time is up; each as large as the time allows."""
    until, draw = now() + seconds, random.Random(seed)
    hosts = HOSTS if seconds >= 60 else 20
    counts: Counter[str] = Counter()
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ccm-fleet-") as top, ExitStack() as stack:
        place = _Place(Path(os.path.realpath(top)), stack)
        while not counts or now() < until:
            fleet = place.fleet(hosts, draw)
            results = place.push([host for host, _ in fleet])
            for host, fault in fleet:
                trouble = _trouble(results.get(host.name), fault)
                counts["faulty hosts" if fault else "good hosts"] += 1
                broken += [trouble] if trouble else []
            counts["fleets"] += 1
    return Figures(dict(sorted(counts.items())), broken[:20])


def _trouble(result: HostResult | None, fault: str) -> str:
    if result is None:
        return f"a host that {fault or 'is well'} has no result"
    told = f"{result.outcome} {result.kind} {result.message}"
    if not fault:
        return "" if result.outcome == OK else f"a good host: {told}"
    return "" if result.outcome == "unreachable" and result.kind else f"one that {fault}: {told}"


class _Place:
    """The servers, what they need, and who connects to them."""

    def __init__(self, top: Path, stack: ExitStack) -> None:
        self._top, self._stack = top, stack
        self._planner = planner(top, _SITE)
        (top / "ssh_config").write_text("")
        good = self._server("good")
        self._good = self._host(good)
        self._faulty = {
            fault: self._host(self._server(f"s{n}", f"ForceCommand {command}"))
            for n, (fault, command) in enumerate(_COMMANDS.items())
        }
        other = self._host(good)._replace(known_hosts=str(self._server("other").known_hosts))
        self._faulty["shows an unknown key"] = other
        self._faulty["knows no key of ours"] = self._good._replace(user="nobody-of-this-name")
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
        self._faulty["says nothing"] = self._at(silent.getsockname()[1])
        with socket.create_server(("127.0.0.1", 0)) as gone:
            self._faulty["refuses"] = self._at(gone.getsockname()[1])
        for after in (100, 2_000, 4_000, 6_000):
            proxy = stack.enter_context(DelayProxy("127.0.0.1", good.port, drop_after=after))
            known = top / f"known{after}"
            line = good.known_hosts.read_text().replace(str(good.port), str(proxy.port))
            known.write_text(line)
            host = self._at(proxy.port)._replace(known_hosts=str(known))
            self._faulty[f"is cut off after {after} bytes"] = host

    def _server(self, name: str, *options: str) -> Sshd:
        made = Sshd(self._top / name, "MaxStartups 500", "MaxSessions 50", *options)
        self._stack.callback(made.stop)
        return made

    @staticmethod
    def _host(server: Sshd) -> LogicalHost:
        given = server.host()
        return LogicalHost(
            port=given.port,
            user=given.user,
            key_file=given.key_file,
            known_hosts=given.known_hosts,
            connection="ssh",
            connect_timeout=30.0,
        )

    def _at(self, port: int) -> LogicalHost:
        return self._good._replace(port=port, connect_timeout=5.0)

    def fleet(self, number: int, draw: random.Random) -> list[tuple[LogicalHost, str]]:
        """So many hosts, each with its fault, a tenth of them; empty for those that are well."""
        faults = draw.choices(list(self._faulty), k=max(1, number // 10))
        chosen = [*faults, *[""] * (number - len(faults))]
        draw.shuffle(chosen)
        return [
            ((self._faulty[fault] if fault else self._good)._replace(name=f"h{n}"), fault)
            for n, fault in enumerate(chosen)
        ]

    def push(self, hosts: list[LogicalHost]) -> dict[str, HostResult]:
        """A preview on all of them."""
        results: dict[str, HostResult] = {}
        config = Settings(ssh_config=(self._top / "ssh_config",))
        with Connector(config, Credentials(environ={}), build()) as connector:
            chosen: Any = settings(noop=True, stall_timeout=30.0)
            bus = Bus()
            runs = (
                HostRun(host, connector, planner=self._planner, bus=bus, settings=chosen)
                for host in hosts
            )
            Window(runs, FORKS, finished=results.__setitem__).run()
        return results
