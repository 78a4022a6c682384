"""Facts about the target (target; Python 3.6 and newer, standard library only).

Each family is gathered in a daemon thread of its own: a mount that does not answer costs that
family, not the others, and does not hold the exit of the process.
"""

import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .source import Source

BUDGET = 2.0

# The key among the facts, the path under which it may be unavailable, and its reader.
Family = Tuple[str, str, Callable[[Source], Any]]


class Gathered(object):
    """What is known about the target; as JSON it fits into one frame of the protocol.

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
    deadline = time.monotonic() + budget
    source = source or Source()
    chosen = all_families() if families is None else families
    tasks = [_start(family, source) for family in chosen]
    gathered = Gathered()
    for (name, path, _read), thread, answer in tasks:
        if thread is not None:
            thread.join(max(0.0, deadline - time.monotonic()))
        _add(gathered, name, path, answer, budget)
    _fit(gathered)
    return gathered


def all_families() -> List[Family]:
    """Return every family; the order is also that of the facts."""
    from . import cpu, custom, host, memory, network, partition

    return [
        ("host", "host.info", host.read),
        ("cpu", "cpu", cpu.read),
        ("memory", "memory", memory.read),
        ("network", "network", network.read),
        ("partition", "partition", partition.read),
        ("custom", "custom", custom.read),
    ]


def _start(family: Family, source: Source) -> Tuple[Family, Any, Dict[str, Any]]:
    import threading

    answer: Dict[str, Any] = {}
    thread = threading.Thread(target=_run, args=(family[2], source, answer), daemon=True)
    try:
        thread.start()
    except RuntimeError as error:  # the user's limit of processes is reached
        answer["error"] = str(error)
        return family, None, answer
    return family, thread, answer


def _run(read: Callable[[Source], Any], source: Source, answer: Dict[str, Any]) -> None:
    try:
        answer["value"] = read(source)
    except Exception as error:
        answer["error"] = str(error) or type(error).__name__


def _add(gathered: Gathered, name: str, path: str, answer: Dict[str, Any], budget: float) -> None:
    if "value" not in answer:
        gathered.unavailable[path] = answer.get("error", "not ready within %g s" % budget)
    elif name == "custom":
        gathered.custom, bad = answer["value"]
        gathered.warnings += ["custom facts: %s" % line for line in bad]
    else:
        gathered.facts[name] = answer["value"]


def _fit(gathered: Gathered) -> None:
    from . import fit

    left, too_large = fit.facts(gathered.facts, fit.LIMIT)
    gathered.unavailable.update(too_large)
    gathered.custom, bad = fit.custom(gathered.custom, left)
    gathered.warnings += ["custom facts: %s" % line for line in bad]
    gathered.warnings = fit.warnings(gathered.warnings)
