"""How many hosts may fail."""

import pytest

from orchestrator.fleet import outcome
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.rollout.amounts import parse_amount
from orchestrator.rollout.budget import Budget, Canaries, check_clusters, ignores_canaries
from remote_runtime.errors import UsageError


@pytest.mark.parametrize(
    ("how", "phase", "counts"),
    [
        (outcome.OK, Phase.DONE, False),
        (outcome.FAILED, Phase.DONE, True),
        (outcome.REFUSED, Phase.RUNNING, True),
        (outcome.UNREACHABLE, Phase.CONNECTING, True),
        (outcome.DEFECT, Phase.PLANNING, True),
        (outcome.INTERRUPTED, Phase.RUNNING, True),
        (outcome.INTERRUPTED, Phase.WAITING, False),
        (outcome.NOT_STARTED, Phase.WAITING, False),
    ],
)
def test_what_counts_as_a_failure(how: str, phase: Phase, counts: bool) -> None:
    """Whatever is not as it should be counts, once per host; a host without a turn does not."""
    budget = Budget(0)
    for _ in range(2):
        budget.count(HostResult("web1", Tally(), how, phase=phase))
    assert (budget.failed, budget.spent) == (counts, counts)


@pytest.mark.parametrize(
    ("max_fail", "hosts", "waves", "limit"),
    [(None, 60, False, None), (None, 60, True, 0), ("10%", 65, True, 6), ("3", 2, False, 3)],
)
def test_the_limit(max_fail: str | None, hosts: int, waves: bool, limit: int | None) -> None:
    """Without a limit any number may fail, in waves none; a share is rounded down."""
    given = None if max_fail is None else parse_amount(max_fail)
    assert Budget.of(given, hosts, waves).limit == limit


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


def test_a_budget_counts_canaries() -> None:
    """Only where one was given."""
    assert ignores_canaries(None)
    assert not ignores_canaries(parse_amount("0"))
