"""``ccm push`` as a whole, on hosts with ``connection: local``."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests import caches
from tests.texts import expect_text

ROOT = Path(__file__).resolve().parents[3]

SITE = """
data: {{word: hello}}
ccm:
  resources:
    - file:
        - {directory}/motd:
            content: "{{{{ Data.word }}}} {{{{ Host.name }}}}\\n"
            owner: "{owner}"
            group: "{group}"
            mode: "0644"
{more}
"""
FAILING = """
    - exec:
        - bad: {command: "sh -c 'echo sorry >&2; exit 3'"}
"""


class Desk:
    """A workstation with an inventory of one local host (and a dead one) and its own state."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.target = directory / "target"
        self.target.mkdir()
        hosts = "hosts:\n  here: {connection: local}\n  gone: {address: 127.0.0.1, port: 1}\n"
        (directory / "hosts.yaml").write_text(hosts, encoding="utf-8")
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("XDG_")},
            "HOME": str(directory),
            "XDG_STATE_HOME": str(directory / "state"),
            "XDG_CACHE_HOME": str(caches.fill(directory / "cache")),
            "PYTHONPATH": str(ROOT),
        }

    def site(self, more: str = "") -> Path:
        path = self.directory / "site.yaml"
        text = SITE.format(directory=self.target, owner=os.getuid(), group=os.getgid(), more=more)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-m", "orchestrator.cli.app", *words]
        return subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=self.directory,
            env=self.environment,
        )

    def ccm(self, *words: str) -> "tuple[int, str, str]":
        process = self.start(*words)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def push(self, *words: str, limit: str = "here") -> "tuple[int, str, str]":
        return self.ccm("push", "-i", "hosts.yaml", "-l", limit, *words, "site.yaml")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_preview_push_and_push_again(desk: Desk) -> None:
    """A preview shows the diff and changes nothing, a push changes it, the next one is stable."""
    desk.site()
    code, out, err = desk.push("--noop", "--detailed-exitcode")
    assert (code, err) == (4, "")
    assert "+hello here" in out
    assert "nothing was changed" in out
    assert list(desk.target.iterdir()) == []
    code, out, _ = desk.push("--detailed-exitcode")
    assert code == 4
    assert "here  1 changed" in out
    assert (desk.target / "motd").read_text() == "hello here\n"
    code, out, _ = desk.push("--detailed-exitcode")
    assert code == 0
    assert "here  1 unchanged" in out


def test_no_diff_shows_none(desk: Desk) -> None:
    """With --no-diff a preview names what would change without its content."""
    desk.site()
    _, out, _ = desk.push("--noop", "--no-diff")
    assert "+hello" not in out
    assert "motd" in out


def test_json_is_one_document_on_stdout(desk: Desk) -> None:
    """--json gives one document with hosts, events and the exit code; the rest goes to stderr."""
    desk.site()
    code, out, err = desk.push("--json")
    document = json.loads(out)
    assert document["exit_code"] == code == 0
    assert document["hosts"]["here"]["outcome"] == "ok"
    assert document["summary"]["changed"] == 1
    assert [event["host"] for event in document["events"]] == ["here"]
    assert "here  1 changed" in err


@pytest.mark.parametrize("where", ["-", "events.jsonl"])
def test_events_are_json_lines_with_host_and_run(desk: Desk, where: str) -> None:
    """--events writes one transaction event per line, to a file or to stdout."""
    desk.site()
    code, out, _ = desk.push("--events", where)
    text = out if where == "-" else (desk.directory / where).read_text()
    event: dict[str, Any] = json.loads(text)
    assert code == 0
    assert event["protocol"] == "io.choria.ccm.v1.transaction.event"
    assert event["host"] == "here"
    assert event["run_id"].startswith("20")


