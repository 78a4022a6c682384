"""Facts about the target (target; Python 3.6 and newer, standard library only).

Each family is gathered in a daemon thread of its own: a mount that does not answer costs that
family, not the others, and does not hold the exit of the process.
"""

import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .source import Source

BUDGET = 2.0


class Family(NamedTuple):
    """``name`` is the key among the facts, ``path`` the one under which it may be unavailable."""

    name: str
    path: str
    read: Callable[[Source], Any]


class Gathered(object):
    """What is known about the target.

    ``facts`` by family; ``unavailable`` fact path to reason; ``custom`` the texts of custom fact
    files ({path, text}) in the order of merging, later ones win; ``warnings`` lines for people.
    Custom facts that were not read in time stand as ``custom`` among the unavailable.
    """

    def __init__(self) -> None:
        self.facts: Dict[str, Any] = {}
        self.unavailable: Dict[str, str] = {}
        self.custom: List[Dict[str, str]] = []
        self.warnings: List[str] = []


def gather(
    budget: float = BUDGET,
    source: Optional[Source] = None,
    families: Optional[List[Family]] = None,
) -> Gathered:
    """Return the facts of this machine after at most ``budget`` seconds; raises nothing."""
    import threading

    source = source or Source()
    deadline = time.monotonic() + budget
    tasks: List[Tuple[Family, Any, Dict[str, Any]]] = []
    for family in all_families() if families is None else families:
        answer: Dict[str, Any] = {}
        thread = threading.Thread(target=_run, args=(family, source, answer), daemon=True)
        thread.start()
        tasks.append((family, thread, answer))
    gathered = Gathered()
    for family, thread, answer in tasks:
        thread.join(max(0.0, deadline - time.monotonic()))
        _add(gathered, family, dict(answer), budget)
    return gathered


def all_families() -> List[Family]:
    """Return every family; the quick ones first, because the order is also that of the facts."""
    from . import cpu, custom, host, memory, network, partition

    return [
        Family("host", "host.info", host.read),
        Family("cpu", "cpu", cpu.read),
        Family("memory", "memory", memory.read),
        Family("network", "network", network.read),
        Family("partition", "partition", partition.read),
        Family("custom", "custom", custom.read),
    ]


def _run(family: Family, source: Source, answer: Dict[str, Any]) -> None:
    try:
        answer["value"] = family.read(source)
    except Exception as error:
        answer["error"] = str(error) or type(error).__name__


def _add(gathered: Gathered, family: Family, answer: Dict[str, Any], budget: float) -> None:
    if "value" not in answer:
        reason = answer.get("error", "not ready within %g s" % budget)
        gathered.unavailable[family.path] = reason
    elif family.name == "custom":
        gathered.custom, bad = answer["value"]
        gathered.warnings += ["custom facts: %s" % line for line in bad]
    else:
        gathered.facts[family.name] = answer["value"]
