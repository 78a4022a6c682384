import os
import platform
import subprocess
import sys

import pytest

from orchestrator.support.spare_threads import FEW

_COUNT = """
import sys, threading
from orchestrator.support import heaps, spare_threads

if sys.argv[1:]:  # before glibc has decided how many there may be
    heaps.share_heaps()
together = threading.Barrier(41, timeout=30)
def work():
    held = [bytes(2000) for _ in range(20)]  # more than Python keeps in pools of its own
    together.wait()
    together.wait()
for number in range(40):
    spare_threads.beside(work, f"host {number}")
together.wait()
found = 0
for line in open("/proc/self/maps"):
    place, rights = line.split()[:2]
    # one of a thread begins where 64 MiB do
    found += rights == "rw-p" and int(place.partition("-")[0], 16) % (64 << 20) == 0
print(found)
together.wait()
"""
_HEEDED = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")


def _heaps(*words: str, **environment: str) -> int:
    """How many heaps of their own 40 threads have that are there at the same time."""
    known = {name: text for name, text in os.environ.items() if not name.startswith(_HEEDED)}
    done = subprocess.run(
        [sys.executable, "-c", _COUNT, *words],
        env={**known, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps of threads")
@pytest.mark.skipif(sys.maxsize < 1 << 32, reason="a process of 32 bits has smaller ones")
class TestHeaps:
    def test_few_threads_have_one_of_their_own(self) -> None:
        assert _heaps() < FEW

    def test_all_share_what_there_is(self) -> None:
        assert _heaps("first") == 0

    def test_there_are_as_many_as_the_user_says(self) -> None:
        assert _heaps("first", MALLOC_ARENA_MAX="7") == 6

    def test_there_are_as_many_as_the_user_says_in_a_tunable(self) -> None:
        assert _heaps("first", GLIBC_TUNABLES="glibc.malloc.arena_max=7") == 6

    def test_an_empty_word_of_the_user_says_nothing(self) -> None:
        assert _heaps("first", MALLOC_ARENA_MAX="") == 0
