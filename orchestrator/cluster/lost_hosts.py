"""Results of hosts that no worker of a scheduler could run or complete (controller)."""

from collections.abc import Iterable
from typing import Any

from orchestrator.cluster import worker_info
from orchestrator.cluster.scheduler_client import ClusterMember
from orchestrator.fleet.host.stage_host import host_itself
from orchestrator.fleet.ports import Target
from remote_runtime.errors import UnreachableError


class NoWorkerError(UnreachableError):
    """No worker was available for a host."""

    default_kind = "worker.none"


class SchedulerLostError(UnreachableError):
    """The scheduler was lost, and with it all reports of hosts."""

    default_kind = "worker.lost"

    def __init__(self, scheduler: str, reason: str) -> None:
        super().__init__(
            f"lost the Dask scheduler {scheduler} ({reason})",
            hint=(
                "start it and its workers again, then push again: completed resources are "
                "not repeated"
            ),
        )


def worker_description(host: Target) -> str:
    """A description of the worker that a host needs."""
    itself: Any = host_itself(host)
    return f"worker of site {itself.site}" if itself.site else "worker"


def no_worker(
    host: Target, seconds: float, scheduler: str, others: Iterable[ClusterMember]
) -> NoWorkerError:
    """The message for a host if there are only workers with another version of ccm (``others``)."""
    itself: Any = host_itself(host)
    what = f"no {worker_description(host)} within {seconds:.0f} s"
    of_site = [one for one in others if itself.site is None or itself.site in one.sites]
    if of_site:
        found = f"{of_site[0].address} runs another version of ccm, {of_site[0].code}"
        hint = f"install {worker_info.code_version()} on it, and restart it"
        return NoWorkerError(f"{what}: {found}", hint=hint)
    command = f"ccm worker --scheduler {scheduler.partition('://')[2]}"
    if itself.site:
        command += f" --site {itself.site}"
    return NoWorkerError(what, hint=f"start one with '{command}', with the same version of ccm")
