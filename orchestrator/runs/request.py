"""The request of a front end to a run (controller)."""

import enum
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.project.settings import DEFAULT_FORKS, DEFAULT_KEEP
from orchestrator.rollout.rollout_options import RolloutOptions
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.history.location import HistoryLocation
    from orchestrator.planning import PlanOptions
    from orchestrator.runs.engine_choice import EngineChoice


class Subject(enum.Enum):
    """The kind of file of a request."""

    MANIFEST = "manifest"
    STAGES = "stages"
    PLAN = "plan"


class HostChoice(NamedTuple):
    """The selection of hosts: the sources of the ``inventory``, None for this host, and the
    patterns of ``limit``, None for all hosts. Words such as ``failed`` mean the runs of ``past``,
    None for those of this user. Templates can read the hosts named in ``visible``, None for all.
    """

    inventory: list[str] | None = None
    limit: list[str] | None = None
    past: "HistoryLocation | None" = None
    visible: frozenset[str] | None = None


class ConnectionOptions(NamedTuple):
    """How hosts are reached, ``forks`` at a time. None leaves a value to the inventory; ``become``
    is True for root, or a user's name; ``connect_timeout`` is in seconds."""

    forks: int = DEFAULT_FORKS
    user: str | None = None
    ask_pass: bool = False
    become: bool | str | None = None
    ask_become_pass: bool = False
    connect_timeout: float | None = None


class PlanRequirements(NamedTuple):
    """The requirements for a plan file: its ID, the number of approvals and the approvers, and the
    SHA-256 of its bytes in ``digest``.
    """

    expect: str | None = None
    signers: str | None = None
    approvals: int | None = None
    digest: str | None = None


class StageChoice(NamedTuple):
    """The selected stages of a file: from the one named ``begin`` on, or ``stage`` alone.

    With names in ``among``, only these stages, which are those of a plan.
    """

    begin: str | None = None
    stage: str | None = None
    among: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """Return the command-line arguments that select the same hosts."""
        flags = (("--from", self.begin), ("--stage", self.stage))
        return [word for flag, name in flags if name is not None for word in (flag, name)]


class RunRequest(NamedTuple):
    """A requested run: the ``command``, its subject, its hosts and its options.

    ``manifest`` is the path of a manifest, of a stages file or of a plan, as set in ``subject``; ""
    for commands without one. ``verify`` checks the hosts again after the push. ``keep`` is how many
    runs the state directory keeps; with ``runs``, the run is stored in that directory instead,
    which keeps all. Without an ``engine``, only threads are possible. The run is copied to the
    ``history``, if there is one.
    """

    command: str
    hosts: HostChoice
    data: "PlanOptions"
    manifest: str = ""
    subject: Subject = Subject.MANIFEST
    run: RunOptions = RunOptions()
    connection: ConnectionOptions = ConnectionOptions()
    verify: bool = False
    rollout: RolloutOptions = RolloutOptions()
    keep: int = DEFAULT_KEEP
    engine: "EngineChoice | None" = None
    plan: PlanRequirements = PlanRequirements()
    stages: StageChoice = StageChoice()
    history: "HistoryLocation | None" = None
    runs: "Path | None" = None

    def record(self) -> dict[str, Any]:
        """The part of the request that the run directory stores; it must not contain secrets."""
        past = self.hosts.past and self.hosts.past.address
        hosts = {**self.hosts._asdict(), "past": past, "visible": None}
        given = (hosts, self.run._asdict(), self.connection._asdict())
        more = (self.data.record(), self.rollout.record(), {"verify": self.verify})
        kept = {name: value for options in (*given, *more) for name, value in options.items()}
        kept.update({"engine": self.engine.text} if self.engine and self.engine.text else {})
        return {name: value for name, value in kept.items() if value not in (None, False, [])}
