"""Signals during a run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from orchestrator.cli.signals import Interrupts

ROOT = Path(__file__).resolve().parents[3]

STUBBORN = """
import os, time
from orchestrator.cli.signals import Interrupts
# written past Python's buffers: a signal may come in the middle of a print
with Interrupts(lambda: os.write(1, b"ending\\n")):
    os.write(1, b"running\\n")
    while True:
        time.sleep(0.01)
"""


def test_the_second_signal_leaves_at_once() -> None:
    """The first signal is passed on, the second ends the process with 130 whatever it does."""
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "ending\n"
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 130  # by itself it never ends
    process.stdout.close()


def test_handlers_are_put_back() -> None:
    """After the block signals mean what they meant before it."""
    before = signal.getsignal(signal.SIGTERM)
    told = []
    with Interrupts(lambda: told.append(1)):
        os.kill(os.getpid(), signal.SIGTERM)
        deadline = time.monotonic() + 5
        while not told and time.monotonic() < deadline:
            time.sleep(0.01)
    assert told == [1]
    assert signal.getsignal(signal.SIGTERM) is before
