"""What is pushed, where and how (controller)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.cli.engine_choice import THREADS, EngineChoice, FarSide
from orchestrator.cli.options import ConnectionOptions, InventoryOptions
from orchestrator.cli.output import OutputOptions
from orchestrator.project.settings import KEPT
from orchestrator.rollout.options import RolloutOptions
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from orchestrator.cli.verifying import AfterPush
    from orchestrator.fleet import ports
    from orchestrator.fleet.bus import Subscriber
    from orchestrator.fleet.ports import Connector, Target
    from orchestrator.fleet.settings import RunSettings
    from orchestrator.fleet.stage_host import StageHost
    from orchestrator.manifest import Site
    from orchestrator.planning import PlanOptions


class PushOptions(NamedTuple):
    """What the command line says of a push; no ``engine``: nothing but threads will do."""

    where: InventoryOptions
    run: RunOptions
    connection: ConnectionOptions
    data: PlanOptions
    output: OutputOptions
    verify: bool = False
    rollout: RolloutOptions = RolloutOptions()
    keep: int = KEPT
    engine: EngineChoice | None = None

    def record(self) -> dict[str, Any]:
        """What the folder of a run keeps of them; nothing in it may be secret."""
        told = (self.where._asdict(), self.run._asdict(), self.connection._asdict())
        more = (self.data.record(), self.rollout.record(), {"verify": self.verify})
        kept = {name: value for options in (*told, *more) for name, value in options.items()}
        kept.update({"engine": self.engine.text} if self.engine and self.engine.text else {})
        return {name: value for name, value in kept.items() if value not in (None, False, [])}


class Push(NamedTuple):
    """What is pushed, as people read it, and by which ``command``.

    ``kept``: its folder is to be kept, so that ``ccm report`` has it. ``told``: further subscribers
    of what happens. ``identity`` is by what hosts remember the manifest, "" for nothing. ``binder``
    takes the planner's place where a plan is kept, or was. A command over the fleet has no site,
    and ``words`` are those of the command line that say it again. ``remarks`` are
    what is to be said of the run once its hosts are done. Of each of the ``clusters`` of hosts the
    first goes ahead. What is pushed in ``stages`` is in these, and ``what`` is their file. The
    planner was made of the site and the ``data``.
    """

    command: str
    what: str
    site: Site | None
    planner: ports.Planner
    kept: bool = True
    told: Sequence[Subscriber] = ()
    identity: str = ""
    binder: ports.Planner | None = None
    words: tuple[str, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    remarks: Callable[[], Sequence[str]] = tuple
    stages: tuple[PushStage, ...] = ()
    data: PlanOptions | None = None

    @property
    def pushes(self) -> list[Push]:
        """Those of its stages; itself where it has none."""
        return [stage.push for stage in self.stages] or [self]

    @property
    def sites(self) -> list[Site]:
        """The manifests, in their order."""
        return [push.site for push in self.pushes if push.site is not None]


class PushStage(NamedTuple):
    """A stage of a push: what is pushed, to whom and how it is held back."""

    name: str
    push: Push
    hosts: tuple[StageHost, ...]
    rollout: RolloutOptions


class Targets(NamedTuple):
    """Where: the hosts, how they are reached and how many at a time."""

    hosts: Sequence[Target]
    connector: Connector
    forks: int


class How(NamedTuple):
    """How a push is carried out; the run's folder has the ``record`` of what the user chose.

    ``registration`` is where stable resources are announced, None for the default. ``verify`` looks
    at the hosts once more when all of them are done. ``again`` are the words of the command that
    does the same, but for ``-l``, ``retry`` those for hosts that failed. ``keep`` is how many runs
    are kept, ``far`` what workers on other machines need.
    """

    settings: RunSettings
    record: dict[str, Any]
    registration: str | None = None
    verify: AfterPush | None = None
    rollout: RolloutOptions = RolloutOptions()
    again: tuple[str, ...] = ()
    retry: tuple[str, ...] = ()
    keep: int = KEPT
    engine: EngineChoice = EngineChoice(THREADS)
    far: FarSide | None = None
