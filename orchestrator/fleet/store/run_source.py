"""Sources of stored runs (controller): those of this user, or shared ones."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from orchestrator.fleet.store.run_directory import runs_directory


class RunSource(Protocol):
    """Stored runs by name. ``label`` is their location."""

    @property
    def label(self) -> str: ...

    def names(self) -> list[str]:
        """The names of the runs, newest first. CcmError if the runs cannot be reached."""

    def path(self, name: str) -> Path:
        """Return the directory of a run. OSError or ValueError if it cannot be used."""


class OwnRuns:
    """The runs of this user, in the state directory."""

    @property
    def label(self) -> str:
        """The directory."""
        return str(runs_directory())

    def names(self) -> list[str]:
        """The names of the runs, newest first."""
        directory = runs_directory()
        if not directory.is_dir():
            return []
        runs = (path.name for path in directory.iterdir() if (path / "run.json").is_file())
        return sorted(runs, reverse=True)

    def path(self, name: str) -> Path:
        """The directory of a run."""
        return runs_directory() / name


OWN_RUNS = OwnRuns()
