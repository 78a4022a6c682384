"""A run's counters for Prometheus."""

import io

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.files.metrics import write_metrics
from tests.orchestrator.report.runs import Kept, mixed_run

SITE = "/srv/site/site.yaml"


def written(kept: SavedRun) -> str:
    """The text of a run's counters."""
    out = io.StringIO()
    write_metrics(kept, out)
    return out.getvalue()


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, in the labels' order."""
    families = text_string_to_metric_families(text)
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()) if value != SITE)): (
            sample.value
        )
        for family in families
        for sample in family.samples
    }


def test_states_durations_and_checks_have_choria_names() -> None:
    """Counts add up over the hosts, durations are in seconds, checks have their status."""
    found = samples(written(mixed_run()))
    state = "choria_ccm_resource_state_{}_count".format
    assert found[state("total"), "/etc/motd", "file"] == 7
    assert found[state("changed"), "/etc/motd", "file"] == 7
    assert found[state("failed"), "/etc/broken", "file"] == 1
    assert found[state("skipped"), "/etc/after", "file"] == 1
    assert found[state("stable"), "/etc/app/1.conf", "file"] == 7
    duration = "choria_ccm_resource_apply_duration_seconds"
    assert found[f"{duration}_count", "/etc/motd", "posix", "file"] == 7
    assert found[f"{duration}_sum", "/etc/motd", "posix", "file"] == pytest.approx(1.4)
    assert found["choria_ccm_manifest_apply_duration_seconds_sum",] == pytest.approx(2.32)
    checks = "choria_ccm_healthcheck_status_count"
    assert found[checks, "http", "/etc/checked", "WARNING", "file"] == 1


def test_a_preview_counts_as_noop() -> None:
    """Every resource of a preview is counted as noop."""
    kept = Kept("web1", noop=True)
    kept.event("web1", "/etc/x", noop=True)
    found = samples(written(kept.end()))
    assert found["choria_ccm_resource_state_noop_count", "/etc/x", "file"] == 1


def test_names_that_need_quoting_are_quoted() -> None:
    """A resource's name with quotes and newlines stays one label."""
    kept = Kept("web1")
    kept.event("web1", 'say "hi"\n\\')
    found = samples(written(kept.end()))
    assert found["choria_ccm_resource_state_total_count", 'say "hi"\n\\', "file"] == 1


def test_names_are_shown_without_what_acts_on_a_terminal() -> None:
    """Metrics contain no text that is not UTF-8, whoever put it into the run directory."""
    kept = Kept("web1")
    kept.event("web1", "/a\x1b[2J\ud800b", "changed")
    assert 'name="/ab"' in written(kept.end())


def test_hosts_that_were_not_reached_are_counted() -> None:
    """A run that reached nobody has samples that say so; every sample names the manifest."""
    kept = Kept("web1", "web2")
    gone = {"outcome": "unreachable", "message": "no route"}
    told = written(kept.end(web1=gone, web2=gone)).splitlines()
    found = samples("\n".join(told))
    assert found["choria_ccm_hosts_count", "unreachable"] == 2
    assert found["choria_ccm_hosts_count", "ok"] == found["choria_ccm_hosts_count", "failed"] == 0
    assert all(f'manifest="{SITE}"' in line for line in told if not line.startswith("#"))


def test_a_host_cannot_make_labels_without_bound() -> None:
    """Of a type 16 providers have a label each, in the order in which they came."""
    kept = Kept("web1")
    for number in range(100):
        kept.event("web1", "/etc/x", provider=f"made-up{number}")
    kept.event("web1", "/etc/x", provider="no name {of} a provider")
    kept.event("web1", "/etc/x", provider="made-up0")
    count = "choria_ccm_resource_apply_duration_seconds_count"
    found = {key: value for key, value in samples(written(kept.end())).items() if key[0] == count}
    assert len(found) == 17
    assert found[count, "/etc/x", "made-up0", "file"] == 2
    assert found[count, "/etc/x", "other", "file"] == 85


def test_a_host_cannot_make_health_checks_without_bound() -> None:
    """Of a resource 16 health checks have a label each, of at most 200 characters."""
    kept = Kept("web1")
    for number in range(100):
        check = {"name": f"made up {number}", "status": "OK", "tries": 1, "output": ""}
        kept.event("web1", "/etc/x", health_check=[check, {**check, "name": "x" * 1_000}])
    count = "choria_ccm_healthcheck_status_count"
    found = {key: value for key, value in samples(written(kept.end())).items() if key[0] == count}
    labels = [label for key in found for label in key[1:] if label.startswith(("made", "x", "oth"))]
    assert len(labels) == len(found) == 17
    assert max(map(len, labels)) == 200
    assert sum(found.values()) == 200
