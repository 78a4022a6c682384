"""``ccm fetch``: files of hosts, brought here."""

import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.push.command import EVENT, Ccm, Run
from tests.push.target import NAME, Target


def fetch(target: Target, *words: str) -> Run:
    """``ccm fetch`` from the host into ``out``; DIR stands for its directory."""
    filled = [target.filled(word) for word in words]
    hosts = ("-i", str(target.inventory), "-l", NAME)
    return target.ccm.run("fetch", *filled, *hosts, "-d", "out")


def fetched(target: Target) -> dict[str, bytes]:
    """Every file of the host that is here, by its name below the host's directory."""
    top = target.ccm.scratch / "out" / NAME / target.directory.strip("/")
    return {str(p.relative_to(top)): p.read_bytes() for p in top.rglob("*") if p.is_file()}


def test_files_and_directories(target: Target) -> None:
    """Files come whole, links stay where they are, and a second time replaces what is here."""
    large = os.urandom(3 << 20)
    target.write("a", large)
    target.write("d/sub/x", "x\n")
    target.write("d/y", "")
    target.path("d/link").symlink_to("/etc")
    done = fetch(target, "DIR/a", "DIR/d", "-r")
    assert done.code == 0, done.output
    assert fetched(target) == {"a": large, "d/sub/x": b"x\n", "d/y": b""}
    assert "1 file, 3145728 bytes" in done.stdout
    assert "1 link or special file omitted" in done.stdout
    target.write("a", "new")
    assert fetch(target, "DIR/a").code == 0
    assert fetched(target)["a"] == b"new"
    assert target.names("d") == ["link", "sub", "y"]
    listed = target.ccm.run("runs").stdout
    assert "(fetch)" in listed
    assert "3 bytes" in target.ccm.run("report", "--host", NAME).stdout


def test_what_cannot_be_fetched_fails(target: Target) -> None:
    """A directory without the option, a link and nothing at all end with 1; the others are here."""
    target.write("d/x", "x")
    target.write("a", "a")
    target.path("link").symlink_to("a")
    done = fetch(target, "DIR/d", "DIR/no", "DIR/link", "DIR/a", "--json")
    assert done.code == 1, done.output
    document = json.loads(done.stdout)
    (event,) = document["events"]
    EVENT.validate({k: v for k, v in event.items() if k not in ("host", "run_id")})
    assert event["error"][0] == "3 of 4 paths could not be fetched"
    refused = "is a symlink to a (specify its target instead)"
    assert document["failures"][0]["errors"][1].endswith(refused)
    assert fetched(target) == {"a": b"a"}
    again = target.ccm.run(
        "run", "-i", str(target.inventory), "-l", f"run:{document['run_id']}:failed", "--", "true"
    )
    assert again.code == 0, again.output


def test_bounds(target: Target) -> None:
    """A file that is too large, and more than all may be together, leave nothing here."""
    target.write("a", "x" * 3000)
    for bound in ("--max-size", "--max-total"):
        done = fetch(target, "DIR/a", bound, "2K")
        assert done.code == 1, done.output
        assert bound in done.stdout
    assert fetched(target) == {}


def begun(target: Target) -> "subprocess.Popen[str]":
    """A fetch in the middle of a file that takes a while, and no room."""
    target.write("a", b"")
    os.truncate(target.path("a"), 3 << 30)
    words = [target.filled("DIR/a"), "--max-size", "9G", "-i", str(target.inventory), "-d", "out"]
    command = target.ccm.start("fetch", "-l", NAME, *words)
    deadline = time.monotonic() + 120
    while not list((target.ccm.scratch / "out").rglob(".ccm-*")):
        assert time.monotonic() < deadline
        assert command.poll() is None, command.communicate()
        time.sleep(0.02)
    return command


def here(target: Target) -> list[str]:
    return [path.name for path in (target.ccm.scratch / "out").rglob("*") if path.is_file()]


def test_interrupted(target: Target) -> None:
    """After Ctrl-C no half of a file is left here, under no name, and the exit code is 130."""
    command = begun(target)
    command.send_signal(signal.SIGINT)
    told = command.communicate(timeout=60)
    assert command.returncode == 130, told
    assert here(target) == []


def test_killed(local: Target) -> None:
    """What is left of a file then is swept by the next fetch, and not by one beside it."""
    local.write("b", b"small")
    killed = begun(local)
    assert fetch(local, "DIR/b").code == 0
    (half,) = set(here(local)) - {"b"}
    killed.kill()
    killed.communicate(timeout=60)
    assert half in here(local)
    assert fetch(local, "DIR/b").code == 0
    assert here(local) == ["b"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["etc/x"], "not an absolute path of a file"),
        (["/etc/../x"], "not a plain path"),
        (["/x", "--max-size", "lots"], "is not a size"),
        (["/x", "--max-total", "0"], "is not a size"),
        (["/x", "--noop"], "never changes hosts"),
        ([], "required: PATH"),
    ],
)
def test_bad_input_is_refused(local: Target, words: list[str], told: str) -> None:
    """What cannot be meant ends with 2 before any host is contacted, and nothing is made."""
    done = fetch(local, *words)
    assert done.code == 2, done.output
    assert told in done.stderr
    assert not (local.ccm.scratch / "out").exists()


def test_a_directory_that_cannot_be_made_is_refused(local: Target) -> None:
    """The option and the reason are named."""
    (local.ccm.scratch / "out").write_text("a file")
    done = fetch(local, "/etc/hostname")
    assert done.code == 2, done.output
    assert "-d out: the directory cannot be created: File exists" in done.stderr


def test_each_host_has_a_directory_of_its_own(ccm: Ccm) -> None:
    """The same path of several hosts does not collide; one that is not reached makes it 3."""
    inventory = ccm.scratch / "hosts.yaml"
    hosts = "".join(f"  h{number}: {{connection: local}}\n" for number in range(1, 4))
    inventory.write_text(f"hosts:\n{hosts}  gone: {{address: 127.0.0.1, port: 1}}\n")
    done = ccm.run("fetch", "-i", str(inventory), "-l", "all", "/etc/passwd", "-d", "out")
    assert done.code == 3, done.output
    assert "h[1-3] (3 hosts)  ok" in done.stdout
    mine = Path("/etc/passwd").read_bytes()
    for name in ("h1", "h2", "h3"):
        assert (ccm.scratch / "out" / name / "etc/passwd").read_bytes() == mine
    again = next(line for line in done.stdout.splitlines() if line.startswith("Retry "))
    words = shlex.split(again.partition("ccm ")[2])
    assert words[:3] == ["fetch", "-l", "gone"]
    assert "--max" not in again
    (ccm.scratch / "out/h1/etc/passwd").unlink()
    words[2] = "h1"
    assert ccm.run(*words).code == 0
    assert (ccm.scratch / "out/h1/etc/passwd").read_bytes() == mine
