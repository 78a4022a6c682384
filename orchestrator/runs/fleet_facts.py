"""The facts of other hosts that the templates of a run read (controller).

The facts that were gathered last are cached on this machine. Missing or old facts are gathered
before the first host of the run is changed.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.language.other_hosts import PackedFacts
from orchestrator.planning.facts import merge_host_facts
from orchestrator.support.state_directory import state_directory
from remote_runtime.errors import CcmError, UsageError
from remote_runtime.text import duration

if TYPE_CHECKING:
    from inventory import Host, Inventory
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.fleet.store.fact_cache import HostRecord
    from orchestrator.planning import Planner

_MAX_NAMES = 5


def max_age(text: str) -> float:
    """``facts_max_age`` in seconds; UsageError."""
    try:
        seconds = duration.parse(text)
    except ValueError as error:
        raise UsageError(
            f"facts_max_age is {text[:40]!r}, which is not a duration", hint="write 1h, 10m or 0s"
        ) from error
    return seconds


class FactReads(NamedTuple):
    """The view of an inventory for templates, and the hosts whose facts they read; ``stale`` has
    those without recent facts.
    """

    view: InventoryView
    hosts: "Sequence[Host]"
    stale: "Sequence[Host]"

    def summary(self) -> str:
        """The facts that a run uses, with their age; "" for none."""
        known = self.view.facts.known
        ages = [f"{host.name} ({known[host.name].gathered})" for host in self.hosts[:_MAX_NAMES]
                 if host.name in known]  # fmt: skip
        rest = len(self.hosts) - _MAX_NAMES
        if not ages:
            return ""
        more = f" and {rest} more" if rest > 0 else ""
        return f"templates read the facts of {', '.join(ages)}{more}"


def show_hosts(
    planners: "Iterable[Planner]", inventory: "Inventory", oldest: float | None = None
) -> FactReads:
    """Set the hosts that the planners' templates can read, with the cached facts of others.

    ``oldest`` is their maximum age in seconds, None for any age. No host is contacted.
    """
    planners = list(planners)
    view = InventoryView.of(inventory)
    for planner in planners:
        planner.see(view)
    texts = [text for planner in planners for text in planner.texts()]
    if not any("facts" in text for text in texts):
        return FactReads(view, [], [])
    from orchestrator.fleet.store.fact_cache import FactCache
    from orchestrator.planning.site.fact_references import hosts_read

    names = hosts_read(texts, view.groups, view.hosts)
    hosts = [inventory.hosts[name] for name in names]
    store, now, stale = FactCache(state_directory()), time.time(), []
    for host in hosts:
        record = store.of(host)
        if record is None or (oldest is not None and record.age(now) > oldest):
            stale.append(host)
            if record is not None:
                reason = f"its stored facts are from {record.moment}, which is too old"
                view.facts.reasons[host.name] = f"{reason}; 'ccm facts -l {host.name}' gathers them"
        else:
            view.facts.known[host.name] = PackedFacts.of(
                record.moment, record.facts, record.unavailable
            )
    return FactReads(view, hosts, stale)


def take_answers(
    read: FactReads, answers: "Mapping[str, HostFacts | CcmError]", warn: Callable[[str], None]
) -> None:
    """Store the new facts of hosts, and provide them to templates.

    If a host could not be queried, the hosts that read its facts are refused. ``warn`` receives the
    reason why facts cannot be stored.
    """
    from orchestrator.fleet.store.fact_cache import MAX_BYTES

    facts, failed = read.view.facts, dict[str, None]()
    for host in read.stale:
        answer = answers[host.name]
        if isinstance(answer, CcmError):
            facts.reasons[host.name] = f"{host.name} could not be queried: {answer.message}"
            continue
        record = keep_facts(host, answer, failed)
        if record is None:
            facts.reasons[host.name] = f"its facts are larger than {MAX_BYTES >> 20} MiB"
        else:
            facts.known[host.name] = PackedFacts.of(record.moment, record.facts, record.unavailable)
    for text in failed:
        warn(text)


def keep_facts(host: "Host", gathered: "HostFacts", failed: dict[str, None]) -> "HostRecord | None":
    """Store the facts of a host, including custom ones; None if they are too large.

    ``failed`` receives the reason why they cannot be stored, which is the same for all hosts.
    """
    from orchestrator.fleet.store.fact_cache import FactCache, HostRecord

    facts, _ = merge_host_facts(gathered)
    record = HostRecord(dict(dict.items(facts)), time.time(), facts.unavailable)
    try:
        if not FactCache(state_directory()).keep(host, *record):
            return None
    except (OSError, UsageError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        failed[f"facts cannot be stored in {state_directory()}: {reason}"] = None
    return record
