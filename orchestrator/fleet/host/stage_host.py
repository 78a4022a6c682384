"""A host in one stage of a run, under its name in that stage (controller)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from orchestrator.fleet.interfaces import Target

_BETWEEN = "/"  # which no name of a host or a stage has


class StageHost(NamedTuple):
    """A host in one stage, which the run treats as a separate host: it may be in several stages.

    Its events, its result and reports use ``name``.
    """

    stage: str
    host: "Target"

    @property
    def name(self) -> str:
        """The name, which consists of stage and host."""
        return f"{self.stage}{_BETWEEN}{self.host.name}"

    @property
    def vars(self) -> Mapping[str, Any]:
        """The variables of the host."""
        return self.host.vars


def host_itself(target: "Target") -> "Target":
    """The inventory's host behind a target."""
    return target.host if isinstance(target, StageHost) else target


def host_in(name: str) -> str:
    """The name in the inventory of a host that a run calls ``name``."""
    return name.rpartition(_BETWEEN)[2]


def stage_in(name: str) -> str:
    """The stage of the host with this ``name`` in the run; "" for none."""
    return name.rpartition(_BETWEEN)[0]
