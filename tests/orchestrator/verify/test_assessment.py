"""What a verify comes to: counts, exit code, record."""

from __future__ import annotations

import io
from typing import Any

import pytest

from orchestrator.cli.exit_code import worse_exit_code
from orchestrator.report.terminal.style import Style
from orchestrator.report.terminal.verify_results import Progress, Verification
from orchestrator.verify.assessment import Assessment, Outcome
from tests.texts import expect_text

GOOD = Outcome("web1", "file#/a", "passed")
BAD = Outcome("web1", "file#/b", "failed", "mode: expected 0644, found 0600")
OTHER = Outcome("web2", "test_x.py::test_y", "skipped", "web2 could not be reached")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"outcomes": [GOOD, OTHER]}, 0),
        ({"outcomes": [GOOD, BAD]}, 1),
        ({"outcomes": [BAD], "unreached": {"web2": "gone"}}, 3),
        ({"unreached": {"web2": "gone"}, "defect": True}, 70),
        ({"refused": ["no Python"], "unreached": {"web2": "gone"}}, 2),
        ({"interrupted": True, "refused": ["no Python"]}, 130),
    ],
)
def test_the_strongest_reason_decides(fields: dict[str, Any], code: int) -> None:
    """Interrupted and refused beat all, a host not reached beats a failed check."""
    assert Assessment(**fields).exit_code == code


@pytest.mark.parametrize(
    ("push", "verify", "code"),
    [(0, 0, 0), (4, 0, 4), (4, 1, 1), (1, 3, 3), (3, 1, 3), (0, 70, 70), (3, 130, 130)],
)
def test_a_push_and_its_verify_have_one_code(push: int, verify: int, code: int) -> None:
    """The one that says more."""
    assert worse_exit_code(push, verify) == code


def written(*outcomes: Outcome, verbose: bool = False, quiet: bool = False) -> str:
    out = io.StringIO()
    report = Verification(out, Style(), verbose=verbose, quiet=quiet)
    report.begin("site.yaml", 2)
    for outcome in outcomes:
        report.take(outcome)
    made = Assessment(2, outcomes, unreached={"web3": "gone"}, left_out={"in noop": 3})
    report.finish(made, 1.25)
    return out.getvalue()


def test_the_report_goes_host_by_host() -> None:
    """A host's failures stand below its counts, what passed only with -v."""
    expect_text(written(GOOD, BAD, OTHER))
    assert "  passed   file#/a\n" in written(GOOD, BAD, verbose=True)
    expect_text(written(OTHER, verbose=True))


def test_what_many_hosts_fail_alike_stands_once() -> None:
    """Sixty equal failures are one block with the hosts' names, and the counts one line."""
    lines = written(*(BAD._replace(host=f"web{n}") for n in range(1, 61)))
    assert lines.splitlines()[2:6] == [
        "  failed   file#/b on web[1-60] (60 hosts)",
        "           mode: expected 0644, found 0600",
        "web[1-60] (60 hosts)  each 1 failed",
        "",
    ]
    own = written(BAD, BAD._replace(host="web2"), BAD._replace(host="web2", label="file#/c"))
    assert own.count("mode: expected") == 2
    assert "web2  2 failed\n  failed   file#/c\n" in own


def test_what_had_no_turn_is_told() -> None:
    """After -x, or an interrupt, the checks that did not run are counted and their hosts named."""
    stopped = Assessment(3, [BAD], not_run={"web1": 2, "web2": 3, "web3": 3})
    for made, why in (
        (stopped, "stopped at the first failure"),
        (stopped._replace(interrupted=True), "interrupted"),
    ):
        out = io.StringIO()
        report = Verification(out, Style(), verbose=False, quiet=False)
        report.take(BAD)
        report.finish(made, 1.0)
        expect_text(out.getvalue())
        assert f"{why}: 8 checks not run; no check ran on web[2-3] (2 hosts)\n" in out.getvalue()
    assert stopped.record()["not_run"] == {"web1": 2, "web2": 3, "web3": 3}


def test_the_answers_are_counted_while_they_come() -> None:
    """Where no terminal is, there is a line every half a minute; a terminal's is drawn over."""
    now = [0.0]
    out = io.StringIO()
    progress = Progress(out, 60, clock=lambda: now[0])
    for answered in (1, 2, 3):
        progress(answered)
        now[0] += 25.0
    expect_text(out.getvalue())


def test_a_quiet_report_shows_failures_only() -> None:
    """A host without a failure has no line."""
    lines = written(GOOD, BAD, OTHER, quiet=True).splitlines()
    assert lines[0] == "web1  1 passed, 1 failed"
    assert not any(line.startswith("web2") for line in lines)


def test_the_record_names_every_failure() -> None:
    """What stands in --json."""
    record = Assessment(1, [GOOD, BAD]).record()
    assert (record["passed"], record["failed"], record["exit_code"]) == (1, 1, 1)
    assert record["failures"] == [{"host": "web1", "check": BAD.label, "text": BAD.text}]
