"""The results of a run of the corpus in a file, so that one that was interrupted can go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .judging import Verdict
from .running import Result
from .scenario import Scenario


class KeptResults:
    """A line of JSON for each scenario that has ended. A scenario that was changed since, or
    whose line was cut off, counts as one that has not run.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
                self._known[record["scenario"]] = record
            except (ValueError, KeyError, TypeError):
                continue  # the line that was written when it was interrupted

    def find(self, scenario: Scenario) -> Result | None:
        """What came of a scenario, None where it has to run."""
        record = self._known.get(scenario.name)
        if record is None or record["digest"] != _digest(scenario):
            return None
        told = {key: record[key] for key in ("touched", "unstable", "in_vain", "broken")}
        return Result(scenario, [Verdict(**one) for one in record["verdicts"]], **told)

    def add(self, result: Result) -> None:
        """Keep a result at once."""
        record = asdict(result)
        record.update(scenario=result.scenario.name, digest=_digest(result.scenario))
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps(record)}")

    def left(self, scenarios: Sequence[Scenario]) -> tuple[list[Result], list[Scenario]]:
        """The results that are known, and the scenarios that have to run."""
        found = {scenario.name: self.find(scenario) for scenario in scenarios}
        known = [result for result in found.values() if result is not None]
        return known, [scenario for scenario in scenarios if found[scenario.name] is None]


def _digest(scenario: Scenario) -> str:
    text = json.dumps(asdict(scenario), sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
