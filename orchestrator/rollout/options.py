"""The options of a rollout, from the command line, a project or a stage (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from orchestrator.rollout.amounts import Amount
    from orchestrator.rollout.shared_limits import SharedLimit

AUTO = "auto"  # how canaries are chosen
GATE_TIMEOUT = 1800.0
MAX_CLUSTERS = 20  # clusters of hosts that a push with canaries may have


class RolloutOptions(NamedTuple):
    """The options of a rollout; ``until`` is in seconds of ``time.time()``, ``soak`` and
    ``gate_timeout`` are durations in seconds, ``gate`` has commands and the word ``verify``."""

    waves: tuple[Amount, ...] = ()
    max_fail: Amount | None = None
    until: float | None = None
    per: tuple[SharedLimit, ...] = ()
    soak: float = 0.0
    gate: tuple[str, ...] = ()
    gate_timeout: float = GATE_TIMEOUT
    confirm: bool = False
    before_host: str = ""
    after_host: str = ""
    canary: str = ""
    canary_max: int = MAX_CLUSTERS

    @property
    def given(self) -> bool:
        """Whether any limit is set."""
        return self != RolloutOptions()

    def record(self) -> dict[str, Any]:
        """The options that are set, in their command line form; a login in a command is masked."""
        from orchestrator.rollout.deadline import clock_text

        masked = Mask().text
        told = {
            "waves": ",".join(map(str, self.waves)),
            "max_fail": "" if self.max_fail is None else str(self.max_fail),
            "until": "" if self.until is None else clock_text(self.until),
            "per": list(map(str, self.per)),
            "soak": f"{self.soak:g}" if self.soak else "",
            "gate": list(map(masked, self.gate)),
            "gate_timeout": "" if self.gate_timeout == GATE_TIMEOUT else f"{self.gate_timeout:g}",
            "confirm": self.confirm,
            "before_host": masked(self.before_host),
            "after_host": masked(self.after_host),
            "canary": self.canary,
            "canary_max": "" if self.canary_max == MAX_CLUSTERS else str(self.canary_max),
        }
        return {name: value for name, value in told.items() if value}
