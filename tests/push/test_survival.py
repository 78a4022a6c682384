"""What is left of a push that comes to no end: killed, left at once, or without space."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.report.files.junit import NOT_KNOWN
from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm
from tests.remote_runtime.fakes import GROUP, OWNER

SITE = """
ccm:
  resources:
    - file:
        - defaults: {owner: "OWNER", group: "GROUP", mode: "0644"}
        - DIR/{{ Host.name }}: {ensure: directory}
        - DIR/{{ Host.name }}/before: {content: x, alias: before}
    - exec:
        - wait:
            command: "trap '' TERM; echo $$ > DIR/pid; for n in 1 2 3 4 5 6 7 8 9; do sleep 1; done"
            provider: shell
            control: {if: "Host.name == 'slow'"}
    - file:
        - defaults: {owner: "OWNER", group: "GROUP", mode: "0644"}
        - DIR/{{ Host.name }}/after: {content: x}
        - DIR/{{ Host.name }}/last: {content: x}
    - exec:
        - follower: {command: "true", refresh_only: true, subscribe: ["file#before"]}
"""


class Desk:
    """Three hosts, one after the other: one is quick, one slow, one comes later."""

    def __init__(self, scratch: Path, properties: str) -> None:
        self.ccm = Ccm(scratch)
        self.target = scratch / "t"
        self.target.mkdir()
        self.inventory = scratch / "hosts.yaml"
        hosts = "".join(f"  {name}: {properties}\n" for name in ("quick", "slow", "later"))
        self.inventory.write_text(f"hosts:\n{hosts}")
        words = {"DIR": str(self.target), "OWNER": OWNER, "GROUP": GROUP}
        site = SITE
        for word, value in words.items():
            site = site.replace(word, value)
        self.site = self.ccm.site(site)

    def begun(self) -> "subprocess.Popen[str]":
        """A push that is in the middle of its second host."""
        words = ["push", "-i", str(self.inventory), "--forks", "1", "--events", "events.jsonl"]
        push = self.ccm.start(*words, str(self.site))
        deadline = time.monotonic() + 120
        while not (self.target / "pid").exists() or len(self.events()) < 8:
            assert time.monotonic() < deadline, "the push does not come to its second host"
            assert push.poll() is None, push.communicate()
            time.sleep(0.05)
        return push

    def events(self) -> list[dict[str, Any]]:
        """What the file of --events holds."""
        path = self.ccm.scratch / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def report(self, *words: str) -> str:
        done = self.ccm.run("report", *words)
        assert done.code == 0, done.output
        return done.stdout

    def named(self, pattern: str) -> list[str]:
        """The hosts that a pattern picks, or none."""
        done = self.ccm.run("inventory", "-i", str(self.inventory), "-l", pattern)
        return [line.split()[0] for line in done.stdout.splitlines()]


@pytest.fixture(params=["ssh", "local"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    if request.param == "local":
        yield Desk(tmp_path, "{connection: local}")
        return
    sshd = Sshd(tmp_path / "sshd")
    yield Desk(
        tmp_path,
        f"{{address: 127.0.0.1, port: {sshd.port}, key_file: {sshd.user_key}, "
        f"known_hosts: {sshd.known_hosts}, user: {OWNER}}}",
    )
    sshd.stop()


def told(desk: Desk, after: str, how: str) -> None:
    """Every form of the report has who ended how, who did not, and what is not known: nobody was
    there to hear what the host did."""
    events = desk.events()
    assert [event["host"] for event in events] == ["quick"] * 6 + ["slow"] * 2
    text = desk.report()
    assert after in text.splitlines()[0]
    assert f"slow  {how} (2 changed)" in text
    assert "2 of 6 resources were reported" in text
    assert "unknown: exec#wait, file#" in text
    assert "not run" not in text
    assert "refreshed by the next push" not in text
    assert "later  not started\n" in text
    assert "Hosts      3: 1 interrupted, 1 not started, 1 changed" in text
    document = json.loads(desk.report("--json"))
    assert document["hosts"]["quick"]["outcome"] == "ok"
    assert document["hosts"]["slow"]["phase"] == "running"
    assert document["hosts"]["slow"]["tally"]["changed"] == 2
    assert document["hosts"]["slow"]["not_known"][0] == "exec#wait"
    assert not {"due", "did_not_run"} & document["hosts"]["slow"].keys()
    assert document["hosts"]["later"]["phase"] == "waiting"
    assert document["events"] == events
    markdown = desk.report("--markdown", "-")
    assert "3 hosts: 1 interrupted, 1 not started, 1 changed" in markdown
    assert "- on slow: exec#wait, file#" in markdown.replace("`", "")
    assert "- on later: all resources" in markdown
    assert "### Unknown" in markdown
    assert "Unknown</h2>" in desk.report("--html", "-")
    junit = desk.report("--junit", "-")
    assert f'name="exec#wait">\n      <skipped message="{NOT_KNOWN}"/>' in junit
    assert desk.named("failed") == ["slow"]
    assert desk.named("remaining") == ["later"]


def test_a_controller_that_is_killed(desk: Desk) -> None:
    """SIGKILL in the middle of a push leaves all that was known at that moment."""
    push = desk.begun()
    push.kill()
    push.communicate()
    told(desk, "did not finish", "cut off")
    assert "1 interrupted, 1 not started, 1 changed" in desk.ccm.run("runs").stdout


def test_a_run_that_is_left_at_once(desk: Desk) -> None:
    """So does a second Ctrl-C, which waits for no host."""
    push = desk.begun()
    assert push.stderr is not None
    push.send_signal(signal.SIGINT)
    assert "press Ctrl-C again" in push.stderr.readline()
    push.send_signal(signal.SIGINT)
    push.communicate(timeout=120)
    assert push.returncode == 130
    told(desk, "did not finish", "cut off")


def test_an_interrupt_names_what_did_not_run(desk: Desk) -> None:
    """The summary of a run that Ctrl-C ended names the resources, and hosts that had no turn."""
    push = desk.begun()
    push.send_signal(signal.SIGINT)
    out, err = push.communicate(timeout=60)
    assert push.returncode == 130, out + err
    assert "slow  interrupted" in out
    assert "    not run: file#" in out
    assert "Hosts      3: 1 interrupted, 1 not started, 1 changed" in out
    assert desk.named("failed") == ["slow"]
    assert desk.named("remaining") == ["later"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small file system")
def test_a_full_disk_ends_the_record_not_the_push(tmp_path: Path) -> None:
    """Every host is done, the push says what is wrong and exits 1, the report what lacks."""
    state = tmp_path / "small"
    state.mkdir()
    ccm = Ccm(tmp_path, {"XDG_STATE_HOME": str(state)})
    hosts = tmp_path / "hosts.yaml"
    hosts.write_text("hosts: {one: {connection: local}, two: {connection: local}}\n")
    command = "head -c 40000 /dev/urandom | base64"
    entries = "".join(
        f"        - x{number}: {{command: '{command}', provider: shell}}\n" for number in range(20)
    )
    site = f"ccm:\n  resources:\n    - exec:\n{entries}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", state], check=True)
    try:
        done = ccm.push(hosts, site, "--json")
        assert done.code == 1, done.output
        assert "events.jsonl: No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.events) == 40
        lacks = "events are missing from the record of this run: No space left on device"
        for document in (done.stdout, ccm.run("report", "--json").stdout):
            record = json.loads(document)
            assert record["summary"]["changed"] == 40
            assert record["warnings"] == [lacks]
            assert 0 < len(record["events"]) < 40
        assert lacks in ccm.run("report").stdout
        assert lacks in ccm.run("report", "--html", "-").stdout
        assert lacks in ccm.run("report", "--markdown", "-").stdout.replace("`", "")
        with contextlib.suppress(OSError):  # as much as there is room for
            (state / "fill").write_bytes(bytes(300_000))
        refused = ccm.push(hosts, site)
        assert refused.code == 2, refused.output
        assert f"cannot create the run directory: {state}/" in refused.stderr
        assert ": No space left on device\n" in refused.stderr
        assert refused.events == []
    finally:
        subprocess.run(["umount", state], check=True)


def test_a_state_directory_that_cannot_be_written(tmp_path: Path) -> None:
    """A push is refused with the place; a verify, which stores nothing, runs."""
    nowhere = tmp_path / "file" / "state"
    nowhere.parent.touch()
    ccm = Ccm(tmp_path, {"XDG_STATE_HOME": str(nowhere)})
    hosts = tmp_path / "hosts.yaml"
    hosts.write_text("hosts: {one: {connection: local}}\n")
    site = ccm.site(f"ccm: {{resources: [{{file: [{{{tmp_path}/gone: {{ensure: absent}}}}]}}]}}\n")
    refused = ccm.run("push", "-i", str(hosts), str(site))
    assert refused.code == 2
    assert f"directory: {nowhere}" in refused.stderr
    assert "Not a directory" in refused.stderr
    verified = ccm.run("verify", "-i", str(hosts), str(site))
    assert verified.code == 0, verified.output
    assert "1 passed" in verified.stdout
