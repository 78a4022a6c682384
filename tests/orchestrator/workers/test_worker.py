"""A worker, here in a thread of the test's own process."""

import json
import queue
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.engine import Job
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.workers import worker
from orchestrator.workers.channel import Channel
from orchestrator.workers.event_sender import EventSender
from orchestrator.workers.worker import Worker
from tests.orchestrator.fleet.fakes import SETTINGS, FakeHost
from tests.orchestrator.workers.scenes import Connectors, Remembering, hanging
from tests.texts import expect_text

HOSTS = {name: FakeHost(name) for name in ("web1", "web2", "hangs")}


class Scene:
    """The controller's side of a worker."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        self.connector = Connectors(scripts={"hangs": hanging})
        self.failures: queue.SimpleQueue[Exception] = queue.SimpleQueue()
        self.planner = Remembering()
        self.package_metadata = PackageMetadataCache()
        self.thread = threading.Thread(target=self._serve, args=(Channel(theirs),), daemon=True)
        self.thread.start()
        self._lines = self._told()

    def _serve(self, channel: Channel) -> None:
        worker.serve(
            channel,
            [Job(self.planner, SETTINGS)],
            hosts=HOSTS,
            connector=self.connector,
            planners=[self.planner],
            package_metadata=self.package_metadata,
            failed=self.failures.put,
        )

    def say(self, *message: Any) -> None:
        self.channel.send(json.dumps(message))

    def _told(self) -> Iterator[str]:
        """What it tells until it ends."""
        while True:
            try:
                text = self.channel.receive(300)
            except EOFError:
                return
            assert text is not None
            yield from text.split("\n")

    def await_(self, *begin: str) -> str:
        """The next line that begins in one of these ways."""
        return next(line for line in self._lines if line.startswith(begin))


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.channel.close()
    made.thread.join(300)


def test_hosts_are_begun_in_one_message_and_end_each_for_itself(scene: Scene) -> None:
    """Any number of them may be begun at once; the last word is what its planners know."""
    scene.say("begin", [[0, "web1"], [0, "web2"]])
    ends = {json.loads(scene.await_("f").partition("\t")[2])["host"] for _ in range(2)}
    assert ends == {"web1", "web2"}
    scene.say("close", None)
    left = json.loads(scene.await_("l")[1:])
    assert [sorted(told) for told in left] == [["web1", "web2"]]
    scene.thread.join(300)
    assert not scene.thread.is_alive()


@pytest.mark.parametrize("word", ["cancel", "abandon"])
def test_a_host_is_ended_by_a_word(scene: Scene, word: str) -> None:
    """What was interrupted says so, and a word about a host that has ended is passed over."""
    scene.say("begin", [[0, "hangs"]])
    scene.await_("ehangs")
    scene.say(word, "hangs")
    result = json.loads(scene.await_("fhangs").partition("\t")[2])
    assert result["outcome"] == {"cancel": "interrupted", "abandon": "unreachable"}[word]
    scene.say(word, "hangs")
    scene.say("begin", [[0, "web1"]])
    assert '"outcome":"ok"' in scene.await_("fweb1")


def test_it_ends_when_its_controller_is_gone(scene: Scene) -> None:
    """A host at work does not hold it."""
    scene.say("begin", [[0, "hangs"]])
    scene.await_("ehangs")
    scene.channel.close()
    scene.thread.join(300)
    assert not scene.thread.is_alive()
    scene.connector.links["hangs"].close()


def test_what_it_cannot_tell_ends_it(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect in telling is told by the worker's end, and before that of a host that takes long:
    no host's events are lost in silence."""

    def broken(self: EventSender, event: run_events.Event) -> None:
        raise RuntimeError("what is this")

    monkeypatch.setattr(EventSender, "handle", broken)
    scene.say("begin", [[0, "hangs"]])
    expect_text(str(scene.failures.get(timeout=300)))
    scene.say("abandon", "hangs")


def test_what_is_told_of_a_host_comes_before_its_end(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where another host's thread is about to deliver it: who hears of a host that has ended
    takes that for a defect of the worker."""
    telling, over = threading.Event(), threading.Event()

    def slow(self: EventSender, event: run_events.Event, handle: Any = EventSender.handle) -> None:
        if not telling.is_set():
            telling.set()
            over.wait(300)
        handle(self, event)

    def watched(self: Worker, *told: Any, done: Any = Worker._over) -> None:
        done(self, *told)
        over.set()

    monkeypatch.setattr(EventSender, "handle", slow)
    monkeypatch.setattr(Worker, "_over", watched)
    scene.say("begin", [[0, "hangs"]])
    assert telling.wait(300)
    scene.say("begin", [[0, "web1"]])
    assert scene.await_("eweb1", "fweb1").startswith("e")
    scene.await_("fweb1")


def test_what_is_asked_once_in_a_run_is_asked_by_the_controller(scene: Scene) -> None:
    """A question goes to it by a number, and whoever asks waits for the answer of that number."""
    sha = "a" * 64
    scene.say("begin", [[0, "web1"]])  # then it is at work
    scene.await_("fweb1")
    with ThreadPoolExecutor(1) as threads:
        known = threads.submit(scene.package_metadata.ask, [sha], "web1")
        number, _, asked = scene.await_("q")[1:].partition("\t")
        assert json.loads(asked) == [0, ["ask", [sha], {}, "web1"]]
        assert not known.done()
        scene.say("answer", [int(number), [[{}, {sha: "{}"}, []], None]])
        assert known.result(300).alone == {sha: "{}"}
