"""The reporter of runs that the studio starts (controller)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from orchestrator.fleet import events
from orchestrator.fleet.event_bus import EventCallback
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.fleet.event_bus import Subscriber
    from orchestrator.runs.reporter import Reporter, VerifyReporter
    from orchestrator.runs.result import RunResult


class QuietReporter:
    """Shows nothing, because the pages show the run; ``start`` receives its ID."""

    is_terminal = False
    needs_record = False

    def __init__(self, start: Callable[[str], None]) -> None:
        self._start = start

    def prepare(self) -> None:
        """Do nothing: there is nothing to open."""

    def on_this_machine(self) -> None:
        """Do nothing: a run of the studio always has an inventory."""

    def say(self, text: str) -> None:
        """Ignore messages from the manifest."""

    say_warning = note = warn = say

    def ask_secret(self, prompt: str) -> str:
        """Return nothing, because there is no terminal."""
        return ""

    def confirm(self, question: str, remaining: Callable[[], float]) -> bool | None:
        """Return no answer, because nobody can be prompted."""
        return None

    def for_preview(self) -> Reporter:
        """Return this reporter for the preview, too."""
        return self

    def interruptible(self, interrupt: Callable[[], None]) -> AbstractContextManager[object]:
        """Do nothing: nobody can interrupt the run."""
        return _nothing()

    def subscribers(self, command: str, subject: str) -> Sequence[Subscriber]:
        """The subscriber that receives the ID of the run."""
        return [EventCallback(self._begin)]

    def _begin(self, event: events.Event) -> None:
        if isinstance(event, events.RunStarted):
            self._start(event.run_id)

    def start(self) -> None:
        """Do nothing: there is no live view."""

    tick = close = start

    def summary(self, result: RunResult) -> None:
        """Do nothing: there is no summary."""

    finished = summary

    def verifying(self) -> VerifyReporter:
        """Refuse to verify, which the studio never requests."""
        raise UsageError("runs of the studio do not verify")


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield
