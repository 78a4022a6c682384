import threading
from collections.abc import Sequence

import pytest

from orchestrator.registration.entry import Query, Registration, source_of
from orchestrator.registration.errors import RegistrationError
from orchestrator.registration.lookup import RegistrationLookup
from orchestrator.registration.publisher import Publisher
from remote_runtime.errors import CcmError
from tests.texts import expect_text

WEB = {"cluster": "prod", "service": "web", "protocol": "http", "address": "10.0.0.1", "port": 80}


class Memory:
    """A store in memory, which may be down, or answer only when told."""

    shown = "memory"

    def __init__(self, down: int = 0) -> None:
        self.down = down
        self.batches: list[list[Registration]] = []
        self.asked: list[Query] = []
        self.go = threading.Event()
        self.go.set()

    def publish(self, entries: Sequence[Registration]) -> None:
        self.go.wait(20)
        if self.down:
            self.down -= 1
            raise RegistrationError("memory is down")
        self.batches.append(list(entries))

    def lookup(self, query: Query) -> list[Registration]:
        self.asked.append(query)
        if self.down:
            raise RegistrationError("memory is down")
        return [e for batch in self.batches for e in batch if query.selects(e)]

    def remove(self, entries: Sequence[Registration]) -> None:
        gone = {entry.subject for entry in entries}
        self.batches = [[e for e in batch if e.subject not in gone] for batch in self.batches]

    def initialize(self, replicas: int, max_age: float) -> None:
        raise NotImplementedError


def test_batches() -> None:
    """Many hosts cost few batches, an endpoint that is told twice goes out once, the newest."""
    store = Memory()
    publisher = Publisher(lambda: store, gathering=0.2)
    for number in range(50):
        publisher.add(
            f"web{number}", [{**WEB, "port": 1 + number % 25, "priority": 1 + number // 25}]
        )
    assert publisher.close() is None
    entries = [entry for batch in store.batches for entry in batch]
    assert len(store.batches) < 5
    assert {e.port for e in entries if e.priority == 2} == set(range(1, 26))


def announced(store: Memory, *entries: dict[str, object], host: str = "web1") -> set[int]:
    """The ports that the store has after a run in which one resource announces these."""
    publisher = Publisher(lambda: store, gathering=0)
    publisher.add(host, entries)
    assert publisher.close() is None
    return {entry.port for batch in store.batches for entry in batch}


def test_an_endpoint_that_changes_replaces_the_old_one() -> None:
    """What the same resource announced before is removed, what others announced is not."""
    store = Memory()
    own = {**WEB, "source": source_of("site.yaml", "web1", "service#web")}
    theirs = {**WEB, "source": source_of("site.yaml", "web1", "service#admin"), "port": 9}
    assert announced(store, theirs) == {9}
    assert announced(store, {**WEB, "port": 7}) == {9, 7}
    assert announced(store, own, {**own, "port": 81}) == {9, 7, 80, 81}
    assert announced(store, own, {**own, "port": 82}) == {9, 7, 80, 82}
    assert announced(store, {**own, "port": 83}) == {9, 7, 83}
    assert announced(store, {**own, "port": 83, "address": "10.0.0.2"}) == {9, 7, 83}
    assert [e.address for batch in store.batches for e in batch if e.port == 83] == ["10.0.0.2"]


def test_what_cannot_be_removed_is_a_warning() -> None:
    """What was published stays published, and the run is told that old entries may be left."""

    class WriteOnly(Memory):
        def lookup(self, query: Query) -> list[Registration]:
            raise RegistrationError("permission denied")

    store = WriteOnly()
    publisher = Publisher(lambda: store, gathering=0)
    publisher.add("web1", [{**WEB, "source": "s"}])
    assert publisher.close() is None
    expect_text(publisher.warning)
    assert [e.port for batch in store.batches for e in batch] == [80]


def test_nothing_to_announce() -> None:
    """Without a registration nothing is opened."""

    def opener() -> Memory:
        raise AssertionError("opened")

    assert Publisher(opener).close() is None


def test_a_store_that_comes_back() -> None:
    """What failed is tried again with the next batch."""
    store = Memory(down=1)
    publisher = Publisher(lambda: store, gathering=0)
    publisher.add("web1", [WEB])
    while store.down:
        threading.Event().wait(0.01)
    publisher.add("web2", [{**WEB, "port": 81}])
    assert publisher.close() is None
    assert sorted(e.port for batch in store.batches for e in batch) == [80, 81]


def test_a_store_that_is_down() -> None:
    """The end tells why, and how many entries of which hosts are missing."""
    publisher = Publisher(lambda: Memory(down=99), gathering=0)
    publisher.add("web1", [WEB, {**WEB, "port": 81}])
    publisher.add("web2", [WEB])
    failure = publisher.close()
    assert failure is not None
    assert (failure.reason, failure.hosts) == ("memory is down", {"web1": 2, "web2": 1})


def test_a_store_that_hangs() -> None:
    """The end waits no longer than it was told to."""
    store = Memory()
    store.go.clear()
    publisher = Publisher(lambda: store, gathering=0)
    publisher.add("web1", [WEB])
    failure = publisher.close(0.1)
    store.go.set()
    assert failure is not None
    expect_text(failure.reason)


def test_each_question_once() -> None:
    """All hosts of a run get the first answer to a question, which nobody can change."""
    store = Memory()
    store.publish([Registration.of({**WEB, "annotations": {"a": "b"}})])
    lookup = RegistrationLookup(lambda: store)
    answers = [lookup(Query("prod")) for _ in range(3)]
    assert answers[0] == answers[1]
    assert answers[0][0]["Address"] == "10.0.0.1"
    answers[0][0]["Annotations"]["a"] = "changed"
    answers[0][0]["Port"] = 0
    assert (answers[1][0]["Port"], lookup(Query("prod"))[0]["Annotations"]) == (80, {"a": "b"})
    assert lookup(Query("test")) == []
    assert store.asked == [Query("prod"), Query("test")]


def test_a_question_that_fails() -> None:
    """Every host is told the same, and the store is not asked again."""
    store = Memory(down=99)
    lookup = RegistrationLookup(lambda: store)
    for _ in range(2):
        with pytest.raises(RegistrationError) as refused:
            lookup(Query())
        expect_text(refused.value)
    assert len(store.asked) == 1


def test_questions_of_other_processes() -> None:
    """Lookups that ask another one see what that has seen, its failures too, word for word."""
    import json

    def through(asked: RegistrationLookup) -> RegistrationLookup:
        made = RegistrationLookup(lambda: Memory(down=99))
        made.forward_to(lambda question: json.loads(json.dumps(asked.answer(question))))
        return made

    store = Memory()
    store.publish([Registration.of({**WEB, "annotations": {"a": "b"}})])
    first = RegistrationLookup(lambda: store)
    others = [through(first) for _ in range(2)]
    expected = first(Query("prod"))
    store.publish([Registration.of({**WEB, "address": "10.0.0.2"})])
    assert [other(Query("prod")) for other in others] == [expected] * 2
    assert store.asked == [Query("prod")]
    down = RegistrationLookup(lambda: Memory(down=99))
    words = []
    for lookup in (down, through(down)):
        with pytest.raises(CcmError) as caught:
            lookup(Query())
        words.append((str(caught.value), caught.value.kind))
    assert words[0] == words[1]
