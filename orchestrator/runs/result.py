"""The result of a run (controller)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult

if TYPE_CHECKING:
    from orchestrator.fleet.store.run_directory import RunDirectory
    from orchestrator.plan_files.plan_file import PlanFile
    from orchestrator.verify.assessment import Assessment


class RunResult(NamedTuple):
    """The result of a complete run.

    ``incomplete``: a rollout stopped, or registrations were not published. ``faults`` are errors of
    subscribers, such as a full disk. ``directory`` is the record of the run, None without one; with
    ``stored``, it is kept. ``assessment`` is the result of the verify after a push, ``plan`` the
    plan file of a preview, ``left_out`` the hosts that are not in the plan file, with the reason.
    """

    run_id: str
    results: Sequence[HostResult]
    interrupted: bool = False
    incomplete: bool = False
    faults: Sequence[Exception] = ()
    directory: "RunDirectory | None" = None
    stored: bool = False
    assessment: "Assessment | None" = None
    plan: "PlanFile | None" = None
    left_out: Mapping[str, str] = MappingProxyType({})

    @property
    def is_good(self) -> bool:
        """Whether the request was performed completely and every host is healthy."""
        done = not (self.interrupted or self.incomplete or self.faults or self.left_out)
        verified = self.assessment is None or self.assessment.exit_code == 0
        return done and verified and all(one.outcome == outcome.OK for one in self.results)
