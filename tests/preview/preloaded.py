"""The command line in a process that is forked from one that has loaded it.

A third of the corpus's time would go into importing it; what is measured here is no start-up.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.push.command import SECONDS, Ccm, Run

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.preview.loaded"])


class PreloadedCcm(Ccm):
    """``Ccm`` whose commands end as its own do, sooner."""

    def run(self, *arguments: str, stdin: str = "") -> Run:
        """Run any command to its end; it reads nothing."""
        told = [self.scratch / name for name in ("stdout", "stderr")]
        process = _FORKS.Process(target=_main, args=(arguments, self.environment, self.scratch))
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        stdout, stderr = (path.read_text(errors="replace") for path in told)
        code = process.exitcode
        assert code is not None
        process.close()
        return Run(code, stdout, stderr, [])


def _main(words: tuple[str, ...], environment: Mapping[str, str], scratch: Path) -> None:
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    from orchestrator.cli import app

    sys.exit(app.main(list(words)))
