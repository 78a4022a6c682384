import subprocess
import sys

from benchmarks.process_costs import watch

BURN = """
import os, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
held = bytearray(b"x") * (40 << 20)
if os.fork() == 0:
    burn({child})
    time.sleep(0.6)
    os._exit(0)
burn({own})
os.wait()
print("said")
raise SystemExit(3)
"""


def test_each_process_is_accounted_for() -> None:
    """The command's own time apart from that of what it starts, with the memory of each."""
    found = watch([sys.executable, "-c", BURN.format(own=0.4, child=0.8)])
    assert (found.code, found.output) == (3, "said\n")
    assert 0.4 <= found.own.cpu < 0.8
    assert len(found.workers) == 1
    assert found.workers[0].cpu >= 0.79
    assert found.cpu == found.own.cpu + found.workers[0].cpu
    assert found.own.peak > 40
    assert found.peak == found.own.peak + found.workers[0].peak


def test_others_are_told_by_their_names() -> None:
    """A process that the command did not start, by what it took meanwhile."""
    words = [sys.executable, "-c", BURN.format(own=5.0, child=0.0)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as other:
        found = watch(
            [sys.executable, "-c", "import time; time.sleep(1)"], None, {"it": [other.pid]}
        )
        other.kill()
    assert found.others["it"].cpu > 0
    assert found.others["it"].peak > 40
