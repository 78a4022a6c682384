"""Facts about the target (target; Python 3.6 and newer, standard library only).

Families are read one after the other in a daemon thread. If it is blocked, another thread reads the
remaining families: a mount that does not respond costs only that family and does not delay the exit
of the process.
"""

import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.facts.fact_source import Source

BUDGET = 2.0
PATIENCE = 0.1  # seconds after which another thread takes over

# The key among the facts, the path under which it may be unavailable, and its reader.
Family = Tuple[str, str, Callable[[Source], Any]]


class Gathered(NamedTuple):
    """The facts about the target; as JSON, they fit into one frame of the protocol.

    ``facts`` are by family; ``unavailable`` maps the path of a fact to the reason; ``custom`` are
    the texts of custom fact files ({path, text}) in the order of merging, in which later ones win;
    ``warnings`` are lines for people. Custom facts that were not read in time are ``custom`` in
    ``unavailable``.
    """

    facts: Dict[str, Any]
    unavailable: Dict[str, str]
    custom: List[Dict[str, str]]
    warnings: List[str]


def gather(
    budget: float = BUDGET,
    source: Optional[Source] = None,
    families: Optional[List[Family]] = None,
) -> Gathered:
    """Return the facts of this machine after at most ``budget`` seconds; never raises."""
    work = _Work(all_families() if families is None else families, source or Source())
    work.do(time.monotonic() + budget, min(PATIENCE, budget / (len(work.left) + 1)))
    facts: Dict[str, Any] = {}
    unavailable: Dict[str, str] = {}
    for name, path, answer in work.answers:
        if "value" in answer:
            facts[name] = answer["value"]
        else:
            unavailable[path] = answer.get("error", "not ready within %g s" % budget)
    return _fitting(facts, unavailable, *facts.pop("custom", ((), ())))


def all_families() -> List[Family]:
    """Return every family; the order is also that of the facts."""
    from remote_runtime.facts import cpu, custom, host, memory, network, partition

    return [
        ("host", "host.info", host.read),
        ("cpu", "cpu", cpu.read),
        ("memory", "memory", memory.read),
        ("network", "network", network.read),
        ("partition", "partition", partition.read),
        ("custom", "custom", custom.read),
    ]


class _Work(object):
    """The families that have not been read yet, and the results of the others."""

    def __init__(self, families: List[Family], source: Source) -> None:
        self._source = source
        answers: List[Dict[str, Any]] = [{} for _ in families]
        self.answers = [(name, path, a) for (name, path, _), a in zip(families, answers)]
        self.left = [(read, a) for (_, _, read), a in zip(families, answers)]
        self.left.reverse()  # taken from the end

    def do(self, deadline: float, patience: float) -> None:
        """Return once all are read, at the latest at the deadline."""
        from remote_runtime.stdlib_light.threads import Thread

        threads = []
        while self.left:
            thread = Thread(self._read)
            try:
                thread.start()
            except RuntimeError as error:  # the user's limit of processes is reached
                while self.left:
                    self.left.pop()[1]["error"] = str(error)
                break
            threads.append(thread)
            thread.join(patience)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _read(self) -> None:
        while self.left:
            try:
                read, answer = self.left.pop()
            except IndexError:
                return  # another thread was faster
            try:
                answer["value"] = read(self._source)
            except Exception as error:  # whatever the host has: only this fact is missing
                answer["error"] = str(error) or type(error).__name__


def _fitting(
    facts: Dict[str, Any],
    unavailable: Dict[str, str],
    files: Sequence[Dict[str, str]],
    bad: Sequence[str],
) -> Gathered:
    """Return the facts that fit into one frame, and the reasons for the rest."""
    from remote_runtime.facts import size_limit

    left, too_large = size_limit.facts(facts, size_limit.LIMIT)
    custom, more = size_limit.custom(files, left)
    warnings = size_limit.warnings(["custom facts: %s" % line for line in [*bad, *more]])
    return Gathered(facts, dict(unavailable, **too_large), custom, warnings)
