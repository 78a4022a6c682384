"""A refresh that is due is not lost, whatever the run before came to."""

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm
from tests.push.target import Target, over_ssh

SITE = """\
ccm:
  fail_on_error: STOP
  resources:
    - file:
        - DIR/conf: {content: "port = VALUE\\n", owner: OWNER, group: GROUP, mode: "0644"}
    - exec:
        - defaults: {provider: shell, cwd: DIR}
        - test: {command: "grep -q '[0-9]' conf"}
        - restart: {command: "echo >> restarted", refresh_only: true,
                    subscribe: ["file#DIR/conf"], require: [exec#test]}
"""


WARNING = "changed in this run, but the refresh of exec#restart is still pending"


def unwrapped(text: str) -> str:
    """The text without its line breaks, whose places depend on the names in it."""
    return " ".join(text.split())


def test_a_mistake_and_its_correction(target: Target) -> None:
    """What a failed test of a configuration kept from being restarted is restarted once."""

    def push(value: str, *options: str, stop: str = "false") -> dict[str, Any]:
        run = target.push(SITE.replace("VALUE", value).replace("STOP", stop), *options)
        events = {event["name"]: event for event in run.events}
        return {**events, "code": run.code, "output": run.output}

    assert push("80")["restart"]["refreshed"] is True
    broken = push("eighty")
    assert broken["code"] == 1
    since = broken["restart"]["run_id"]
    assert broken["restart"]["due_since"] == since
    assert WARNING in unwrapped(broken["output"])

    # The file was changed by hand to what the manifest says: nothing changes in the next run.
    target.write("conf", "port = 8080\n")
    preview = push("8080", "--noop")
    assert preview["restart"]["noop_message"] == "Would have executed via subscribe"
    assert preview["restart"]["due_since"] == since
    assert f"refresh pending since run {since}" in preview["output"]
    mended = push("8080")
    assert (mended["code"], mended["restart"]["due_since"]) == (0, since)
    assert mended["restart"]["changed"]
    assert f"refresh pending since run {since}" in mended["output"]
    assert target.read("restarted") == "\n\n"
    assert push("8080")["restart"]["status"] == "stable"


def test_what_had_no_turn(target: Target) -> None:
    """With fail_on_error the subscriber has no turn and no event; the summary names it."""
    site = SITE.replace("STOP", "true")
    broken = target.push(site.replace("VALUE", "eighty"))
    assert "restart" not in [event["name"] for event in broken.events]
    assert WARNING in unwrapped(broken.output)
    target.write("conf", "port = 1\n")
    done = target.push(site.replace("VALUE", "1"))
    assert done.event("exec#restart")["due_since"] == broken.events[0]["run_id"]


SLOW = """\
ccm:
  resources:
    - file:
        - DIR/conf: {content: "1", owner: OWNER, group: GROUP, mode: "0644"}
    - exec:
        - defaults: {provider: shell, cwd: DIR}
        - slow:
            command: >-
              touch begun; for i in $(seq 600); do test -e good && exit; sleep 0.1; done; exit 1
        - restart: {command: "echo >> restarted", refresh_only: true, subscribe: ["file#DIR/conf"]}
"""


def begun(target: Target) -> "subprocess.Popen[str]":
    """A push that has changed the file, and is not yet at what subscribes to it."""
    site = str(target.ccm.site(target.filled(SLOW)))
    push = target.ccm.start("push", "-i", str(target.inventory), "-l", "web1", site)
    deadline = time.monotonic() + 120
    while not target.path("begun").exists():
        assert time.monotonic() < deadline, "the push does not come to its command"
        assert push.poll() is None, push.communicate()
        time.sleep(0.05)
    return push


MADE_UP_FOR = (False, ("stable", True, True), "stable", "\n")


def pushed_again(target: Target, push: "subprocess.Popen[str]") -> tuple[object, ...]:
    """Whether the push that was cut short restarts, what the next one and the one after it do, and
    what all of them leave."""
    target.write("good", "")
    with contextlib.suppress(subprocess.TimeoutExpired):
        push.communicate(timeout=60)
    early = target.path("restarted").exists()
    again = target.push(SLOW)
    assert again.code == 0, again.output
    restart = again.event("exec#restart")
    due = restart["due_since"] < restart["run_id"]
    found = target.event(again, "file#conf")["status"], restart["refreshed"], due
    last = target.push(SLOW).event("exec#restart")["status"]
    return early, found, last, target.read("restarted")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_a_controller_that_ends(target: Target, how: signal.Signals) -> None:
    """Neither Ctrl-C nor the death of the controller loses a refresh."""
    push = begun(target)
    push.send_signal(how)
    push.wait(60)
    assert pushed_again(target, push) == MADE_UP_FOR


@pytest.mark.parametrize("cut", [Host.kill_sessions, Host.reboot], ids=["connection", "reboot"])
def test_a_host_that_is_lost(ccm: Ccm, lab: Lab, host: Host, cut: Callable[[Host], None]) -> None:
    """Neither a connection that is cut nor the power of the host that goes loses one."""
    push = begun(over_ssh(ccm, lab, host))
    cut(host)
    assert push.wait(120) == 3
    assert pushed_again(over_ssh(ccm, lab, host), push) == MADE_UP_FOR
