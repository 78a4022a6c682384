"""Commands of the user on the controller."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.rollout.gates import GateTime
from orchestrator.rollout.local_command import CommandGate, parse_command, run_command
from tests.texts import expect_text

WELL = [HostResult("web1", Tally()), HostResult("web2", Tally())]


def ask(command: str, seconds: float = 20.0, cancelled: threading.Event | None = None) -> str:
    """Why a gate stops; "" where it lets the wave through."""
    gate = CommandGate(command, seconds, {"run_id": "run-1"}, again=0.05)
    return gate.ask(2, WELL, GateTime(seconds, cancelled or threading.Event())).stop


def test_a_command_gets_the_wave(tmp_path: Path) -> None:
    """It reads the run, the wave and what its hosts came to, and 0 lets them through."""
    assert ask(f"cat > {tmp_path}/told") == ""
    told = json.loads((tmp_path / "told").read_text())
    assert (told["run_id"], told["wave"]) == ("run-1", 2)
    assert [host["host"] for host in told["hosts"]] == ["web1", "web2"]
    assert told["hosts"][0]["outcome"] == "ok"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("echo the pool is degraded; exit 3", "exited with 3: the pool is degraded"),
        ("kill -9 $$", "was killed by signal 9"),
        ("/nonexistent/gate", "exited with 127"),
        ("echo 'a\033[2Jb' >&2; false", "exited with 1: a"),
    ],
)
def test_any_other_code_stops(command: str, says: str) -> None:
    """How it ended is told, with the end of what it printed, safe to show."""
    told = ask(command)
    assert says in told
    assert "\033" not in told


def test_one_that_reads_nothing_may_decide() -> None:
    """More than a pipe holds is not waited for."""
    many = [HostResult(f"web{number}", Tally()) for number in range(2_000)]
    gate = CommandGate("exit 0", 20.0, {})
    assert gate.ask(1, many, GateTime(20.0, threading.Event())).stop == ""


def test_one_that_prints_megabytes_is_heard_to_its_end() -> None:
    """Only the end of it is kept."""
    told = ask("head -c 30000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 1")
    assert told.endswith("the end")
    assert len(told) < 500


def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """The time is over: nothing of it is left behind."""
    told = ask(f"echo $$ > {tmp_path}/pid; sleep 600 & sleep 600", seconds=5.0)
    assert "timed out after 5 s" in told
    group = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 60
    while _is_alive(group) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _is_alive(group)


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_it_leaves_running_holds_nobody_up() -> None:
    """A pipe that is held open by something else says nothing of the command."""
    assert ask("sleep 600 & exit 0") == ""


def test_not_yet_is_asked_again(tmp_path: Path) -> None:
    """75 is no answer: the question is put again until the time is over."""
    command = f"echo x >> {tmp_path}/asked; test $(wc -l < {tmp_path}/asked) -ge 3 || exit 75"
    assert ask(command) == ""
    assert (tmp_path / "asked").read_text() == "x\nx\nx\n"
    expect_text(ask("exit 75", seconds=5.0))


def test_a_question_that_the_end_cuts_off_takes_no_answer_back(tmp_path: Path) -> None:
    """It said not yet before: that is what stops, with what it said."""
    again = f"test -e {tmp_path}/asked && exec sleep 600; touch {tmp_path}/asked"
    told = ask(f"{again}; echo two of three are in sync; exit 75", seconds=6.0)
    assert "not ready (exit code 75) for 6 s: two of three are in sync" in told  # a cut command


def test_nobody_waits_once_the_run_is_ended() -> None:
    """Ctrl-C ends the command."""
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    expect_text(ask("sleep 600", seconds=600, cancelled=cancelled))


def test_a_command_that_reads_slowly_gets_all_of_it(tmp_path: Path) -> None:
    """What does not fit the pipe is written as it is read."""
    told = {"text": "x" * 1_000_000}
    ran = run_command(f"sleep 0.3; cat > {tmp_path}/told", told, lambda: 20.0)
    assert ran.code == 0
    assert json.loads((tmp_path / "told").read_text()) == told


def test_no_login_of_a_url_is_shown() -> None:
    """Neither that of the command, which names the gate, nor that of what it prints."""
    told = ask("echo no answer of https://bob:s3cret@rates.example; exit 1; https://bob:s3cret@x")
    expect_text(told)
    assert "s3cret" not in told


def test_an_empty_command_is_none() -> None:
    """It would let everything through."""
    assert parse_command("./drain.sh --now") == "./drain.sh --now"
    for text in ("", " ", "\n"):
        with pytest.raises(ValueError, match="the command is empty"):
            parse_command(text)
