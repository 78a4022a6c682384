"""The site whose types are measured is one that ccm accepts."""

from pathlib import Path

from benchmarks.types import costs
from orchestrator.manifest.loader import load_site


def test_the_site_is_valid(tmp_path: Path) -> None:
    """Each type has as many resources as are asked for, or those that a host has anyway."""
    site = tmp_path / "site.yaml"
    site.write_text(costs.site(2), encoding="utf-8")
    types = [entry.type.name for entry in load_site(str(site)).resources]
    assert types.count("repository") == 2
    assert types.count("file") == 3
