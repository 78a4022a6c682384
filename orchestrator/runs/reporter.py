"""The interface of a run to its front end (controller)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from orchestrator.fleet.event_bus import Subscriber
    from orchestrator.runs.result import RunResult
    from orchestrator.verify.assessment import Assessment, Outcome


class VerifyReporter(Protocol):
    """Shows a verify: the start, each outcome, and the assessment at the end."""

    def begin(self, name: str, hosts: int) -> None:
        """A verify of the manifest ``name`` starts on this many hosts."""

    def answered(self, hosts: int) -> None:
        """This many hosts have been checked. Called from any thread."""

    def take(self, outcome: Outcome) -> None:
        """Receive the outcome of one check."""

    def finish(self, assessment: Assessment, seconds: float) -> None:
        """All checks are done; they took this many ``seconds``."""


class Reporter(Protocol):
    """Shows a run, and prompts the user.

    A run calls it from its main thread unless a method says otherwise.
    """

    @property
    def is_terminal(self) -> bool:
        """Whether there is a terminal for prompts."""

    @property
    def needs_record(self) -> bool:
        """Whether ``finished`` reads the run directory, even if the run is not stored."""

    def prepare(self) -> None:
        """Called after all checks: opens the output files of the run. UsageError."""

    def on_this_machine(self) -> None:
        """Report that no hosts are named, so the run applies to this machine."""

    def say(self, text: str) -> None:
        """Show a message from the manifest or from the run."""

    def say_warning(self, text: str) -> None:
        """Show a warning about the run."""

    def note(self, text: str) -> None:
        """Show a remark that is not part of the report."""

    def warn(self, text: str) -> None:
        """Show a warning about the input."""

    def ask_secret(self, prompt: str) -> str:
        """Prompt for a password; "" if there is none. Called from any thread."""

    def confirm(self, question: str, remaining: Callable[[], float]) -> bool | None:
        """Prompt for yes or no for ``remaining`` seconds; None without an answer. Called from any
        thread."""

    def for_preview(self) -> Reporter:
        """The reporter for the preview that a push runs first: it shows only failures."""

    def interruptible(self, interrupt: Callable[[], None]) -> AbstractContextManager[object]:
        """Within this context, the first request to stop calls ``interrupt``, and a second one ends
        the process.
        """

    def subscribers(self, command: str, subject: str) -> Sequence[Subscriber]:
        """The subscribers to the events of the run: of a ``command`` with a ``subject``, which is a
        manifest, a resource or the words of a command.
        """

    def start(self) -> None:
        """Start the live view; there are no more prompts."""

    def tick(self) -> None:
        """Draw the changes; called several times a second."""

    def close(self) -> None:
        """All events have been published."""

    def summary(self, result: RunResult) -> None:
        """Show the outcome of the run."""

    def verifying(self) -> VerifyReporter:
        """The reporter for the verify that follows a push."""

    def finished(self, result: RunResult) -> None:
        """Write the documents about the complete run; its directory still exists."""
