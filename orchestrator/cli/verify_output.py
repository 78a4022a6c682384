"""Shows a verify on the terminal (controller)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from orchestrator.report.terminal.style import Style

if TYPE_CHECKING:
    from orchestrator.report.terminal.verify_results import Progress, Verification
    from orchestrator.verify.assessment import Assessment, Outcome


class VerifyOutput:
    """The ``VerifyReporter`` of the command line.

    Without ``blocks``, pytest's own report shows the checks. With ``silent_if_good``, a verify
    without failures writes nothing.
    """

    def __init__(
        self,
        out: TextIO,
        *,
        verbose: bool,
        quiet: bool,
        blocks: bool = True,
        silent_if_good: bool = False,
    ) -> None:
        self._out = out
        self._verbose = verbose
        self._quiet = quiet
        self._blocks = blocks
        self._silent_if_good = silent_if_good
        self._report: Verification | None = None
        self._progress: Progress | None = None

    def begin(self, name: str, hosts: int) -> None:
        """Write the manifest and the number of hosts of a verify."""
        from orchestrator.report.terminal.verify_results import Progress, Verification

        style = Style.of(self._out)
        self._report = Verification(
            self._out, style, verbose=self._verbose, quiet=self._quiet, blocks=self._blocks
        )
        self._report.begin(name, hosts)
        self._progress = Progress(sys.stderr, hosts, self._quiet)

    def answered(self, hosts: int) -> None:
        """Show how many hosts have been checked."""
        if self._progress is not None:
            self._progress(hosts)

    def take(self, outcome: Outcome) -> None:
        """Receive an outcome, which is written at the end."""
        if self._report is not None:
            self._report.take(outcome)

    def finish(self, assessment: Assessment, seconds: float) -> None:
        """Write the outcomes and the totals."""
        if self._report is not None and (assessment.exit_code or not self._silent_if_good):
            self._report.finish(assessment, seconds)
