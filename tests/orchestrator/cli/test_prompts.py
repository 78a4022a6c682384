"""What is asked on a terminal."""

import os
import time

import pytest

from orchestrator.cli.prompts import ask_line


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> int:
    """The other end of what stands for the terminal."""
    reader, writer = os.pipe()
    monkeypatch.setattr("sys.stdin", os.fdopen(reader, encoding="utf-8"))
    return writer


def test_a_line_is_what_was_typed(stdin: int) -> None:
    """Whole; None where the input ends."""
    os.write(stdin, b"yes\n")
    assert ask_line("Go on? ", lambda: 5.0) == "yes\n"
    os.close(stdin)
    assert ask_line("Go on? ", lambda: 5.0) is None


def test_nobody_is_waited_for_without_end(stdin: int) -> None:
    """Once the time is over, there is no answer."""
    end = time.monotonic() + 0.3
    assert ask_line("Go on? ", lambda: end - time.monotonic()) is None
    os.close(stdin)
