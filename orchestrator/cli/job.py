"""What is pushed, where and how (controller)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.cli.options import ConnectionOptions, InventoryOptions
from orchestrator.cli.output import OutputOptions
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from orchestrator.cli.verifying import AfterPush
    from orchestrator.fleet import ports
    from orchestrator.fleet.bus import Subscriber
    from orchestrator.fleet.ports import Connector, Target
    from orchestrator.fleet.settings import RunSettings
    from orchestrator.manifest import Site
    from orchestrator.planning import Planner, PlanOptions


class PushOptions(NamedTuple):
    """What the command line says of a push."""

    where: InventoryOptions
    run: RunOptions
    connection: ConnectionOptions
    data: "PlanOptions"
    output: OutputOptions
    verify: bool = False

    def record(self) -> dict[str, Any]:
        """What the folder of a run keeps of them; nothing in it may be secret."""
        told = (self.where._asdict(), self.run._asdict(), self.connection._asdict())
        kept = {
            name: value
            for options in (*told, self.data.record(), {"verify": self.verify})
            for name, value in options.items()
        }
        return {name: value for name, value in kept.items() if value not in (None, False, [])}


class Push(NamedTuple):
    """What is pushed, as people read it, and by which ``command``.

    ``kept``: its folder is to be kept, so that ``ccm report`` has it. ``told``: further subscribers
    of what happens. ``identity`` is by what hosts remember the manifest, "" for nothing. ``binder``
    takes the planner's place where a plan is kept, or was.
    """

    command: str
    what: str
    site: "Site"
    planner: "Planner"
    kept: bool = True
    told: "Sequence[Subscriber]" = ()
    identity: str = ""
    binder: "ports.Planner | None" = None


class Targets(NamedTuple):
    """Where: the hosts, how they are reached and how many at a time."""

    hosts: "Sequence[Target]"
    connector: "Connector"
    forks: int


class How(NamedTuple):
    """How a push is carried out; the run's folder has the ``record`` of what the user chose.

    ``registration`` is where stable resources are announced, None for the default. ``verify`` looks
    at the hosts once more when all of them are done.
    """

    settings: "RunSettings"
    record: dict[str, Any]
    registration: str | None = None
    verify: "AfterPush | None" = None
