"""A run's counters for Prometheus."""

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.report.metrics import write_metrics
from tests.orchestrator.report.runs import Kept, mixed_run

SITE = "/srv/site/site.yaml"


def samples(path: Path) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, in the labels' order."""
    families = text_string_to_metric_families(path.read_text(encoding="utf-8"))
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()) if value != SITE)): (
            sample.value
        )
        for family in families
        for sample in family.samples
    }


def test_states_durations_and_checks_have_choria_names(tmp_path: Path) -> None:
    """Counts add up over the hosts, durations are in seconds, checks have their status."""
    write_metrics(mixed_run(), str(tmp_path / "ccm.prom"))
    found = samples(tmp_path / "ccm.prom")
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


def test_a_preview_counts_as_noop(tmp_path: Path) -> None:
    """Every resource of a preview is counted as noop."""
    kept = Kept("web1", noop=True)
    kept.event("web1", "/etc/x", noop=True)
    write_metrics(kept.end(), str(tmp_path / "ccm.prom"))
    found = samples(tmp_path / "ccm.prom")
    assert found["choria_ccm_resource_state_noop_count", "/etc/x", "file"] == 1


def test_names_that_need_quoting_are_quoted(tmp_path: Path) -> None:
    """A resource's name with quotes and newlines stays one label."""
    kept = Kept("web1")
    kept.event("web1", 'say "hi"\n\\')
    write_metrics(kept.end(), str(tmp_path / "ccm.prom"))
    found = samples(tmp_path / "ccm.prom")
    assert found["choria_ccm_resource_state_total_count", 'say "hi"\n\\', "file"] == 1


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    """The collector never finds half a file, nor a temporary one."""
    (tmp_path / "ccm.prom").mkdir()
    with pytest.raises(OSError, match=r"ccm\.prom"):
        write_metrics(mixed_run(), str(tmp_path / "ccm.prom"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ccm.prom", "state"]


def test_hosts_that_were_not_reached_are_counted(tmp_path: Path) -> None:
    """A run that reached nobody has samples that say so; every sample names the manifest."""
    kept = Kept("web1", "web2")
    gone = {"outcome": "unreachable", "message": "no route"}
    write_metrics(kept.end(web1=gone, web2=gone), str(tmp_path / "ccm.prom"))
    found = samples(tmp_path / "ccm.prom")
    assert found["choria_ccm_hosts_count", "unreachable"] == 2
    assert found["choria_ccm_hosts_count", "ok"] == found["choria_ccm_hosts_count", "failed"] == 0
    told = (tmp_path / "ccm.prom").read_text().splitlines()
    assert all(f'manifest="{SITE}"' in line for line in told if not line.startswith("#"))
