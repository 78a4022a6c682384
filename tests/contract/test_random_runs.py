"""Random runs: what a preview tells as certain comes true (Linux, as root)."""

import os
import sys
from collections import Counter

import pytest

from tests.contract.random_runs import compared, drawn

RUNS = 60
"""The runs of the short form; the module itself draws them for as long as it is told to."""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="makes files of other users"
)


@pytest.mark.parametrize("first", [pytest.param(1, id="short"), pytest.param(1000, id="more")])
@pytest.mark.long("more")
def test_previews_come_true(first: int) -> None:
    """No certain prediction is wrong."""
    counts: Counter[str] = Counter()
    for seed in range(first, first + (RUNS if first == 1 else 20 * RUNS)):
        case = drawn(seed)
        differs = compared(case, counts)
        assert not differs, f"{case.told()}\n{differs}"
    assert counts["certain"] > 2 * counts["unknown"]
