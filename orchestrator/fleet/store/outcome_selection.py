"""Selects hosts by words such as ``failed``, based on stored runs (controller)."""

import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from orchestrator.fleet import outcome
from orchestrator.fleet.host.stage_host import host_in
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.store.run_source import OWN_RUNS, RunSource

if TYPE_CHECKING:
    from orchestrator.fleet.store.stored_runs import SavedRun

REMAINING = "remaining"
UNDONE = "undone"


class PastRuns:
    """The stored runs for an inventory's patterns, read on first use.

    With a ``manifest``, the last push of that manifest is used; without one, the last push of each
    host. ``among`` limits the hosts of a word, such as to those of a plan. ``folder`` has the runs.
    """

    def __init__(
        self,
        manifest: str = "",
        among: Collection[str] | None = None,
        folder: RunSource = OWN_RUNS,
    ) -> None:
        self._folder = folder
        self._among = among
        of = f" of {os.path.basename(manifest)}" if manifest else ""
        self.last = f"its last push{of}"
        """The name of a host's last push in messages."""
        self._identity = _named(manifest) if manifest else ""

    def named(self, word: str, run_id: str, hosts: Collection[str]) -> set[str]:
        """The hosts that the word selects: in the run with that ID or prefix or, for "", in each
        host's last push. InputError.
        """
        if self._among is not None:
            hosts = set(hosts).intersection(self._among)
        if run_id:
            from orchestrator.fleet.store.stored_runs import saved_run

            results = _results(saved_run(run_id, self._folder))
            selected = {host_in(one.host) for one in results if _is(one, word)}
            return selected & set(hosts)
        matches = self._last(word, hosts, self._identity)
        if self._identity:
            unknown = set(hosts) - matches.keys()
            matches |= self._last(word, unknown, "") if unknown else {}
        return {host for host, selected in matches.items() if selected}

    def _last(self, word: str, hosts: Collection[str], identity: str) -> dict[str, bool]:
        """For each pushed host, whether its last push matches the word."""
        unknown, matches = set(hosts), dict[str, bool]()
        for run in _pushes(identity, self._folder):
            of_run = dict[str, bool]()
            for result in _results(run):
                host = host_in(result.host)
                if host not in unknown:
                    continue
                if word == outcome.FAILED and not result.was_started:
                    continue  # the push before that one was its last
                of_run[host] = of_run.get(host, False) or _is(result, word)
            matches |= of_run
            unknown -= of_run.keys()
            if not unknown:
                break
        return matches


def _pushes(identity: str, folder: RunSource) -> "Iterator[SavedRun]":
    """The pushes for an inventory, newest first."""
    from orchestrator.fleet.store.stored_runs import saved_runs

    for run in saved_runs(folder):
        options = run.about.get("options", {})
        pushed = run.about["command"] in ("push", "apply") and options.get("inventory")
        if not pushed or run.about["noop"] or options.get("monitor_only"):
            continue
        if not identity or identity == _identity_of(run):
            yield run


def _results(run: "SavedRun") -> Iterator[HostResult]:
    """The results of a run; a host on which its verify failed counts as failed."""
    bad = run.failed_verify()
    for result in run.results():
        if result.host in bad and result.outcome == outcome.OK:
            result = result._replace(outcome=outcome.FAILED)
        yield result


def runs_of(manifest: str, folder: RunSource = OWN_RUNS) -> "Iterator[SavedRun]":
    """The stored runs of that manifest in any checkout, newest first."""
    from orchestrator.fleet.store.stored_runs import saved_runs

    identity = _named(manifest)
    return (run for run in saved_runs(folder) if _identity_of(run) == identity)


def _identity_of(run: "SavedRun") -> str:
    return str(run.about.get("identity") or _named(run.about["manifest"]))


def _named(manifest: str) -> str:
    from orchestrator.manifest.identity import identity

    return identity(manifest)


def _is(result: HostResult, word: str) -> bool:
    if word == REMAINING:
        return not result.was_started
    if word == UNDONE:
        return not result.was_started or result.outcome != outcome.OK
    if word == "changed":
        return result.changed
    if word == outcome.UNREACHABLE:
        return result.outcome == outcome.UNREACHABLE
    return result.was_started and result.outcome != outcome.OK
