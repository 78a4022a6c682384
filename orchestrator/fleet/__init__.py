"""Many hosts at once: the window, one host's run, the event bus and the folder that keeps a run."""

from orchestrator.fleet.bus import Bus, Subscriber
from orchestrator.fleet.fact_run import gather_facts
from orchestrator.fleet.gathered import Gathered
from orchestrator.fleet.host_run import HostRun
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.settings import RunSettings
from orchestrator.fleet.window import Window

__all__ = [
    "Bus",
    "Gathered",
    "HostResult",
    "HostRun",
    "RunSettings",
    "Subscriber",
    "Tally",
    "Window",
    "gather_facts",
]
