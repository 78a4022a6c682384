"""A conversation of ccm with a host, recorded once and played to as many hosts as are asked for.

What a host costs its controller is measured with it in one process, without hosts and a network:
everything from the open channel on is ccm's own, the plan of each host included.
"""

import getpass
import grp
import os
import pwd
from pathlib import Path
from typing import Any, NamedTuple

from inventory import this_host
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.interfaces import Link, OnPhase
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.image import build
from orchestrator.manifest import load_site
from orchestrator.planning import Planner
from orchestrator.transport import Connector, Credentials, Settings
from remote_runtime.options import RunOptions

from .workload import content

PUSH = RunOptions()


class Recording(NamedTuple):
    """What a runtime said before it had its plan, and from then on; and that plan."""

    nonce: str
    runtime: str
    greeting: bytes
    answer: bytes
    plan: bytes

    def record(self) -> dict[str, str]:
        """The form that can be kept."""
        said = {name: getattr(self, name).hex() for name in ("greeting", "answer", "plan")}
        return {"nonce": self.nonce, "runtime": self.runtime, **said}

    @classmethod
    def of(cls, record: dict[str, str]) -> "Recording":
        """Read what ``record`` made."""
        said = (bytes.fromhex(record[name]) for name in ("greeting", "answer", "plan"))
        return cls(record["nonce"], record["runtime"], *said)


class RecordedLink:
    """A link whose other end says what was recorded, as soon as it would have been said."""

    host_key = ""
    login_keys: tuple[str, ...] = ()

    def __init__(self, recording: Recording) -> None:
        self.nonce, self.runtime = recording.nonce, recording.runtime
        self._due = [recording.greeting]
        self._answers = [recording.answer]

    def send(self, data: bytes) -> None:
        """The plan comes first; what the host asks for behind it makes no difference."""
        self._due += self._answers
        self._answers = []

    def receive(self, timeout: float) -> bytes:
        """What is due."""
        return self._due.pop(0) if self._due else b""

    def stderr_tail(self) -> str:
        """Nothing went wrong."""
        return ""

    def close(self) -> None:
        """Nothing is held."""


class RecordedConnector:
    """Every host is the one that was recorded."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def open(self, host: Any, on_phase: OnPhase, until: float | None = None) -> RecordedLink:
        """A link that begins anew."""
        for phase in (Phase.CONNECTING, Phase.AUTHENTICATING, Phase.STARTING):
            on_phase(phase)
        return RecordedLink(self._recording)

    def patience(self, host: Any) -> float:
        """Each speaks at once."""
        return 10.0

    def share(self) -> None:
        """There are no passwords."""

    def begin_anew(self) -> None:
        """Nothing is shared."""

    def close(self) -> None:
        """Nothing is held."""


class _Listening:
    """A link that keeps what comes over it, before the first thing that is sent and behind it, and
    what is sent."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.nonce, self.runtime, self.host_key = link.nonce, link.runtime, link.host_key
        self.login_keys = link.login_keys
        self.received = [bytearray(), bytearray()]
        self.sent = b""

    def send(self, data: bytes) -> None:
        self.sent += data
        self._link.send(data)

    def receive(self, timeout: float) -> bytes:
        data = self._link.receive(timeout)
        self.received[bool(self.sent)] += data
        return data

    def stderr_tail(self) -> str:
        return self._link.stderr_tail()

    def close(self) -> None:
        self._link.close()


class _Recorder:
    """Opens links that listen."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self.links: list[_Listening] = []

    def open(self, host: Any, on_phase: OnPhase, until: float | None = None) -> Link:
        self.links.append(_Listening(self._connector.open(host, on_phase, until)))
        return self.links[-1]

    def patience(self, host: Any) -> float:
        return self._connector.patience(host)


def write_site(directory: Path, resources: int, name: str = "{{ Host.name }}") -> Path:
    """A manifest of so many small files below a directory, each with the host's name in it, or
    another one.
    """
    who = pwd.getpwuid(os.geteuid())
    owner, group = who.pw_name, grp.getgrgid(os.getegid()).gr_name
    lines = [
        "ccm:",
        "  resources:",
        "    - file:",
        f"        - defaults: {{owner: {owner}, group: {group}, mode: '0644', ensure: present}}",
    ]
    for number in range(resources):
        lines += [
            f"        - {directory}/files/file{number:03d}.conf:",
            "            content: |",
            *(f"              {line}" for line in content(number, name)),
        ]
    (directory / "files").mkdir()
    site = directory / "site.yaml"
    site.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return site


def record(site: Path, options: RunOptions = PUSH) -> Recording:
    """Push to this machine until it is as desired, and keep what is said then, or with ``noop`` in
    a preview of it; RuntimeError."""
    here = this_host()
    host = next(iter(here.hosts.values()))
    with Connector(Settings(here.hosts), Credentials(), build()) as connector:
        recorder = _Recorder(connector)
        for _ in range(2):
            planner = Planner(load_site(str(site)))
            settings = RunSettings("recording", getpass.getuser(), options)
            run = HostRun(host, recorder, planner=planner, bus=Bus(), settings=settings)
            result = run.run()
            if result.outcome != "ok":
                raise RuntimeError(f"{result.kind}: {result.message} {result.stderr}")
    last = recorder.links[-1]
    if not options.noop and result.tally.stable != result.planned:
        raise RuntimeError("the machine did not stay as desired")
    greeting, answer = map(bytes, last.received)
    return Recording(last.nonce, last.runtime, greeting, answer, last.sent)
