"""The results of the verify after a push, in the run directory (controller)."""

import json
from pathlib import Path
from typing import Any

from orchestrator.fleet.store.stored_runs import ReportSource
from orchestrator.support.line_file import LineFile
from orchestrator.verify.assessment import Assessment, Outcome


class VerifyFile:
    """Writes each outcome immediately, then the total."""

    def __init__(self, run: Path) -> None:
        self._file: LineFile | None = None
        self._fault: OSError | None = None
        try:
            self._file = LineFile(run / "verify.jsonl", private=True)
        except OSError as error:
            self._fault = error

    def take(self, outcome: Outcome) -> None:
        """Store one outcome; after a failure to store one, no more are stored."""
        self._write(outcome._asdict())

    def finish(self, assessment: Assessment) -> None:
        """Store the total. OSError if something could not be stored."""
        self._write({"found": {**assessment._asdict(), "outcomes": ()}})
        if self._file is not None:
            self._file.close()
        if self._fault is not None:
            raise self._fault

    def _write(self, record: dict[str, Any]) -> None:
        if self._file is not None and self._fault is None:
            try:
                self._file.write(json.dumps(record) + "\n")
            except OSError as error:
                self._fault = error


def stored_assessment(source: ReportSource) -> Assessment | None:
    """The stored result of the verify after a push; None for a run without one. InputError.

    An incomplete one counts as interrupted.
    """
    records = source.verified()
    if records is None:
        return None
    outcomes = [Outcome(**_fields(Outcome, r)) for r in records if "found" not in r]
    hosts = len({outcome.host for outcome in outcomes})
    record_found = next((record["found"] for record in records if "found" in record), None)
    if record_found is None:
        return Assessment(hosts, outcomes, interrupted=True)
    return Assessment(**{**_fields(Assessment, record_found), "outcomes": outcomes})


def _fields(kind: type[Outcome] | type[Assessment], record: dict[str, Any]) -> dict[str, Any]:
    """The members of a record that this version supports."""
    return {name: value for name, value in record.items() if name in kind._fields}
