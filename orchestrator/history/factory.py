"""Creates the copiers and readers of histories (controller)."""

from collections.abc import Callable
from pathlib import Path

from orchestrator.fleet.store.run_source import RunSource
from orchestrator.history.location import HistoryLocation
from orchestrator.history.run_copy import RunCopy, RunCopyTarget
from orchestrator.history.shared_directory import SharedDirectory


def run_source_of(choice: HistoryLocation) -> RunSource:
    """Reads the runs of a history."""
    if choice.is_studio:
        from orchestrator.history.studio_runs import StudioRuns

        return StudioRuns(choice)
    return SharedDirectory(choice.address)


def check_history(choice: HistoryLocation) -> None:
    """UsageError for an unsafe history; HistoryError for an unreachable one."""
    if not choice.is_studio:
        SharedDirectory(choice.address).check()


def copy_of(choice: HistoryLocation, source: Path) -> RunCopy:
    """Copies a run directory to a history."""
    return RunCopy(source, choice.address, _opener(choice))


def _opener(choice: HistoryLocation) -> Callable[[str, bytes], RunCopyTarget]:
    if choice.is_studio:
        from orchestrator.history.studio_client import StudioClient, StudioCopy

        client = StudioClient(choice)
        return lambda run_id, about: StudioCopy(client, run_id, about)
    shared = SharedDirectory(choice.address)
    return lambda run_id, _: shared.open(run_id)


def prune_history(choice: HistoryLocation, keep: int) -> None:
    """Remove the oldest runs of this user from a directory. A studio prunes by itself."""
    if not choice.is_studio:
        SharedDirectory(choice.address).prune(keep)
