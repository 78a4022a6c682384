"""The sites whose types are measured are ones that ccm accepts."""

from pathlib import Path

from benchmarks.types import type_costs
from orchestrator.manifest.loader import load_site


def test_the_sites_are_valid(tmp_path: Path) -> None:
    """Each case has as many resources as are asked for, and the small size a share of them."""
    names = [f"{number:04d}" for number in range(8)]
    site = tmp_path / "site.yaml"
    for kind, resources in {
        **type_costs.of_files(names),
        **type_costs.of_one_state(names),
    }.values():
        for share, count in ((1, 8), (4, 2)):
            site.write_text(type_costs.site(kind, resources, share), encoding="utf-8")
            types = [entry.type.name for entry in load_site(str(site)).resources]
            assert types[1:] == [kind] * count
