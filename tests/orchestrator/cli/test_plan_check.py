"""``ccm plan check`` denies a plan by its counters; ``ccm plan show`` begins with its dangers."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.app import main
from orchestrator.plan_files.storage import write_plan
from tests.orchestrator.plan_files.made import keep
from tests.texts import expect_text

GONE = {"changes": [{"what": "ensure", "from": "present", "to": "absent"}]}
WIDER = {"changes": [{"what": "mode", "from": "0600", "to": "0644"}], "prediction": "unknown"}


@pytest.fixture
def plan(tmp_path: Path) -> str:
    """A plan that removes a file on one host and widens a mode on another."""
    path = str(tmp_path / "change.plan")
    write_plan(keep(tmp_path, **{"/etc/motd": GONE, "/etc/app": WIDER}), path)
    return path


def check(plan: str, *words: str) -> int:
    return main(["plan", "check", plan, *words])


def test_a_plan_is_denied(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 1 where one condition holds; the answer says what that is about."""
    assert check(plan, "--deny", "removes>0,reboots>3") == 1
    out = capsys.readouterr().out.splitlines()
    expect_text(out[1:3])
    assert any("remove          file#/etc/motd  on web1" in line for line in out)


def test_what_is_not_counted_is_said(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan passes with what nobody can tell, which the answer names and ``unknown`` denies."""
    assert check(plan, "--deny", "reboots>0") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "not checked: 1 resource cannot be predicted in full" in out
    assert "--deny 'unknown>0'" in out
    assert check(plan, "--deny", "reboots>0", "--deny", "unknown>0", "-q") == 1
    expect_text(capsys.readouterr().out)


def test_what_a_condition_counts_is_not_called_uncounted(
    plan: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither by a line of the answer nor in the list of dangers."""
    assert check(plan, "--deny", "unknown>5") == 0
    out = capsys.readouterr().out
    assert "allowed  unknown is 1 (--deny 'unknown>5')\n" in out
    assert "Dangerous: 1 removal, 1 widened mode\n" in out
    assert "not checked" not in out


def test_the_answer_as_a_document(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs read all counters, each condition, and what no condition sees."""
    assert check(plan, "--deny", "modes_widened>1", "--json") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (document["denied"], document["exit_code"]) == (False, 0)
    assert document["counters"]["modes_widened"] == 1
    assert document["conditions"] == [
        {"condition": "modes_widened>1", "counter": "modes_widened", "value": 1, "denied": False}
    ]
    assert document["not_counted"] == {"unknown": 1}
    assert document["dangers"][1] == {
        "kind": "modes_widened", "what": "file#/etc/app", "by": "", "how": "0600 → 0644",
        "prediction": "unknown", "hosts": ["web1"],
    }  # fmt: skip


@pytest.mark.parametrize("words", [(), ("--deny", "remvoes>0"), ("--deny", "")])
def test_a_check_without_a_condition_is_refused(
    plan: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a misspelt counter nor an empty list lets a plan pass."""
    assert check(plan, *words) == 2
    assert "--deny" in capsys.readouterr().err


def test_dangers_come_first(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They stand before the hosts and their changes."""
    assert main(["plan", "show", plan]) == 0
    out = capsys.readouterr().out
    assert "\nDangerous: 1 removal, 1 widened mode\n" in out
    assert out.index("Dangerous: ") < out.index("\nHosts ")
    assert out.index("    widen mode      file#/etc/app") < out.index("would    file#")
