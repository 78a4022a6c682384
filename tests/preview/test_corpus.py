"""The quick scenarios of the corpus, each on a host as new: a push does what its preview says."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from .running import Corpus, Result
from .scenario import Scenario, load

QUICK = [scenario for scenario in load() if scenario.quick]
SHORT = 2  # of each file in the short form of the suite, one that fails among them if one does


def variants() -> Iterator[Any]:
    """The quick scenarios, those that only the long form runs marked so."""
    seen: Counter[tuple[str, bool]] = Counter()
    failing = {scenario.area for scenario in QUICK if scenario.fails}
    for scenario in QUICK:
        kind = (scenario.area, bool(scenario.fails))
        seen[kind] += 1
        maximum = 1 if scenario.area in failing else SHORT
        marks = [pytest.mark.long] if seen[kind] > maximum else []
        yield pytest.param(scenario, id=scenario.name, marks=marks)


pytestmark = [
    pytest.mark.begun_first,
    pytest.mark.timeout(900),  # the first test waits for all that were chosen
]


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest, needs_lab: None) -> dict[str, Result]:
    """What came of the chosen scenarios, by name."""
    items = [item for item in request.session.items if item.path == request.path]
    names = {item.name.partition("[")[2].rstrip("]") for item in items}
    chosen = [scenario for scenario in QUICK if scenario.name in names]
    with Corpus() as corpus:
        return {result.scenario.name: result for result in corpus.run(chosen)}


@pytest.mark.parametrize("scenario", [*variants()])
def test_a_preview_is_exact(scenario: Scenario, results: dict[str, Result]) -> None:
    """Every resource comes out as foretold, the preview leaves nothing, the next push is stable."""
    result = results[scenario.name]
    assert result.faults() == []
    assert [verdict.told() for verdict in result.verdicts if verdict.missed] == []
