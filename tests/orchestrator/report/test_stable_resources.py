"""Resources that are told together, to those who need their events and to those who count."""

import io
import json
from pathlib import Path

from orchestrator.cli.api_responses import Responses
from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.store.session_store import EventStore
from orchestrator.report.terminal.active_hosts import ActiveHosts
from orchestrator.report.terminal.progress_lines import EventLines
from orchestrator.report.unfinished_resources import UnfinishedResources
from tests.orchestrator.fleet.fakes import unchanged

TURNS = unchanged("web1", "/a", "/b")
TOLD = run_events.ResourcesStable("web1", TURNS)
LINES = [line for _, line in TURNS.events()]


def test_each_has_a_line_of_its_own() -> None:
    """``--events`` writes the whole event of each."""
    out = io.StringIO()
    EventLines(out.write).handle(TOLD)
    assert out.getvalue().splitlines() == LINES


def test_a_session_keeps_each_event(tmp_path: Path) -> None:
    """Later commands of a session find the event of each."""
    store = EventStore(tmp_path)
    store.handle(TOLD)
    assert [line for _, line in store.lines()] == LINES


def test_a_response_has_the_last_event() -> None:
    """The response of a pipe has the state that the host told last."""
    out = io.StringIO()
    responses = Responses(out, as_yaml=False, by_host=False)
    responses.handle(TOLD)
    responses.handle(run_events.HostFinished(HostResult("web1", Tally())))
    assert json.loads(out.getvalue())["state"] == json.loads(LINES[-1])


def test_all_are_counted_as_done() -> None:
    """The live view counts each of them."""
    work = ActiveHosts()
    work.handle(run_events.HostPhase("web1", Phase.RUNNING, 1.0))
    work.handle(TOLD)
    assert work.rows["web1"].done == 2


def test_none_is_told_to_have_had_no_turn() -> None:
    """Of a host that was cut short only those are left that nothing was told of."""
    unfinished = UnfinishedResources()
    unfinished.handle(run_events.HostPlanned("web1", ("file#/a", "file#/b", "file#/c")))
    unfinished.handle(TOLD)
    unfinished.handle(run_events.HostFinished(HostResult("web1", Tally(), message="lost")))
    assert unfinished.left == {"web1": ("file#/c",)}
