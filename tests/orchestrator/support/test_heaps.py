import os
import platform
import subprocess
import sys

import pytest

from orchestrator.support.spare_threads import FEW

_COUNT = """
import sys, threading
from orchestrator.support import spare_threads

together = threading.Barrier(41, timeout=30)
def work():
    held = [bytes(2000) for _ in range(20)]  # more than Python keeps in pools of its own
    together.wait()
    together.wait()
for number in range(40):
    spare_threads.beside(work, f"host {number}")
together.wait()
heaps = 0
for line in open("/proc/self/maps"):
    place, rights = line.split()[:2]
    # one of a thread begins where 64 MiB do
    heaps += rights == "rw-p" and int(place.partition("-")[0], 16) % (64 << 20) == 0
print(heaps)
together.wait()
"""


def _heaps(**environment: str) -> int:
    """How many heaps of their own 40 threads have that are there at the same time."""
    known = {name: text for name, text in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", _COUNT],
        env={**known, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps of threads")
class TestHeaps:
    def test_few_threads_have_one_of_their_own(self) -> None:
        assert _heaps() < FEW

    def test_there_are_as_many_as_the_user_says(self) -> None:
        assert FEW <= _heaps(MALLOC_ARENA_MAX="7") < 7

    def test_there_are_as_many_as_the_user_says_in_a_tunable(self) -> None:
        assert FEW <= _heaps(GLIBC_TUNABLES="glibc.malloc.arena_max=7") < 7
