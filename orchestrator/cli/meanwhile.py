"""Loads what a push needs once a host has answered, while the first one starts (controller).

Until a runtime says its first word there is nothing else to do, on this machine or a far one.
"""

from importlib import import_module

LATER = (
    "orchestrator.fleet.conversation",
    "orchestrator.planning.host_plan",
    "orchestrator.planning.walk",
    "orchestrator.report.summary",
)


def load_later() -> None:
    """Import it, if that was not done yet."""
    for name in LATER:
        import_module(name)
