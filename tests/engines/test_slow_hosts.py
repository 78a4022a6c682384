"""Hosts that let ccm in and say nothing then, and who is behind them, on every engine."""

import getpass
import json
import time
from pathlib import Path
from typing import Any

from tests.engines.conftest import Alike
from tests.engines.fleet import SSH, Fleet, told

SITE = """\
ccm:
  resources:
    - file:
        - "DIR/{{ Host.name }}":
            {content: "{{ Host.name }}\\n", owner: OWNER, group: GROUP, mode: "0644"}
"""
SLOW, WELL = ("slow1", "slow2"), ("well1", "well2", "well3")


def hosts_behind(fleet: Fleet, go: Path) -> Path:
    """An inventory: two hosts whose Python does not start before ``go`` is there, then others."""
    python = fleet.scratch / "slow-python"
    python.write_text(
        f'#!/bin/sh\nwhile [ ! -e {go} ]; do sleep 0.05; done\nexec /usr/bin/env python3 "$@"\n'
    )
    python.chmod(0o755)
    far = json.loads(fleet.inventory.read_text("utf-8"))["hosts"][SSH]
    assert far["user"] == getpass.getuser()
    hosts = {name: {**far, "connect_timeout": 1, "python": str(python)} for name in SLOW}
    hosts |= dict.fromkeys(WELL, far)
    inventory = fleet.scratch / "slow.json"
    inventory.write_text(json.dumps({"hosts": hosts}), encoding="utf-8")
    return inventory


def waiting(fleet: Fleet) -> Any:
    """Two places, which the slow ones take first; they go on once all others are done."""
    go = fleet.directory / "go"
    inventory = hosts_behind(fleet, go)
    words = ("push", "-i", str(inventory), "--engine", fleet.engine, "--forks", "2", "--json")
    command = fleet.ccm.start(*words, fleet.site(SITE))
    until = time.monotonic() + 300
    while not {*WELL} <= {*fleet.files()}:  # a temporary file is one, too
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    before = sorted(fleet.files())
    go.touch()
    out, _ = command.communicate(timeout=300)
    return command.returncode, told(out), before, sorted(fleet.files())


def test_hosts_do_not_wait_for_one_that_says_nothing(alike: Alike) -> None:
    """Past its connect timeout another one has its place; it goes on when it speaks."""
    code, document, before, after = alike(waiting)
    outcomes = {name: host["outcome"] for name, host in document["hosts"].items()}
    assert outcomes == dict.fromkeys((*SLOW, *WELL), "ok"), document["failures"]
    assert (code, before) == (0, list(WELL))
    assert after == sorted(["go", *SLOW, *WELL])
