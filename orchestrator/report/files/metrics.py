"""A run's counters in Prometheus's text format, for the textfile collector (controller).

The names are those of Choria CCM. There is no label for the host: values are sums over the hosts of
the run. A file covers one run and the next one replaces it, so there are no counters: all metrics
are gauges, except the durations, which are summaries.
"""

import importlib.util
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.grouping import ORDER
from orchestrator.report.matrix import NANOSECOND
from orchestrator.report.unfinished_resources import unfinished_resources
from orchestrator.support.plain_text import plain
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from prometheus_client.core import Metric

_PREFIX = "choria_ccm_"
_UNFINISHED = "unfinished"  # hosts without a result
_MAX_LABELS = 16  # providers of a type, health checks of a resource
_MAX_CHARACTERS = 200  # of the name of a health check
_OTHER = "other"
_PROVIDER = re.compile(r"\w[\w.-]{0,39}")
_STATES = {
    "total": "Resources that were processed",
    "changed": "Resources that changed, or would change in a preview",
    "failed": "Resources that failed",
    "stable": "Resources in the desired state",
    "skipped": "Resources that were skipped",
    "refreshed": "Resources that were refreshed",
    "noop": "Resources that were previewed",
    "drifted": "Resources that differ from their last applied state",
}


class _Run:
    """The numbers of one run, as a collector of prometheus_client."""

    def __init__(self, run: SavedRun) -> None:
        self._about = run.about
        self._manifest = plain(run.about["manifest"])
        results = run.results()
        self._outcomes = Counter(result.outcome for result in results)
        self._compared = sum(result.tally.compared for result in results)
        self._as_predicted = sum(result.tally.as_predicted for result in results)
        self._states: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in _STATES}
        self._times: dict[tuple[str, str, str], tuple[int, float]] = {}
        self._labels: dict[tuple[str, ...], set[str]] = {}  # by metric and label name
        self._checks: Counter[tuple[str, str, str, str]] = Counter()
        for event, _ in run.events():
            self._add(event)
        unknown = unfinished_resources(run, results).unknown.values()
        self._unknown = sum(map(len, unknown))

    def _add(self, event: dict[str, Any]) -> None:
        kind, name, provider = (plain(event[key]) for key in ("type", "name", "provider"))
        for state in ("total", event["status"]):
            self._states[state][kind, name] += 1
        for state in ("refreshed", "noop"):
            self._states[state][kind, name] += event[state]
        self._states["drifted"][kind, name] += "drift" in event
        if not _PROVIDER.fullmatch(provider):
            provider = _OTHER
        key = kind, self._bounded(provider, kind), name
        count, seconds = self._times.get(key, (0, 0.0))
        self._times[key] = count + 1, seconds + event["duration"] * NANOSECOND
        for check in event.get("health_check", ()):
            label = self._bounded(plain(check["name"])[:_MAX_CHARACTERS], kind, name)
            self._checks[kind, name, check["status"], label] += 1

    def _bounded(self, label: str, *of: str) -> str:
        """The label, or ``other`` if ``of`` has too many labels, because a host may
        report any text.
        """
        known = self._labels.setdefault(of, set())
        if label in known:
            return label
        if len(known) >= _MAX_LABELS:
            return _OTHER
        known.add(label)
        return label

    def collect(self) -> "Iterator[Metric]":
        """The interface that prometheus_client requires."""
        from prometheus_client.core import SummaryMetricFamily

        for state, counter in self._states.items():
            family = f"{_PREFIX}resource_state_{state}_count"
            yield self._gauge(family, _STATES[state], ("type", "name"), counter.items())
        times = SummaryMetricFamily(
            f"{_PREFIX}resource_apply_duration_seconds",
            "Duration per resource",
            labels=("type", "provider", "name", "manifest"),
        )
        for labels, (count, seconds) in self._times.items():
            times.add_metric((*labels, self._manifest), count, seconds)
        yield times
        if self._about["end"]:
            whole = SummaryMetricFamily(
                f"{_PREFIX}manifest_apply_duration_seconds",
                "Duration of the run",
                labels=("manifest",),
            )
            whole.add_metric((self._manifest,), 1, self._about["end"] - self._about["start"])
            yield whole
        checked = f"{_PREFIX}healthcheck_status_count"
        which = ("type", "name", "status", "check")
        yield self._gauge(checked, "Results of health checks", which, self._checks.items())
        remaining = len(self._about["hosts"]) - self._outcomes.total()
        ends = [*((name, self._outcomes[name]) for name in ORDER), (_UNFINISHED, remaining)]
        hosts = (((name,), number) for name, number in ends)
        yield self._gauge(f"{_PREFIX}hosts_count", "Hosts by outcome", ("outcome",), hosts)
        text = "Resources that were not reported because their host was lost"
        not_known = f"{_PREFIX}resources_not_known_count"
        yield self._gauge(not_known, text, (), [((), self._unknown)])
        if self._compared:
            compared, came = f"{_PREFIX}plan_compared_count", f"{_PREFIX}plan_as_predicted_count"
            text = "Resources predicted by the plan"
            yield self._gauge(compared, text, (), [((), self._compared)])
            text = "Resources that matched the prediction of the plan"
            yield self._gauge(came, text, (), [((), self._as_predicted)])
        ended = f"{_PREFIX}run_end_timestamp_seconds"
        text = "End of the run, in seconds since the epoch"
        yield self._gauge(ended, text, (), [((), self._about["end"] or 0)])

    def _gauge(
        self,
        name: str,
        text: str,
        labels: tuple[str, ...],
        values: Iterable[tuple[tuple[str, ...], float]],
    ) -> "Metric":
        from prometheus_client.core import GaugeMetricFamily

        family = GaugeMetricFamily(name, text, labels=(*labels, "manifest"))
        for key, number in values:
            family.add_metric((*key, self._manifest), number)
        return family


def check_metrics() -> None:
    """UsageError if prometheus_client is not installed, before anything is changed."""
    if importlib.util.find_spec("prometheus_client") is None:
        raise UsageError(
            "--metrics requires prometheus_client, which is not installed",
            kind="usage.extra",
            hint="pip install 'ccm-push[metrics]'",
        )


def write_metrics(run: SavedRun, out: TextIO) -> None:
    """Write a stored run's counters. UsageError, InputError for a damaged directory of the run."""
    check_metrics()
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import generate_latest

    registry = CollectorRegistry()
    registry.register(_Run(run))
    out.write(generate_latest(registry).decode("utf-8"))
    out.flush()
