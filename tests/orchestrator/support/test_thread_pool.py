import os
import threading
import time
import weakref
from collections.abc import Callable

import pytest

from orchestrator.support.thread_pool import MAX_IDLE, run_in_background


def soon(what: Callable[[], object]) -> bool:
    """Whether it becomes true within 30 s."""
    end = time.monotonic() + 30
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    return True


def _done_in(name: str) -> tuple[int, str]:
    """Which thread does a piece of work, and what it is called meanwhile."""
    over = threading.Event()
    found = []

    def work() -> None:
        found.append((threading.get_ident(), threading.current_thread().name))
        over.set()

    run_in_background(work, name)
    assert over.wait(30)
    return found[0]


def _spare() -> int:
    return sum(thread.name == "spare" for thread in threading.enumerate())


def test_a_thread_is_used_again_under_the_name_of_its_work() -> None:
    assert _done_in("host one")[1] == "host one"
    assert soon(lambda: _spare() > 0)
    before = threading.active_count()
    assert _done_in("host two")[1] == "host two"
    assert threading.active_count() == before


def test_each_works_beside_the_others() -> None:
    together = threading.Barrier(3, timeout=30)

    def meet() -> None:
        together.wait()

    run_in_background(meet, "one")
    run_in_background(meet, "two")
    meet()
    assert not together.broken


def test_few_threads_wait_for_work() -> None:
    """What a thread holds that has done something is not kept for hundreds of them."""
    together = threading.Barrier(MAX_IDLE + 20, timeout=30)
    for number in range(MAX_IDLE + 20):
        run_in_background(lambda: [together.wait()].clear(), f"host {number}")
    assert soon(lambda: not any(t.name.startswith("host ") for t in threading.enumerate()))
    assert soon(lambda: _spare() <= MAX_IDLE)


def test_nothing_of_the_work_is_kept() -> None:
    class Big:
        def work(self) -> None:
            pass

    big = Big()
    gone = weakref.ref(big)
    run_in_background(big.work, "big")
    del big
    assert soon(lambda: gone() is None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    _done_in("host one")
    assert soon(lambda: _spare() > 0)
    child = os.fork()
    if not child:
        try:
            _done_in("host two")
        except BaseException:  # this copy must not run on in pytest
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
