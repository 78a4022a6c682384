"""What reads a connection in the thread that waits for it, without a connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from orchestrator.transport.ssh_loop import NEVER, Loop, ReadingEvent


class Server:
    """What a loop reads from: each thing that comes is a call, and between them it would wait."""

    def __init__(self, *coming: Callable[[], object]) -> None:
        self.coming = list(coming)
        self.waits: list[float] = []
        self.ended = ""
        self.loop = Loop(self.read)

    def read(self) -> None:
        try:
            while self.coming:
                self.waits.append(self.loop.pause())
                self.coming.pop(0)()
        except EOFError:
            self.ended = "broken off"
        else:
            self.ended = "at its end"


def test_the_thread_that_waits_reads_until_its_answer_is_there() -> None:
    server = Server()
    event, later = ReadingEvent(server.loop), ReadingEvent(server.loop)
    threads: list[int] = []
    server.coming += [
        lambda: threads.append(threading.get_ident()),
        event.set,
        lambda: threads.append(0),
        later.set,
    ]
    assert event.wait(30)
    assert threads == [threading.get_ident()]
    assert len(server.coming) == 2  # what comes behind the answer is left for the next wait
    assert later.wait()
    assert threads[1:] == [0]


def test_an_answer_that_is_there_is_not_waited_for() -> None:
    server = Server(lambda: None)
    event = ReadingEvent(server.loop)
    event.set()
    assert event.wait(0)
    assert len(server.coming) == 1


def test_a_wait_ends_with_its_time() -> None:
    server = Server(*[lambda: time.sleep(0.02)] * 100)
    assert not ReadingEvent(server.loop).wait(0.05)
    assert server.coming
    assert max(server.waits) <= 0.05  # no wait for the server outlasts it


def test_even_a_wait_of_no_time_sees_what_has_arrived() -> None:
    server = Server()
    event = ReadingEvent(server.loop)
    server.coming += [event.set]
    assert event.wait(0)


def test_a_connection_that_ends_answers_nobody() -> None:
    server = Server(lambda: None)
    event = ReadingEvent(server.loop)
    assert not event.wait(30)
    assert server.ended == "at its end"
    assert server.loop.is_over
    assert not event.wait(30)


def test_a_crash_is_the_readers() -> None:
    def crash() -> None:
        raise ZeroDivisionError

    server = Server(crash)
    with pytest.raises(ZeroDivisionError):
        ReadingEvent(server.loop).wait(30)
    assert server.loop.is_over


def test_another_thread_waits_for_the_one_that_reads() -> None:
    server = Server()
    event = ReadingEvent(server.loop)
    found: list[bool] = []
    other = threading.Thread(target=lambda: found.append(event.wait(30)))
    server.coming += [other.start, event.set]
    assert event.wait(30)
    other.join(30)
    assert found == [True]


def test_what_reads_waits_as_any_thread() -> None:
    """It cannot go on while it waits itself."""
    server = Server()
    first, second = ReadingEvent(server.loop), ReadingEvent(server.loop)
    found: list[bool] = []
    server.coming += [lambda: found.append(second.wait(0.01)), first.set]
    assert first.wait(30)
    assert found == [False]


def test_it_is_ended_by_its_own_thread_alone() -> None:
    server = Server(lambda: None, lambda: None)
    server.loop.go_on(lambda: len(server.coming) == 1, NEVER)
    other = threading.Thread(target=server.loop.end)
    other.start()
    other.join(30)
    assert not server.loop.is_over
    server.loop.end()
    assert server.loop.is_over
    assert server.ended == "broken off"
    server.loop.end()


def test_what_has_not_begun_has_nothing_to_end() -> None:
    server = Server(lambda: None)
    server.loop.end()
    assert not server.ended


def test_another_thread_waits_until_it_is_set() -> None:
    """Whoever does not read sees an answer when it comes, and once more behind a ``clear``."""
    server = Server()
    event = ReadingEvent(server.loop)
    found: list[bool] = []
    for _ in range(2):
        threads = [threading.Thread(target=lambda: found.append(event.wait(30))) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        assert not found
        event.set()
        for thread in threads:
            thread.join(30)
        assert found == [True] * 3
        assert event.is_set()
        found.clear()
        event.clear()
        assert not event.is_set()


def test_another_thread_waits_no_longer_than_it_says() -> None:
    server = Server()
    event = ReadingEvent(server.loop)
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(event.wait(0.05)))
    thread.start()
    thread.join(30)
    assert found == [False]
