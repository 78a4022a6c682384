"""Hosts that are past their connect timeout and have not said a word: whom they hold up."""

import resource
from collections.abc import Callable, Iterator

import pytest

from orchestrator.fleet import sliding_window as windows
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.open_file_limit import raise_limit, spare_descriptors
from orchestrator.fleet.sliding_window import Window
from remote_runtime.errors import CcmError

Floor = dict[str, "Told"]


class Told(HostTask[str]):
    """Does what it is told; ``floor`` has those that have begun."""

    def __init__(self, name: str, floor: Floor) -> None:
        super().__init__(name)
        self._floor = floor
        self.mute = False
        self.cancelled = False
        self._over = False

    def begin(self, done: Callable[[str, str], None]) -> None:
        self._done = done
        self._floor[self.name] = self

    def end(self) -> None:
        """Its host is done, if it was not."""
        if not self._over:
            self._over = True
            self._done(self.name, "done")

    def is_unresponsive(self, now: float) -> bool:
        return self.mute

    def cancel(self) -> None:
        self.cancelled = True
        self._done(self.name, "cancelled")

    def abandon(self) -> None:
        """Nothing is held."""

    def _during(self) -> str:
        return self.name

    def _work(self) -> str:
        return ""

    def _ended(self, error: CcmError) -> str:
        return error.kind


Play = Callable[[int, str, Callable[[Floor], Iterator[None]]], dict[str, str]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Plays steps with so many places and hosts of one letter each: what these have come to.

    After each step the window looks at its hosts and begins with others. At the end all end.
    """
    monkeypatch.setattr(windows, "TICK", 0.001)
    monkeypatch.setattr(windows, "KEEP_ALIVE_INTERVAL", 0.0)

    def play(forks: int, names: str, steps: Callable[[Floor], Iterator[None]]) -> dict[str, str]:
        floor: Floor = {}
        ended: dict[str, str] = {}

        def all_steps() -> Iterator[None]:
            yield from steps(floor)
            while True:
                for task in floor.values():
                    task.end()
                yield

        played = all_steps()
        tasks = (Told(name, floor) for name in names)
        Window(tasks, forks, finished=ended.__setitem__, tick=lambda: next(played)).run()
        return ended

    return play


def begun(floor: Floor) -> str:
    return "".join(sorted(floor))


def test_a_mute_host_gives_its_place_to_another(play: Play) -> None:
    """It is waited for beside the others, and goes on in its time."""

    def steps(floor: Floor) -> Iterator[None]:
        yield
        assert begun(floor) == "ab"
        floor["a"].mute = floor["b"].mute = True
        yield
        assert begun(floor) == "abcd"
        floor["c"].end()
        floor["d"].end()
        while begun(floor) != "abcdef":
            yield
        floor["a"].mute = False

    assert play(2, "abcdef", steps) == dict.fromkeys("abcdef", "done")


def test_as_many_are_waited_for_beside_as_there_are_places(play: Play) -> None:
    """Where more are mute, they keep their places until one of all has ended."""

    def steps(floor: Floor) -> Iterator[None]:
        for _ in range(5):
            for task in floor.values():
                task.mute = True
            yield
        assert begun(floor) == "abcd"
        floor["b"].end()
        while begun(floor) == "abcd":
            yield
        assert begun(floor) == "abcde"

    play(2, "abcdefgh", steps)


def test_one_that_speaks_late_takes_a_place_again(play: Play) -> None:
    """Nobody begins until the others have made room for it; nobody is ended for it."""

    def steps(floor: Floor) -> Iterator[None]:
        yield
        floor["a"].mute = True
        yield
        assert begun(floor) == "abc"
        floor["a"].mute = False
        yield
        floor["b"].end()
        yield
        yield
        assert begun(floor) == "abc"
        floor["c"].end()
        while begun(floor) == "abc":
            yield
        assert begun(floor) == "abcd"

    play(2, "abcdef", steps)


def test_mute_hosts_that_end_together_leave_no_room_behind(play: Play) -> None:
    """What was beside the window is not filled with those that speak."""

    def steps(floor: Floor) -> Iterator[None]:
        yield
        floor["a"].mute = floor["b"].mute = True
        yield
        assert begun(floor) == "abcd"
        floor["a"].end()
        floor["b"].end()
        for _ in range(5):
            yield
            assert begun(floor) == "abcd"

    play(2, "abcdefgh", steps)


def test_with_one_place_hosts_come_one_after_the_other(play: Play) -> None:
    """Whoever asks for that gets it, however long a host takes to speak."""

    def steps(floor: Floor) -> Iterator[None]:
        for _ in range(5):
            yield
            assert begun(floor) == "a"
            floor["a"].mute = True

    play(1, "abc", steps)


def test_mute_hosts_are_ended_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends the run ends those that are waited for beside the window, too."""
    monkeypatch.setattr(windows, "KEEP_ALIVE_INTERVAL", 0.0)
    floor: Floor = {}
    ended: dict[str, str] = {}

    def tick() -> None:
        for task in floor.values():
            task.mute = True
        if begun(floor) == "abcd":
            window.interrupt()

    tasks = (Told(name, floor) for name in "abcdef")
    window = Window(tasks, 2, finished=ended.__setitem__, tick=tick)
    window.run()
    assert ended == {**dict.fromkeys("abcd", "cancelled"), **dict.fromkeys("ef", "run.interrupted")}
    assert all(task.cancelled for task in floor.values())


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Sets the soft limit on open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda files: resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_there_is_room_for_mute_hosts(limit: Callable[[int], None]) -> None:
    """The limit on open files is raised for them, too; where it is not, fewer are beside."""
    limit(128)
    assert [spare_descriptors(forks) for forks in (1, 2, 8, 10, 12, 50)] == [0, 2, 4, 2, 0, 0]
    raise_limit(50)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 100 * 5
    assert spare_descriptors(50) == 50
    limit(500)
    assert spare_descriptors(50) == 37


def test_a_limit_that_leaves_no_room_for_mute_hosts_refuses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hosts at a time are refused where they do not fit themselves."""
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 400))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    raise_limit(50)
    assert raised == [(314, 400), (400, 400)]
