"""How many hosts may fail."""

import pytest

from orchestrator.fleet import outcome
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.rollout.budget import Budget
from orchestrator.rollout.wave_sizes import parse_amount


@pytest.mark.parametrize(
    ("how", "phase", "counts"),
    [
        (outcome.OK, Phase.DONE, False),
        (outcome.FAILED, Phase.DONE, True),
        (outcome.REFUSED, Phase.RUNNING, True),
        (outcome.UNREACHABLE, Phase.CONNECTING, True),
        (outcome.DEFECT, Phase.PLANNING, True),
        (outcome.INTERRUPTED, Phase.RUNNING, False),
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
