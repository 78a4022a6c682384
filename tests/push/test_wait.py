"""Waits: what others do meanwhile, what ends them, and what previews say of them."""

import signal
import subprocess
import time

import pytest

from tests.push.command import Ccm
from tests.push.target import Target

SITE = """\
ccm:
  resources:
    - file:
        - DIR/before: {content: x, owner: OWNER, group: GROUP, mode: "0644"}
    - wait:
        - ready: {file: DIR/ready, timeout: TIMEOUT, interval: 200ms}
    - file:
        - DIR/after:
            content: x
            owner: OWNER
            group: GROUP
            mode: "0644"
            require: ["wait#ready"]
"""


def begun(target: Target, timeout: str = "2m", *options: str) -> "subprocess.Popen[str]":
    """A push that waits for ``ready``."""
    site = target.ccm.site(target.filled(SITE.replace("TIMEOUT", timeout)))
    push = target.ccm.start("push", "-i", str(target.inventory), "-l", "web1", *options, str(site))
    deadline = time.monotonic() + 60
    while not target.path("before").exists():
        assert time.monotonic() < deadline, "the push does not begin"
        assert push.poll() is None, push.communicate()
        time.sleep(0.1)
    return push


@pytest.mark.long("ssh")
def test_the_run_goes_on_once_it_is_so(target: Target) -> None:
    """A preview says that it would wait; the push waits, whatever --stall-timeout; then all is as
    desired, and a wait is no change."""
    preview = target.push(SITE.replace("TIMEOUT", "2m"), "--noop")
    assert preview.code == 0, preview.output
    told = " ".join(preview.stdout.split())
    assert "waits wait#ready for" in told
    assert "assumed (the condition is not met yet: the file does not exist" in told
    assert target.event(preview, "file#after")["prediction"] == "assumed"
    push = begun(target, "2m", "--stall-timeout", "1")
    time.sleep(3)
    target.write("ready", "")
    out, err = push.communicate(timeout=60)
    assert push.returncode == 0, out + err
    assert target.path("after").exists()
    again = target.push(SITE.replace("TIMEOUT", "2m"), "--detailed-exitcode")
    assert again.code == 0, again.output
    assert set(target.statuses(again).values()) == {"stable"}


def test_the_time_is_up(target: Target) -> None:
    """A wait that is over fails with what it saw last, and what requires it is left out."""
    done = target.push(SITE.replace("TIMEOUT", "1s"))
    assert done.code == 1, done.output
    assert "to exist; last result: the file does not exist (raise timeout" in done.output
    assert target.statuses(done) == {
        "file#before": "changed",
        "wait#ready": "failed",
        "file#after": "skipped",
    }


@pytest.mark.long("ssh")
def test_the_run_has_a_time_of_its_own(target: Target) -> None:
    """At the end of --timeout nothing is waited for any more."""
    done = target.push(SITE.replace("TIMEOUT", "1h"), "--timeout", "8")
    assert done.code in (1, 3), done.output
    ready = target.event(done, "wait#ready")
    assert ready["error"] == ["interrupted: timed out (--timeout)"]
    assert not target.path("after").exists()


def test_an_interrupted_run(target: Target) -> None:
    """Ctrl-C ends a wait."""
    push = begun(target, "1h")
    push.send_signal(signal.SIGINT)
    out, err = push.communicate(timeout=120)
    assert push.returncode == 130, out + err
    assert not target.path("after").exists()


def test_one_that_stands_alone(ccm: Ccm) -> None:
    """``ccm ensure`` waits; it has no state that ``ccm status`` could show."""
    there, gone = str(ccm.scratch), str(ccm.scratch / "nothing")
    done = ccm.run("ensure", "wait", "it", "--file", there)
    assert done.code == 0, done.output
    late = ccm.run("ensure", "wait", "it", "--file", gone, "--timeout", "1s")
    assert late.code == 1, late.output
    assert "the file does not exist" in late.output
    asked = ccm.run("status", "wait", "it")
    assert asked.code == 1, asked.output
    assert "a wait has no state to inspect" in asked.output


def test_bad_input(ccm: Ccm) -> None:
    """What cannot be meant is told with its place before anything is touched."""
    site = ccm.site(
        "ccm:\n  resources:\n    - wait:\n        - both: {port: 80, file: /run/x}\n"
        "        - none: {timeout: 1m}\n        - far: {port: 70000}\n"
        "        - 'of {{ item }}': {foreach: '[1]', timeout: 1m}\n"
    )
    done = ccm.run("validate", str(site))
    assert done.code == 2, done.output
    assert (
        "site.yaml:4:34: wait#both: file: set exactly one of port, url, file or command, not port"
        in done.output
    )
    assert "site.yaml:5:11: wait#none: set exactly one of port, url" in done.output
    assert "site.yaml:7:11: wait#of {{ item }}: set exactly one of port" in done.output
    assert "site.yaml:6:23: wait#far: port must be at most 65535" in done.output
