"""One real conversation between the controller and a runtime of this machine, as frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.interfaces import Link, OnPhase
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.image import build
from orchestrator.manifest import load_site
from orchestrator.planning import Planner, PlanOptions
from orchestrator.transport import Connector, Credentials, Settings
from remote_runtime.options import RunOptions
from remote_runtime.protocol import wire

_FILES = 40
_SITE = """
data: {{token: s3cr3t-of-the-site}}  # @secret
ccm:
  resources:
    - file:
        - defaults: {{owner: '{uid}', group: '{gid}', mode: "0644"}}
{files}
        - {directory}/late:
            content: "{{{{ file('{directory}/seen') }}}}"
    - exec:
        - done: {{command: "true", creates: "{directory}/seen"}}
        - done too: {{command: "true", creates: "{directory}/seen"}}
        - tell: {{command: "printf 'a\\nb\\nc\\n'", logoutput: true}}
        - fails: {{command: "false"}}
        - after: {{command: "true", require: ["exec#fails"]}}
        - checked: {{command: "true", health_checks: [{{command: "echo OK"}}]}}
"""


class LogicalHost(NamedTuple):
    """A host that is this machine."""

    name: str = "web1"
    address: str = "127.0.0.1"
    port: int | None = None
    user: str | None = None
    key_file: str | None = None
    known_hosts: str | None = None
    become: bool | str | None = None
    python: str | None = None
    connection: Any = "local"
    connect_timeout: float | None = None
    jump: str | None = None
    groups: tuple[str, ...] = ("web",)
    vars: dict[str, Any] = {}


class Recording(NamedTuple):
    """What each side said, whole frames, and what the controller needs to hear it again."""

    nonce: str
    runtime: str
    of_target: list[bytes]
    of_controller: list[bytes]
    planner: Planner
    settings: RunSettings
    result: HostResult


def settings(**options: Any) -> RunSettings:
    """Of a run that nobody is told of."""
    return RunSettings("01J0000000000000000000000A", "alice@desk", RunOptions(**options))


def planner(directory: Path, text: str) -> Planner:
    """Of a manifest with this text in the directory."""
    path = directory / "site.yaml"
    path.write_text(text, encoding="utf-8")
    return Planner(load_site(path), PlanOptions(environ={}))


def record(directory: Path, uid: int, gid: int) -> Recording:
    """Preview a manifest on this machine, and keep both sides of it.

    A preview, so that whatever is made of the plan later changes nothing either.
    """
    (directory / "seen").write_text("what stands on the target", encoding="utf-8")
    files = "\n".join(
        f"        - {directory}/f{n}: {{content: 'text {n} with {{{{ Data.token }}}}'}}"
        for n in range(_FILES)
    )
    text = _SITE.format(uid=uid, gid=gid, directory=directory, files=files)
    made = planner(directory, text)
    connector = Connector(Settings(), Credentials(environ={}), build())
    taps: list[_Tap] = []

    class Tapped:
        def open(self, host: Any, on_phase: OnPhase, until: float | None = None) -> Link:
            taps.append(_Tap(connector.open(host, on_phase, until)))
            return taps[0]

        def patience(self, host: Any) -> float:
            return connector.patience(host)

    chosen = settings(noop=True)
    with connector:
        result = HostRun(LogicalHost(), Tapped(), planner=made, bus=Bus(), settings=chosen).run()
    (tap,) = taps
    return Recording(
        tap.nonce, tap.runtime, frames(tap.received), frames(tap.said), made, chosen, result
    )


def frames(data: bytes) -> list[bytes]:
    """The bytes of each frame, heartbeats left out."""
    ping, found, at = wire.encode({"t": "ping"}), [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if data[at:end] != ping:
            found.append(data[at:end])
        at = end
    return found


class _Tap:
    """A link whose bytes are kept."""

    def __init__(self, link: Link) -> None:
        self.nonce, self.runtime, self.host_key = link.nonce, link.runtime, link.host_key
        self.login_keys = link.login_keys
        self.received = self.said = b""
        self._link = link
        self.stderr_tail, self.close = link.stderr_tail, link.close

    def send(self, data: bytes) -> None:
        self.said += data
        self._link.send(data)

    def receive(self, timeout: float) -> bytes:
        data = self._link.receive(timeout)
        self.received += data
        return data
