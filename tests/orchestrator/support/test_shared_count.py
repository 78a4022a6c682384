"""A number that grows, of one process or of several."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.support.shared_count import LocalCount, SharedCounter
from tests.orchestrator.workers.test_process_engine import play

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is shared so on Linux only")


@pytest.mark.parametrize("kind", [LocalCount, pytest.param(SharedCounter, marks=linux)])
def test_each_addition_counts_once(kind: type) -> None:
    """Threads add at the same time, and each is told what it is with its own."""
    count = kind()
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda _: count.add(7), range(200)))
    assert sorted(told) == [7 * number for number in range(1, 201)]
    assert count.add(0) == 1400


@linux
def test_copies_of_a_process_add_to_one_number() -> None:
    """What several processes and their threads add comes together, where they are copies of."""
    found = play("counted")
    assert found["sum"] == found["largest"] == 3 * 4 * 50 * 3
    assert found["ends"] == ["exit status 0"] * 3
