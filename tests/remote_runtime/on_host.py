"""Runs plans with the real runtime on a lab host, without a controller and without SSH."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import remote_runtime
from tests.lab import Host
from tests.remote_runtime.controller import events_of

_DIRECTORY = "/srv/ccm-runtime"
_DRIVER = """
import json, subprocess, sys
from remote_runtime.protocol import wire
plan = json.load(sys.stdin)
runtime = subprocess.Popen(
    [sys.executable, "-m", "remote_runtime", "nonce", "sha"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
)
runtime.stdin.write(wire.encode(plan))
runtime.stdin.flush()
assert runtime.stdout.readline().startswith(b"ccm1 nonce ready")
decoder, seen = wire.Decoder(wire.MAX_FROM_TARGET), []
while not seen or seen[-1]["t"] != "done":
    data = runtime.stdout.read1(65536)
    assert data, "the runtime ended before it was done"
    for message in decoder.feed(data):
        seen.append(message)
        if message["t"] == "packages":  # no other host knows anything of them
            nothing = {"t": "packages", "known": {}, "alone": {}, "left": []}
            runtime.stdin.write(wire.encode(nothing))
            runtime.stdin.flush()
runtime.stdin.close()
runtime.wait()
kinds = ("event", "stable", "notice", "done")
json.dump([message for message in seen if message["t"] in kinds], sys.stdout)
"""


class Run:
    """What one run told: `events` by `type#name`, and `notices` as lines."""

    def __init__(self, messages: list[dict[str, Any]], plan: dict[str, Any]) -> None:
        self.events = {
            "{type}#{name}".format(**event): event for event in events_of(messages, plan)
        }
        self.notices = [message["text"] for message in messages if message["t"] == "notice"]


def apply(host: Host, *resources: dict[str, Any], **plan: Any) -> Run:
    """Run a plan of these resources on a host; `plan` holds its other keys, such as noop.

    The runtime takes a silent controller for dead after 30 s, so a plan has to be done by then.
    """
    target = host.path(_DIRECTORY) / "remote_runtime"
    if not target.exists():
        source = Path(remote_runtime.__file__).parent
        shutil.copytree(source, target)
        host.write(f"{_DIRECTORY}/driver.py", _DRIVER)
    message = {"t": "plan", "run_id": "test", "user": "test", "resources": list(resources), **plan}
    command = f"cd {_DIRECTORY} && python3 driver.py"
    return Run(json.loads(host.run(command, input=json.dumps(message), timeout=60).stdout), message)


def resource(kind: str, name: str, **properties: Any) -> dict[str, Any]:
    """Return one item of a plan; `subscribe` and `require` stand beside the properties."""
    beside = [key for key in properties if key in ("subscribe", "require")]
    outside = {key: properties.pop(key) for key in beside}
    return {"type": kind, "name": name, "properties": properties, **outside}
