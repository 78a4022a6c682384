"""Runs that come to an early end, and what is looked at afterwards, on every engine."""

import signal
import time
from typing import Any

import pytest

from tests.engines.conftest import Alike
from tests.engines.fleet import LOCAL, SSH, Fleet, shown, told

HANGS = """\
ccm:
  resources:
    - exec:
        - wait:
            command: "true"
            provider: shell
            control: {if: "Facts.n < 2"}
            unless: {command: "touch DIR/begun-{{ Facts.n }}; sleep 600", timeout: 15m}
"""


def interrupting(fleet: Fleet) -> Any:
    """Ctrl-C while two hosts hang and the others wait for their turn."""
    words = fleet.words("push", "--forks", "2", "--noop", "--json", fleet.site(HANGS))
    command = fleet.ccm.start(*words)
    until = time.monotonic() + 300
    while len(fleet.files()) < 2:
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    command.send_signal(signal.SIGINT)
    out, _ = command.communicate(timeout=300)
    return command.returncode, told(out), shown(fleet.ccm.run("report").stdout)


def test_ctrl_c(alike: Alike) -> None:
    """Hosts at work are told to end, others have no turn, and the report says both."""
    code, document, report = alike(interrupting)
    assert (code, document["exit_code"], document["interrupted"]) == (130, 130, True)
    phases = {name: (host["outcome"], host["phase"]) for name, host in document["hosts"].items()}
    at_work = dict.fromkeys(("h0", "h1"), ("interrupted", "running"))
    waiting = dict.fromkeys(("h2", "h3", "h4", SSH), ("interrupted", "waiting"))
    assert phases == at_work | waiting
    assert any("interrupted" in line for line in report)


def timing_out(fleet: Fleet) -> Any:
    """Two hosts are given two seconds, and hang."""
    document = fleet.document("push", "-l", "h[0-1]", "--timeout", "2", "--noop", fleet.site(HANGS))
    return {name: (host["outcome"], host["kind"]) for name, host in document["hosts"].items()}


@pytest.mark.long
def test_a_timeout(alike: Alike) -> None:
    """It is each host's own, wherever it is worked on."""
    assert alike(timing_out) == dict.fromkeys(("h0", "h1"), ("unreachable", "host.timeout"))


SITE = """\
data: {word: first}
ccm:
  resources:
    - file:
        - "DIR/NAME-{{ Host.name }}":
            {content: "{{ Data.word }}\\n", owner: OWNER, group: GROUP, mode: "0644"}
    - exec:
        - "false": {control: {if: "Host.name == 'BAD'"}}
"""
STAGES = """\
stages:
  - {name: one, hosts: "h[0-3]", manifest: one.yaml, waves: "1,100%"}
  - {name: two, hosts: "h[2-4],far", manifest: two.yaml, data: {word: second}, max_fail: 0}
  - {name: three, hosts: "h*", manifest: one.yaml}
"""


def staging(fleet: Fleet) -> Any:
    """A preview and a push of stages, of which the second one is not passed; a plan of all."""
    for name, bad in (("one", "nobody"), ("two", "h3")):
        fleet.site(SITE.replace("NAME", name).replace("BAD", bad), f"{name}.yaml")
    stages = fleet.site(STAGES, "release.yaml")
    preview = fleet.document("push", "--noop", stages)
    pushed = fleet.document("push", stages)
    planned = fleet.run("plan", stages)
    return preview, pushed, fleet.files(), planned.code, planned.stdout.split()[-1]


@pytest.mark.long("dask")
def test_stages(alike: Alike) -> None:
    """Hosts have their turns stage by stage, and none where a stage before was not passed."""
    preview, pushed, files, code, plan = alike(staging)
    assert {host["outcome"] for host in preview["hosts"].values()} == {"ok"}
    ends = {name: host["outcome"] for name, host in pushed["hosts"].items()}
    assert {ends[f"one/h{number}"] for number in range(4)} == {"ok"}
    assert (ends["two/h2"], ends["two/h3"], ends["two/far"]) == ("ok", "failed", "ok")
    assert {ends[f"three/h{number}"] for number in range(LOCAL)} == {"held"}
    assert (files["one-h3"], files["two-far"]) == ("first\n", "second\n")
    assert (code, len(plan)) == (0, 64)


def verifying(fleet: Fleet) -> Any:
    """A look at the hosts after the push, and between its waves."""
    site = fleet.site(SITE.replace("NAME", "it").replace("BAD", "nobody"))
    words = ("--verify", "--waves", "1,100%", "--gate", "verify")
    done = fleet.run("push", "-l", "h1,h2,far", *words, site)
    return done.code, shown(done.stdout), sorted(fleet.files())


@pytest.mark.long
def test_verify(alike: Alike) -> None:
    """Both find the hosts as they were made."""
    code, text, files = alike(verifying)
    assert code == 0, text
    assert files == ["it-far", "it-h1", "it-h2"]
    assert any("passed" in line for line in text), text
