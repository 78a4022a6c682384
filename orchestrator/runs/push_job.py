"""The job of a push: its manifest, hosts and options (controller)."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet.run_settings import RunSettings
from orchestrator.project.settings import DEFAULT_KEEP
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.runs.engine_choice import THREADS, EngineChoice, RemoteEngineSource

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.fleet import interfaces
    from orchestrator.fleet.event_bus import Subscriber
    from orchestrator.fleet.host.stage_host import StageHost
    from orchestrator.fleet.interfaces import Connector, Target
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.history.location import HistoryLocation
    from orchestrator.manifest import Site
    from orchestrator.planning import PlanOptions
    from orchestrator.runs.reporter import Reporter
    from orchestrator.verify.assessment import Assessment, Outcome

    VerifyAfterPush = Callable[
        [Sequence[HostResult], Reporter, Callable[[Outcome], None]], Assessment
    ]


class PushJob(NamedTuple):
    """The job of a push; everything in it has been checked, but no host contacted.

    ``what`` is the path of the manifest or of the stages file, or the words of a command. With
    ``stored``, the run directory is kept. ``subscribers`` receive the events of the run.
    ``identity`` is the name under which hosts store the manifest, "" for none. ``binder`` replaces
    the planner when a plan file is written or applied. A command across the fleet has no ``site``.
    ``words`` are the words of a command line that repeats it. ``remarks`` creates the warnings
    after the last host. The first host of each of the ``clusters`` is its canary.
    """

    command: str
    what: str
    site: "Site | None"
    planner: "interfaces.Planner"
    stored: bool = True
    subscribers: "Sequence[Subscriber]" = ()
    identity: str = ""
    binder: "interfaces.Planner | None" = None
    words: tuple[str, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    remarks: Callable[[], Sequence[str]] = tuple
    stages: "tuple[PushStage, ...]" = ()
    data: "PlanOptions | None" = None

    @property
    def pushes(self) -> "list[PushJob]":
        """The pushes of the stages; this push if there are no stages."""
        return [stage.push for stage in self.stages] or [self]

    @property
    def sites(self) -> "list[Site]":
        """The manifests, in order."""
        return [push.site for push in self.pushes if push.site is not None]


class PushStage(NamedTuple):
    """A stage of a push: its manifest, its hosts and its limits."""

    name: str
    push: PushJob
    hosts: "tuple[StageHost, ...]"
    rollout: RolloutOptions


class Targets(NamedTuple):
    """The hosts of a push, their transports, and the number of forks."""

    hosts: "Sequence[Target]"
    connector: "Connector"
    forks: int


class PushConfig(NamedTuple):
    """How a push runs. The run directory stores ``record``, which contains the user's options.

    ``registration`` is the store of registrations, None for the default. ``verify`` checks the
    hosts after the push. ``again`` are the words of the command that repeats it, without ``-l``;
    ``retry`` those for failed hosts. ``keep`` is the number of stored runs. ``remote`` is the input
    of workers on other machines. The run is copied to the ``history``. With ``runs``, the run is
    stored in that directory, which keeps all runs.
    """

    settings: RunSettings
    record: dict[str, Any]
    registration: str | None = None
    verify: "VerifyAfterPush | None" = None
    rollout: RolloutOptions = RolloutOptions()
    again: tuple[str, ...] = ()
    retry: tuple[str, ...] = ()
    keep: int = DEFAULT_KEEP
    engine: EngineChoice = EngineChoice(THREADS)
    remote: RemoteEngineSource | None = None
    history: "HistoryLocation | None" = None
    runs: "Path | None" = None
