"""The benchmark of templates measures what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rendering import FILES, KINDS, LOOP, one, planned, write


def test_every_kind_is_measured(tmp_path: Path) -> None:
    """Each kind runs in a process of its own, and gives time and memory."""
    write(tmp_path, hosts=2, listed=3)
    for kind in KINDS:
        seconds, peak = one(tmp_path, kind)
        assert seconds > 0
        assert peak > 1


def test_all_that_is_planned_is_rendered(tmp_path: Path) -> None:
    """A template that fails on a host ends the measurement; the sites have what is said."""
    write(tmp_path, hosts=1, listed=3)
    assert (tmp_path / "loop.yaml").read_text().count(", ") > FILES
    assert "for" in LOOP
    (tmp_path / "hosts.j2").write_text("{{ Hosts.host00009.address }}")
    with pytest.raises(RuntimeError, match="host00009"):
        planned(tmp_path, "list")
