"""``ccm run``: a command on hosts, what they said, and what is left of it."""

import json
import shlex
import signal
import subprocess
import time
from typing import Any

import pytest

from tests.lab import Host, Lab
from tests.push.command import EVENT, Ccm, Run
from tests.push.target import NAME, Target


def run(target: Target, *words: str) -> Run:
    """``ccm run`` on the host; DIR stands for its directory."""
    filled = [target.filled(word) for word in words]
    return target.ccm.run("run", "-i", str(target.inventory), "-l", NAME, *filled)


def document(target: Target, *words: str) -> dict[str, Any]:
    """The document of ``--json``; its events fit their schema."""
    found: dict[str, Any] = json.loads(run(target, "--json", *words).stdout)
    for event in found["events"]:
        EVENT.validate({k: v for k, v in event.items() if k not in ("host", "run_id")})
    return found


def said(target: Target, *words: str) -> dict[str, Any]:
    """The one event of a command."""
    (event,) = document(target, *words)["events"]
    found: dict[str, Any] = event
    return found


def test_what_a_host_said_is_shown_and_kept(target: Target) -> None:
    """The answer stands on stdout, and later in the report of the run, of each host alone too."""
    done = run(target, "--shell", "--", "echo hello; echo oops >&2; exit 3")
    assert done.code == 1, done.output
    assert done.stdout.startswith("web1  exit code 3\n    hello\n    oops\n\n")
    assert "Hosts      1: 1 with exit code 3" in done.stdout
    assert done.stderr == ""
    for words in (["report"], ["report", "--host", NAME]):
        again = target.ccm.run(*words)
        assert "web1  exit code 3\n    hello\n    oops\n" in again.stdout
        assert "run of echo hello; echo oops" in again.stdout
    assert "(run)" in target.ccm.run("runs").stdout


def test_words_reach_the_program_as_they_are(target: Target) -> None:
    """Neither ccm nor a shell takes a word apart, and what is run reads an empty input."""
    event = said(target, "--", "printf", "<%s>", "a b", "$HOME", "{{ x }}", "-l", "*")
    assert event["output"] == "<a b><$HOME><{{ x }}><-l><*>"
    assert said(target, "cat")["exit_code"] == 0


def test_a_script_of_the_controller(target: Target) -> None:
    """It is interpreted as its first line says, gets its arguments and leaves nothing behind."""
    script = target.ccm.scratch / "look.py"
    script.write_text(
        "#!/usr/bin/env python3\nimport os, sys\nprint(sys.argv[1:], os.path.realpath(__file__))\n"
    )
    event = said(target, "--script", str(script), "--", "-x", "a b")
    words = event["output"].split()
    assert event["output"].startswith("['-x', 'a b'] ")
    assert said(target, "--", "test", "-e", words[-1])["exit_code"] == 1


def test_no_push_is_in_its_way(target: Target) -> None:
    """A command runs while a push holds the host."""
    slow = "ccm: {resources: [{exec: [{'touch DIR/held; sleep 60': {provider: shell}}]}]}"
    site = target.ccm.site(target.filled(slow), "slow.yaml")
    push = target.ccm.start("push", "-i", str(target.inventory), "-l", NAME, str(site))
    try:
        _wait_until(lambda: target.path("held").exists(), push)
        done = run(target, "--", "uptime")
        assert done.code == 0, done.output
        assert push.poll() is None
    finally:
        push.send_signal(signal.SIGINT)
        push.communicate(timeout=60)


def test_what_failed_is_reached_again(target: Target) -> None:
    """``run:ID:failed`` are the hosts of that command; ``failed`` speaks of pushes only."""
    found = document(target, "--shell", "--", "echo no route >&2; exit 3")
    assert found["failures"][0]["errors"] == ["exit code 3", "no route"]
    run_id = found["run_id"]
    inventory = ["-i", str(target.inventory)]
    again = target.ccm.run("run", *inventory, "-l", f"run:{run_id}:failed", "--", "true")
    assert again.code == 0, again.output
    for word in ("failed", f"run:{run_id}:unreachable"):
        none = target.ccm.run("run", *inventory, "-l", word, "--", "true")
        assert none.code == 2, none.output


