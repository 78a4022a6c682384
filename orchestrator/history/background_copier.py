"""Copies a run to its history while it happens, in its own thread (controller).

An unreachable, slow or full history never delays a host or makes a run fail. At the end of a run,
the copy has ``FINISH_TIMEOUT`` seconds left; ``ccm runs push`` copies the rest later.
"""

import threading
from pathlib import Path

from orchestrator.history.factory import copy_of, prune_history
from orchestrator.history.location import HistoryLocation
from remote_runtime.errors import CcmError

PAUSE = 1.0  # seconds between two copies
MAX_PAUSE = 30.0  # seconds, while the history is away
FINISH_TIMEOUT = 5.0  # seconds for the rest at the end of a run
LATER = "copy it later with: ccm runs push"


class RunCopier:
    """Copies until ``finish``, which returns a warning, or "" if everything was copied.

    ``keep`` is the number of runs that are kept in a shared directory.
    """

    def __init__(
        self,
        choice: HistoryLocation,
        directory: Path,
        keep: int,
        *,
        patience: float = FINISH_TIMEOUT,
    ) -> None:
        self._choice = choice
        self._directory = directory
        self._keep = keep
        self._patience = patience
        self._copy = copy_of(choice, directory)
        self._problem = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="history", daemon=True)

    def start(self) -> None:
        """Start copying."""
        try:
            self._copy.mark()
        except OSError as error:
            self._problem = f"{self._directory}: {error.strerror}"
            return
        self._thread.start()

    def finish(self) -> str:
        """Finish the copy within a limited time; return a warning, or "" if the run was
        copied completely.
        """
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(self._patience)
            if self._thread.is_alive():
                self._problem = self._problem or f"{self._choice.address} is slow"
        if not self._problem:
            return ""
        return f"the run was not copied completely to the history: {self._problem}; {LATER}"

    def _work(self) -> None:
        pause = PAUSE
        while not self._over.wait(pause):
            pause = PAUSE if self._try(last=False) else min(2 * pause, MAX_PAUSE)
        self._try(last=True)
        self._copy.close()

    def _try(self, *, last: bool) -> bool:
        """Copy new lines; return whether that was possible."""
        try:
            if last:
                self._copy.finish()
                self._problem = ""
                prune_history(self._choice, self._keep)
            else:
                self._copy.advance()
                self._problem = ""
        except (CcmError, OSError, ValueError) as error:
            self._copy.close()
            self._problem = _words(error)
            return False
        return True


def _words(error: Exception) -> str:
    if isinstance(error, CcmError):
        return error.message
    if isinstance(error, OSError):
        return f"{error.filename or 'the copy'}: {error.strerror or error}"
    return str(error)