def test_a_run_that_is_refused_leaves_the_events_of_the_last_one(desk: Desk) -> None:
    """The file of --events is opened only once nothing is left that could refuse the run."""
    desk.site()
    desk.push("--events", "kept.jsonl")
    before = (desk.directory / "kept.jsonl").read_text()
    assert before
    assert desk.ccm("push", "-i", "none.yaml", "--events", "kept.jsonl", "site.yaml")[0] == 2
    assert desk.push("--events", "kept.jsonl", "--data", "x")[0] == 2
    assert (desk.directory / "kept.jsonl").read_text() == before
    code, _, err = desk.push("--events", "no/such/folder")
    assert code == 2
    expect_text(err)


def test_a_failure_is_told_with_its_stderr_and_kept(desk: Desk) -> None:
    """A failed command shows its reason and what it wrote, now and in ccm report."""
    desk.site(FAILING)
    code, out, _ = desk.push()
    assert code == 1
    assert "failed   exec#bad" in out
    assert "│ sorry" in out
    code, again, _ = desk.ccm("report")
    assert code == 0
    assert "│ sorry" in again
    lines = out.splitlines()
    kept = again.splitlines()  # behind two lines about the run
    assert kept[kept.index("") :][:7] == lines[lines.index("") :][:7]
    code, listed, _ = desk.ccm("runs")
    assert "1 failed" in listed
    code, _, err = desk.ccm("runs", "-n", "0")
    assert code == 2
    expect_text(err)


def test_a_host_that_is_down_and_limit_failed(desk: Desk) -> None:
    """A dead host leaves the other alone, exits 3, and ``-l failed`` picks it the next time."""
    desk.site()
    code, out, _ = desk.push(limit="all")
    assert code == 3
    assert "gone  unreachable" in out
    assert (desk.target / "motd").exists()
    code, out, _ = desk.push(limit="failed")
    assert code == 3
    assert "[1/1] gone" in out


def test_quiet_is_silent_when_all_is_well(desk: Desk) -> None:
    """-q writes nothing for a run in which nothing failed."""
    desk.site()
    assert desk.push("-q") == (0, "", "")


def test_options_are_kept_without_values_of_data(desk: Desk) -> None:
    """The run's directory holds the options, and of --data only the names."""
    desk.site()
    assert desk.push("--data", "word=hunter22")[0] == 0
    (run,) = (desk.directory / "state" / "ccm" / "runs").iterdir()
    about = json.loads((run / "run.json").read_text())
    assert about["options"]["data"] == ["word"]
    assert "hunter22" not in (run / "run.json").read_text()


def _survivors(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line.split(b"\0"):
                found.append(entry.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to look around")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_run_and_its_commands(desk: Desk, number: signal.Signals) -> None:
    """The first signal ends the command in flight and says how far the host was."""
    mark = f"600.{os.getpid()}{int(number)}"
    desk.site(f'    - exec:\n        - wait: {{command: "sleep {mark}"}}\n')
    process = desk.start("push", "-i", "hosts.yaml", "-l", "here", "site.yaml")
    deadline = time.monotonic() + 60
    while not _survivors(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _survivors(mark)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted while running" in out
    assert "of 2 resources" in out
    assert "press Ctrl-C again" in err
    deadline = time.monotonic() + 60
    while _survivors(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _survivors(mark) == []


def test_output_that_cannot_be_written_is_told_once(desk: Desk) -> None:
    """A run whose standard output is on a full disk says so in one line."""
    desk.site()
    argv = [sys.executable, "-m", "orchestrator.cli.app", "push", "-i", "hosts.yaml", "-l", "here"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*argv, "site.yaml"], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
            text=True, check=False, cwd=desk.directory, env=desk.environment,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        1,
        "ccm: error: cannot write output: No space left on device\n",
    )


def test_a_run_that_could_not_be_kept_is_not_offered_again(desk: Desk) -> None:
    """Where the run's directory cannot be written the summary does not point to ccm report."""
    desk.site()
    _, out, _ = desk.push()
    assert "see ccm report" in out
    runs = desk.directory / "state" / "ccm" / "runs"
    desk.site(f"""
    - exec:
        - gone: {{command: "mv {runs} {runs}.moved"}}
""")
    code, out, err = desk.push()
    assert code == 1
    expect_text(err)
    assert "Hosts      1: 1 changed" in out
    assert "ccm report" not in out
