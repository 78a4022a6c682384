"""Copies of a process that has one thread."""

import sys

import pytest

from tests.orchestrator.workers.test_process_engine import play

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are copies, on Linux only")


def test_a_process_with_threads_is_not_copied() -> None:
    """A second thread, which a copy would not have, forbids it until it has ended."""
    assert play("threaded") == [False, True]


def test_what_ends_a_run_ends_no_worker() -> None:
    """Ctrl-C and the like are the controller's to tell; what a worker starts heeds them."""
    assert play("signals") == ["False False False", "exit status 0"]
