"""Where a rollout stands, as people read it."""

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.report.terminal.rollout_progress import RolloutProgress
from tests.texts import expect_text

PLANNED = run_events.RolloutPlanned((("a",), ("b", "c")), 0, {}, "ccm push -l run:x:remaining s")


def rollout(*events: run_events.Event, noop: bool = False) -> RolloutProgress:
    found = RolloutProgress()
    found.handle(run_events.RunStarted("run", 0.0, ("a", "b", "c"), noop))
    for event in events:
        found.handle(event)
    return found


def ended(host: str, how: str = outcome.OK) -> run_events.HostFinished:
    return run_events.HostFinished(HostResult(host, Tally(), how))


def test_a_rollout_without_options_has_nothing_to_tell() -> None:
    """A run without waves, budget and gates looks as ever."""
    found = rollout(ended("a"))
    assert found.now(1.0) == ""
    assert list(found.summary(80)) == []


def test_it_says_where_it_stands() -> None:
    """The wave, how far it is, what the budget has left and what is waited for."""
    wave = run_events.WaveStarted(2, 1.0)
    gate = run_events.GateAsked(2, "soak 5m", 10.0, 310.0)
    found = rollout(PLANNED, run_events.WaveStarted(1, 0.0), ended("a"), wave, ended("b"))
    expect_text(found.now(1.0))
    found.handle(gate)
    assert found.now(10.0).endswith("waiting for soak 5m (must pass within 5 min 00 s)")
    expect_text(found.line(wave))


def test_hosts_that_were_not_reached_are_not_called_failed() -> None:
    """Without a limit, the result of a rollout uses the words of the totals."""
    plan = PLANNED._replace(max_fail=None, waves=(("a", "b"),))
    lost, failed = ended("a", outcome.UNREACHABLE), ended("b", outcome.FAILED)
    for results, words in (
        ([lost], "complete: 1 host unreachable"),
        ([failed], "complete: 1 host failed"),
        ([lost, failed], "complete: 2 hosts failed or unreachable"),
    ):
        assert list(rollout(plan, *results).result_lines()) == [("Rollout", words)]


def test_gates_that_are_asked_at_once_are_counted() -> None:
    """The one that ends first has its name told; an answer leaves those of others waiting."""
    soak, verify = (
        run_events.GateAsked(1, name, 10.0, end)
        for name, end in (("soak 5m", 310.0), ("verify", 70.0))
    )
    found = rollout(
        PLANNED, run_events.WaveStarted(1, 0.0), soak, soak._replace(until=315.0), verify
    )
    assert found.now(10.0).endswith(
        "waiting for verify and 2 more gates (must pass within 1 min 00 s)"
    )
    found.handle(run_events.GateAnswered(1, "verify", True, "", (), 11.0))
    assert found.now(11.0).endswith(
        "waiting for soak 5m and 1 more gate (must pass within 4 min 59 s)"
    )
    found.handle(run_events.GateAnswered(1, "soak 5m", True, "", (), 12.0))
    assert found.waits
    found.handle(run_events.GateAnswered(1, "soak 5m", True, "", (), 12.0))
    assert not found.waits
    assert "waiting" not in found.now(12.0)


def test_a_held_rollout_says_why_and_how_to_go_on() -> None:
    """The reason, who had no turn, and the command for those."""
    held = run_events.RolloutHeld("budget", "", ("b", "c"), 1.0)
    found = rollout(PLANNED, run_events.WaveStarted(1, 0.0), ended("a", outcome.FAILED), held)
    assert list(found.summary(80)) == [
        ("Rollout", "wave 1 of 2: 1 host failed (limit 0)"),
        ("", "stopped: 1 host failed (limit 0); 2 hosts not started"),
        ("", "resume with: ccm push -l run:x:remaining s"),
    ]
    expect_text(found.line(held))
    assert found.line(held._replace(hosts=())) == "stopped: 1 host failed (limit 0)"


def test_a_gate_that_did_not_pass_is_told() -> None:
    """What it said, and whom it found wrong."""
    answer = run_events.GateAnswered(1, "verify", False, "2 checks failed", ("a",), 3.0)
    found = rollout(PLANNED, run_events.WaveStarted(1, 0.0), answer)
    told = "after wave 1: verify failed on a: 2 checks failed"
    assert found.line(answer) == told
    assert ("Gate", told) in list(found.summary(80))


def test_a_single_wave_without_a_budget_leaves_no_empty_line() -> None:
    """Where nothing is to be counted the totals say at once what held it."""
    planned = run_events.RolloutPlanned((("a", "b", "c"),), None, {"confirm": True}, "")
    found = rollout(planned, run_events.WaveStarted(1, 0.0), ended("a"))
    found.handle(run_events.RolloutHeld("gate", "not confirmed", (), 2.0))
    assert list(found.summary(80)) == [("Rollout", "stopped: not confirmed")]


