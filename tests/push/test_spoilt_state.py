"""A push to a host whose memory of due refreshes is damaged, of others or of another time."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from orchestrator.manifest.identity import identity
from tests.lab import Host, Lab
from tests.push.command import Ccm, Run
from tests.push.target import Target, over_ssh

SITE = """\
ccm:
  resources:
    - file:
        - DIR/conf: {content: "port = 80\\n", owner: OWNER, group: GROUP, mode: "0644"}
    - exec:
        - defaults: {provider: shell, cwd: DIR}
        - test: {command: "test -e good"}
        - restart: {command: "echo >> restarted", refresh_only: true,
                    subscribe: ["file#DIR/conf"], require: [exec#test]}
"""


def ledger(target: Target) -> Path:
    """The record of a refresh that is due, after a push that failed before it."""
    broken = target.push(SITE)
    assert broken.code == 1, broken.output
    target.write("good", "")
    manifest = identity(str(target.ccm.scratch / "site.yaml"))
    return target.state / "refreshes" / hashlib.sha256(manifest.encode()).hexdigest()[:32]


def restarts(target: Target) -> tuple[Run, bool]:
    """A push after which all is as it should be, and whether it restarted."""
    done = target.push(SITE)
    assert done.code == 0, done.output
    return done, done.event("exec#restart")["changed"]


@pytest.mark.skipif(os.geteuid() != 0, reason="the state of root is looked at")
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("damaged", "the pending refreshes of this host are not known"),
        ("newer", "a newer ccm wrote it"),
        ("another user's", "it belongs to user 12345"),
        ("in its place", "could not read"),
    ],
)
def test_a_record_that_cannot_be_used(target: Target, how: str, told: str) -> None:
    """It fires nothing, is told as a warning, and the push goes on."""
    record = ledger(target)
    text = record.read_text()
    if how == "in its place":
        record.unlink()
        record.mkdir()
    elif how == "another user's":
        os.chown(record, 12345, 12345)
    else:
        record.write_text(json.dumps({**json.loads(text), "format": 99}) if how == "newer" else "{")
    done, restarted = restarts(target)
    assert not restarted
    assert told in " ".join(done.output.split())
    if how == "newer":
        assert json.loads(record.read_text())["format"] == 99
    if how == "in its place":
        record.rmdir()
    else:
        record.unlink(missing_ok=True)
    again, restarted = restarts(target)
    assert not restarted
    assert told not in " ".join(again.output.split())


@pytest.mark.skipif(os.geteuid() != 0, reason="the state of root is looked at")
def test_a_clock_that_jumps(target: Target) -> None:
    """What a run of the future has left is due all the same."""
    record = ledger(target)
    kept = json.loads(record.read_text())
    for entry in kept["due"].values():
        entry["at"] += 10**9
    record.write_text(json.dumps(kept))
    _, restarted = restarts(target)
    assert restarted
    assert not record.exists()


def test_a_clone_of_a_host(ccm: Ccm, lab: Lab, host: Host) -> None:
    """A copy of another machine does not make up for what that one left undone, and says so."""
    target = over_ssh(ccm, lab, host)
    record = ledger(target)
    host.write("/etc/machine-id", "c10de000c10de000c10de000c10de000\n", 0o444)
    done, restarted = restarts(target)
    assert not restarted
    assert "belongs to another machine" in " ".join(done.output.split())
    again, restarted = restarts(target)
    assert (record.exists(), restarted) == (False, False)
    assert "belongs to another machine" not in again.output
