"""Writes the grouped output of a command over the fleet (controller)."""

import sys

from orchestrator.cli.run_output import Output, OutputOptions
from orchestrator.report.command_output import CommandOutput
from orchestrator.report.terminal.progress_lines import Lines
from orchestrator.report.terminal.style import Style
from remote_runtime.options import RunOptions


class GroupedOutput(Output):
    """Shows the output of a command across the fleet, grouped by identical output, instead of a
    summary.

    ``fold`` is as in ``CommandOutput``. Progress goes to stderr if there is no live view.
    """

    def __init__(self, options: OutputOptions, run: RunOptions, *, fold: bool) -> None:
        super().__init__(options, run)
        self._answers = CommandOutput()
        self._fold = fold

    def _summarised(self) -> CommandOutput:
        return self._answers

    def _plain_lines(self) -> Lines | None:
        return Lines(sys.stderr, verbose=True) if self.options.verbose else None

    def write_summary(self, run_id: str) -> None:
        """Write the output of the hosts, with identical output grouped."""
        self._answers.write(
            self.human,
            Style.of(self.human),
            fold=self._fold,
            quiet=self.options.quiet,
            run_id=run_id,
        )
