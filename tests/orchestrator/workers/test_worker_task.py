"""A host that somebody else works on, as the window has it."""

import threading
import time

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.workers.worker_task import RemoteTask, WorkerLostError
from tests.orchestrator.fleet.fakes import FakeHost, make_event, unchanged
from tests.texts import expect_text


class Crew:
    """Takes note; ``answer`` is what a host comes to as soon as it is begun."""

    def __init__(self, answer: HostResult | None = None) -> None:
        self.answer = answer
        self.begun: list[str] = []
        self.told: list[tuple[str, str]] = []
        self.over: list[str] = []

    def begin(self, task: RemoteTask) -> None:
        self.begun.append(task.name)
        if self.answer is not None:
            threading.Thread(target=task.finish, args=(self.answer,)).start()

    def finished(self, task: RemoteTask) -> None:
        self.over.append(task.name)

    def tell(self, task: RemoteTask, word: str) -> None:
        self.told.append((task.name, word))


def test_it_is_begun_and_finished_once() -> None:
    """The window is told the answer, and a second one of the same host counts for nothing."""
    crew, answers = Crew(), list[HostResult]()
    task = RemoteTask(FakeHost("web1"), 0, crew)
    task.begin(lambda name, result: answers.append(result))
    task.finish(result := HostResult("web1", Tally()))
    task.lose(WorkerLostError("killed"))
    assert (answers, crew.begun, crew.over) == ([result], ["web1"], ["web1"])


def test_who_waits_for_it_gets_its_result() -> None:
    """Between two commands a host's task is run in a thread, which waits."""
    result = HostResult("web1", Tally())
    assert RemoteTask(FakeHost("web1"), 0, Crew(result)).run() is result


def test_one_that_is_cancelled_before_it_begins_never_does() -> None:
    """A host that a command before it has held up has no turn once the run is interrupted."""
    crew = Crew()
    task = RemoteTask(FakeHost("web1"), 0, crew)
    task.cancel()
    result = task.run()
    assert (result.outcome, result.phase, crew.begun) == ("interrupted", Phase.WAITING, [])


def test_one_that_is_cancelled_while_it_begins_is_ended() -> None:
    """Whoever ends it just before a worker has it is heard all the same."""

    class Late(Crew):
        def begin(self, task: RemoteTask) -> None:
            task.cancel()  # as the thread of the window does while that of the host is here
            self.told.clear()  # nobody had it to be told
            super().begin(task)

    crew = Late()
    RemoteTask(FakeHost("web1"), 0, crew).begin(lambda name, result: None)
    assert crew.told == [("web1", "cancel")]


def test_it_knows_what_was_told_when_its_worker_is_lost() -> None:
    """Phases, the size of the plan and what events add up to are in the result of a lost host."""
    answers: list[HostResult] = []
    task = RemoteTask(FakeHost("web1"), 0, Crew())
    task.begin(lambda name, result: answers.append(result))
    task.record(run_events.HostPhase("web1", Phase.RUNNING, 2.0))
    task.record(run_events.HostPlanned("web1", ("a", "b", "c")))
    event = make_event(status="changed")
    task.record(run_events.ResourceEvent("web1", event, ""))
    task.record(run_events.ResourcesStable("web1", unchanged("web1", "/b")))
    task.lose(WorkerLostError("killed by signal 9"))
    (lost,) = answers
    assert (lost.outcome, lost.kind, lost.planned) == ("unreachable", "worker.lost", 3)
    assert (lost.tally.changed, lost.tally.stable, lost.tally.unique) == (1, 1, 2)
    assert lost.phases == ((Phase.RUNNING, 2.0),)
    expect_text(lost.message)


def phase(entered: Phase) -> run_events.HostPhase:
    return run_events.HostPhase("web1", entered, 2.0)


def test_a_host_is_mute_from_what_is_told_of_it() -> None:
    """While it waits for its worker it is not, nor once it has spoken; another worker begins
    anew."""
    task = RemoteTask(FakeHost("web1"), 0, Crew(), patience=10.0)
    task.begin(lambda name, result: None)
    later = time.monotonic() + 3600
    found = [task.is_unresponsive(later)]
    task.record(phase(Phase.CONNECTING))
    found += [task.is_unresponsive(time.monotonic()), task.is_unresponsive(later)]
    task.record(phase(Phase.STARTING))
    found.append(task.is_unresponsive(later))
    assert task.begin_again()
    found.append(task.is_unresponsive(later))
    task.record(phase(Phase.CONNECTING))
    found.append(task.is_unresponsive(later))
    for told in (Phase.STARTING, Phase.GATHERING, Phase.PLANNING, Phase.REBOOTING):
        task.record(phase(told))
    found.append(task.is_unresponsive(later))
    assert found == [False, False, True, True, False, True, False]


def test_a_host_that_has_no_turn_says_so() -> None:
    """What a rollout does not come to is held, as in threads."""
    task = RemoteTask(FakeHost("web1"), 0, Crew())
    assert (task.held().outcome, task.held().was_started) == ("held", False)


def test_words_are_passed_on() -> None:
    """Whoever works on it is told to end, or to hang up."""
    crew = Crew()
    task = RemoteTask(FakeHost("web1"), 0, crew)
    task.begin(lambda name, result: None)
    task.cancel()
    task.abandon()
    assert crew.told == [("web1", "cancel"), ("web1", "abandon")]