@pytest.mark.long("local")
def test_a_timeout(target: Target) -> None:
    """A command whose time is up is killed, has failed, and what it had printed is kept."""
    event = said(target, "--timeout", "5", "--shell", "--", "echo begun; sleep 300")
    assert event["output"] == "begun\n"
    assert "timed out after 5 s" in event["error"][0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_running(target: Target, number: signal.Signals) -> None:
    """After Ctrl-C, and after a kill, the command has ended on the host with all it started."""
    script = "sleep 300 & echo $! > DIR/pid.new; mv DIR/pid.new DIR/pid; wait"
    words = ["--shell", "--", target.filled(script)]
    command = target.ccm.start("run", "-i", str(target.inventory), "-l", NAME, *words)
    _wait_until(lambda: target.path("pid").exists(), command)
    command.send_signal(number)
    out, err = command.communicate(timeout=60)
    assert command.returncode == (130 if number == signal.SIGINT else -number), out + err
    stat = f"/proc/{target.read('pid').strip()}/stat"
    look = f"! grep -q ') [^Z]' {shlex.quote(stat)}"
    deadline = time.monotonic() + 30
    while run(target, "--shell", "--", look).code:
        assert time.monotonic() < deadline, "the command still runs"
        time.sleep(0.2)
    if number == signal.SIGINT:
        assert "interrupted" in out


def _wait_until(holds: Any, command: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        assert command.poll() is None, command.communicate()
        time.sleep(0.1)


def test_hostile_output_is_made_safe(target: Target) -> None:
    """Control characters and bytes that are no text reach neither the terminal nor the record."""
    hostile = r"printf 'a\033[31mred\007\rb\342\200\256c\n\377\376\n'; head -c 3000 /dev/urandom"
    done = run(target, "--shell", "--", hostile)
    told = [done.output, target.ccm.run("report").stdout, target.ccm.run("report", "--json").stdout]
    for text in told:
        assert not {c for c in text if ord(c) < 32 and c not in "\n\t"} | set("\x7f\u202e") & set(
            text
        )
        assert "ared" in text
    assert "ared" in target.ccm.run("report").stdout


def test_a_flood_is_cut(target: Target) -> None:
    """Of what a host prints so much is kept, and how much was left out is said."""
    event = said(target, "--shell", "--", "yes flooding | head -c 30000000; echo the last words")
    assert len(event["output"]) < 200_000
    assert event["output"].endswith("the last words\n")
    assert "bytes omitted" in event["output"]


def test_a_login_is_shown_nowhere(target: Target) -> None:
    """A login in the command is masked wherever the run is told of or kept."""
    done = run(target, "-v", "--", "echo", "http://user:url-password@127.0.0.1/")
    assert done.code == 0, done.output
    told = [done.output, *(target.ccm.run(*words).output for words in (["runs"], ["report", "-v"]))]
    kept = (target.ccm.scratch / "state").rglob("*.json*")
    told += [path.read_text() for path in kept if path.is_file()]
    assert len(told) > 5
    assert not [text for text in told if "url-password" in text]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "the command is missing"),
        (["ls -l"], "--shell"),
        (["--noop", "uptime"], "cannot be predicted"),
        (["--shell", "--script", "x"], "mutually exclusive"),
        (["--script", "nowhere"], "--script nowhere"),
        (["uptime", "-p"], "after --"),
        (["-q", "-v", "uptime"], "mutually exclusive"),
    ],
)
def test_bad_input_is_refused(local: Target, words: list[str], told: str) -> None:
    """What cannot be meant ends with 2 before any host is contacted, and leaves no run."""
    done = run(local, *words)
    assert done.code == 2, done.output
    assert told in done.stderr
    assert "no runs in" in local.ccm.run("runs").stderr


def test_hosts_that_are_not_reached(ccm: Ccm) -> None:
    """They are told first and make the exit code 3; the others have run the command."""
    inventory = ccm.scratch / "hosts.yaml"
    inventory.write_text(
        "hosts:\n  here: {connection: local}\n  gone: {address: 127.0.0.1, port: 1}\n"
    )
    done = ccm.run("run", "-i", str(inventory), "-l", "all", "--", "echo", "hi")
    assert done.code == 3, done.output
    assert done.stdout.startswith("gone  unreachable\n")
    assert "here  exit code 0\n    hi\n" in done.stdout
    quiet = ccm.run("run", "-i", str(inventory), "-l", "all", "-q", "--", "echo", "hi")
    assert "here  exit" not in quiet.stdout


def test_waves(ccm: Ccm) -> None:
    """A wave that fails holds the others; they are told, with the command that runs it there."""
    inventory = ccm.scratch / "hosts.yaml"
    hosts = "".join(f"  h{number}: {{connection: local}}\n" for number in range(1, 5))
    inventory.write_text(f"hosts:\n{hosts}")
    log, words = ccm.scratch / "log", ["--waves", "1,100%", "--timeout", "99", "--shell", "--"]
    line = f"echo ran >> {log}; test -e {ccm.scratch}/mended"
    done = ccm.run("run", "-i", str(inventory), "-l", "all", *words, line)
    assert done.code == 1, done.output
    assert log.read_text() == "ran\n"
    assert "h[2-4] (3 hosts)  not started" in done.stdout
    (again,) = [text for text in done.stdout.splitlines() if "resume with: " in text]
    (ccm.scratch / "mended").touch()
    rest = ccm.run(*shlex.split(again.partition("resume with: ccm ")[2]))
    assert rest.code == 0, rest.output
    assert log.read_text() == "ran\n" * 4


def test_become(ccm: Ccm, lab: Lab, host: Host) -> None:
    """With become the command is the other user's, and begins in that user's home."""
    inventory = str(lab.inventory())
    done = ccm.run("run", "-i", inventory, "-l", NAME, "--shell", "--", "id -un; pwd")
    assert "    root\n    /root\n" in done.stdout, done.output
    words = ["--become=nobody", "--", "id", "-un"]
    done = ccm.run("run", "-i", inventory, "-l", NAME, *words)
    assert "    nobody\n" in done.stdout, done.output
