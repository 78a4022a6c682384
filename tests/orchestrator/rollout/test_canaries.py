"""Clusters of hosts and their canaries."""

import pytest

from orchestrator.rollout.canaries import Canaries, check_clusters
from remote_runtime.errors import UsageError


def test_behind_a_canary_stands_its_cluster() -> None:
    """Those of the canaries that have failed, and nobody else."""
    canaries = Canaries([["a", "b", "c"], ["d"], ["e", "f"]])
    assert [host for host in "abcdef" if host in canaries] == ["a", "d", "e"]
    assert canaries.behind({"a", "d"}) == {"b", "c"}
    assert not Canaries()


def test_too_many_clusters_are_refused() -> None:
    """Nobody looks at so many canaries."""
    check_clusters([["a"], ["b"]], 2)
    with pytest.raises(UsageError) as told:
        check_clusters([["a"], ["b"], ["c"]], 2)
    assert "3 groups" in told.value.message
    assert "--canary-max" in told.value.hint
