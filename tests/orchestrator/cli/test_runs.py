"""``ccm runs``: what the kept runs came to, one below the other."""

import json
from pathlib import Path

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.report import headline
from orchestrator.cli.runs import RunRow, table
from orchestrator.fleet.events import RunStarted
from orchestrator.fleet.store.run_directory import RunDirectory
from orchestrator.fleet.store.stored_runs import saved_run
from tests.orchestrator.report.runs import START, Kept
from tests.texts import expect_text

RUN = RunRow(
    "20260921T133640Z-aaaaaa",
    "2026-09-21 13:36",
    "3 min 05 s",
    changed="12",
    failed="1",
    who="alice@desk",
    commit="8c1f0de2+",
    predicted="11/12",
    manifest="site.yaml (noop)",
    outcome="1 failed, 40 would change",
)


@pytest.fixture
def trend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs of one manifest, the last of a plan."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for number in (1, 2, 3):
        kept = Kept("web1", "web2", run_id=f"20260921T13364{number}Z-aaaaaa")
        for host in ("web1", "web2"):
            for at in range(number):
                misprediction = ["", "stable"][at % 2] if number > 2 else None
                kept.event(host, f"/etc/{at}", "changed", misprediction=misprediction)
        if number == 2:
            kept.event("web1", "/etc/x", "failed", error=["no"])
        kept.end()


def runs(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["runs", *words]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("trend")
def test_the_trend_is_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Changed and failed resources, and those as a plan had predicted, stand below each other."""
    head, *lines = runs(capsys)
    assert head.split()[3:] == ["CHANGES", "FAILURES", "PLAN", "MANIFEST", "HOSTS"]
    cells = [line[head.index("TOOK") + 6 : head.index("MANIFEST")].split() for line in lines]
    assert cells == [["6", "0", "4/6"], ["4", "1"], ["2", "0"]]


@pytest.mark.usefixtures("trend")
def test_one_long_command_leaves_the_table_narrow(capsys: pytest.CaptureFixture[str]) -> None:
    """The words of a command are cut short in the list of runs; --json has them whole."""
    words = "systemctl status " + " ".join(f"unit{n}.service" for n in range(20))
    started = RunStarted("20260921T133650Z-aaaaaa", START, ("web1",), False, words, "run", "")
    directory = RunDirectory(started, {})
    directory.close()
    head, first, *_ = runs(capsys)
    assert "systemctl status unit0" in first
    assert head.index("HOSTS") - head.index("MANIFEST") < 60
    assert json.loads(runs(capsys, "--json")[0])["manifest"] == words


@pytest.mark.usefixtures("trend")
def test_a_record_that_is_spoilt_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What its hosts came to cannot be read, which hides no other run."""
    (tmp_path / "ccm/runs/20260921T133642Z-aaaaaa/hosts.jsonl").write_text("no\n")
    _, _, damaged, _ = runs(capsys)
    assert damaged.split()[-4:] == ["site.yaml", "cannot", "be", "read"]
    assert "summary" not in json.loads(runs(capsys, "--json")[1])


@pytest.mark.usefixtures("trend")
def test_the_runs_of_one_manifest_are_picked(capsys: pytest.CaptureFixture[str]) -> None:
    """-n counts those of the manifest only; of another one there is none."""
    assert len(runs(capsys, "/srv/site/site.yaml", "-n", "2")) == 3
    assert main(["runs", "/srv/site/other.yaml"]) == 0
    expect_text(capsys.readouterr().err)


@pytest.mark.usefixtures("trend")
def test_scripts_get_the_sums(capsys: pytest.CaptureFixture[str]) -> None:
    """Each object has the run's totals and how many hosts came to what."""
    last, failed, _ = (json.loads(line) for line in runs(capsys, "--json"))
    assert (last["summary"]["compared"], last["summary"]["as_predicted"]) == (6, 4)
    assert failed["outcomes"] == {"failed": 1, "ok": 1}
    assert failed["summary"]["failed"] == 1


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_terminal_shows_whole_lines(width: int) -> None:
    """Where the outcome has no room beside its run, it stands below it with the manifest."""
    lines = table([RUN, RUN], width)
    assert max(map(len, lines)) <= width
    assert any("failed, 40 would change" in line for line in lines)


def test_no_plan_takes_no_room() -> None:
    """Without any plan in the list there is no column of what was predicted."""
    head, line = table([RUN._replace(predicted="")], 0)
    assert "PLAN" not in head
    assert line.endswith("site.yaml (noop)  1 failed, 40 would change")


def test_a_command_stands_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script of many lines takes one line of the list, and one of the report's heading."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    script = "echo a\necho \x1b[31m b\n" + "true; " * 100
    run_id = "20260921T133640Z-aaaaaa"
    directory = RunDirectory(RunStarted(run_id, START, ("web1",), False, script, "run"), {})
    directory.close()
    _, listed = runs(capsys)
    assert "  echo a echo " in listed
    assert "\x1b" not in listed
    assert len(listed) < 250
    line = headline(saved_run(run_id))
    assert "run of echo a echo " in line
    assert line.isprintable()