def test_a_preview_shows_who_is_in_which_wave() -> None:
    """Nothing is held back in a preview."""
    waves = [("Waves", "1: a"), ("", "2: b, c (2 hosts)")]
    assert list(rollout(PLANNED, noop=True).summary(80)) == waves
    canaries = rollout(PLANNED._replace(wishes={"canary": "auto"}), noop=True)
    assert list(canaries.summary(80)) == [
        ("Waves", "one canary of each group with the same changes, then the others:"),
        ("", "1: a"),
        ("", "2: b, c (2 hosts)"),
    ]


STAGED = run_events.RolloutPlanned(
    (("db/a",), ("web/b",), ("web/c", "web/d")),
    None,
    {},
    "ccm push -l run:x:remaining s",
    ("db", "web", "web"),
    {"db": 0, "web": 1},
)


def test_a_preview_says_where_a_push_would_be_held() -> None:
    """Where it would come out as previewed: by the budget of the stage, and by that of the run."""
    failed = [ended("db/a", outcome.FAILED), ended("web/b", outcome.UNREACHABLE), ended("web/c")]
    told = (
        "a push would stop in wave 1 (db): 1 host failed (limit 0);"
        " 3 hosts of later waves would not start"
    )
    found = rollout(STAGED, *failed, noop=True)
    assert list(found.summary(80))[-1] == ("Rollout", told)
    assert list(found.result_lines()) == [("Rollout", told)]
    allowing = STAGED._replace(max_fail=1, limits={"db": None, "web": None})
    ((_, told),) = rollout(allowing, *failed, noop=True).result_lines()
    assert told.startswith("a push would stop in wave 2 (web): 2 hosts failed (limit 1); 2 hosts")
    unstaged = rollout(PLANNED, ended("a", outcome.FAILED), noop=True)
    ((_, told),) = unstaged.result_lines()
    assert told.startswith("a push would stop in wave 1: 1 host failed (limit 0); 2 hosts")


def test_a_preview_that_would_go_through_says_nothing_of_it() -> None:
    """Nor where only the last wave fails, nor where the user has ended it."""
    for how in (
        ended("web/d", outcome.FAILED),
        ended("db/a", outcome.INTERRUPTED),
        ended("web/b", outcome.FAILED),
    ):
        assert list(rollout(STAGED, how, noop=True).result_lines()) == []


def test_a_stage_is_named_with_what_may_fail_in_it() -> None:
    """What failed in the stages before it counts there only."""
    found = rollout(STAGED, run_events.WaveStarted(1, 0.0), ended("db/a", outcome.FAILED))
    expect_text(found.now(1.0))
    found.handle(run_events.WaveStarted(3, 1.0))
    found.handle(ended("web/c", outcome.FAILED))
    expect_text(found.now(1.0))


def test_a_stage_that_is_held_is_begun_with() -> None:
    """The command that goes on takes those before it for done."""
    held = run_events.RolloutHeld("budget", "", ("db/a", "web/b"), 1.0)
    found = rollout(STAGED, run_events.WaveStarted(1, 0.0), ended("db/a", outcome.FAILED), held)
    told = [text for _, text in found.summary(80)]
    expect_text(told[-1])


def test_a_rollout_that_never_began_goes_on_with_all_stages() -> None:
    """There is no stage to name then."""
    held = run_events.RolloutHeld("interrupted", "", ("db/a", "web/b"), 1.0)
    told = [text for _, text in rollout(STAGED, held).summary(80)]
    expect_text(told[-1])


def test_a_single_stage_needs_no_beginning() -> None:
    """There is nothing before it to leave out."""
    one = STAGED._replace(waves=(("web/b",), ("web/c",)), stages=("web", "web"), limits={"web": 0})
    held = run_events.RolloutHeld("budget", "", ("web/c",), 1.0)
    found = rollout(one, run_events.WaveStarted(1, 0.0), ended("web/b", outcome.FAILED), held)
    expect_text([text for _, text in found.summary(80)][-1])


def test_the_budget_of_the_run_is_told_once_it_is_spent() -> None:
    """Though the stage itself has no limit."""
    whole = STAGED._replace(max_fail=0, limits={"db": None, "web": None})
    found = rollout(whole, run_events.WaveStarted(1, 0.0), ended("db/a", outcome.FAILED))
    found.handle(run_events.WaveStarted(2, 0.0))
    assert found.now(1.0).endswith("1 host failed (limit 0)")
