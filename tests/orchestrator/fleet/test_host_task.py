"""What every task of a host does, whatever it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.fact_run import FactRun
from orchestrator.fleet.host_task import InterruptedRunError
from orchestrator.fleet.ports import Link
from orchestrator.support.crash import DefectError
from tests.orchestrator.fleet.fakes import FakeConnector, FakeHost, FarEnd


class Opening:
    """Does something while a link is being opened."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile
        self.inner = FakeConnector(FarEnd.greet)

    def open(self, host: Any, on_phase: Any) -> Link:
        link = self.inner.open(host, on_phase)
        self._meanwhile()
        return link


def test_what_is_cancelled_while_its_link_is_opened_is_not_begun() -> None:
    """A link that comes too late is closed, and nothing is asked over it."""
    connector = Opening(lambda: task.cancel())
    task = FactRun(FakeHost("web1"), connector)
    assert isinstance(task.run(), InterruptedRunError)
    assert connector.inner.links["web1"].closed.is_set()


def test_a_defect_is_told_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug is that host's answer, with the path of a report and without a value that it quotes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def fail() -> None:
        raise KeyError(f"hunter{2}")

    error = FactRun(FakeHost("web1"), Opening(fail)).run()
    assert isinstance(error, DefectError)
    assert error.kind == "defect"
    assert "hunter2" not in f"{error} {Path(error.report).read_text()}"
    assert "facts of web1" in Path(error.report).read_text()
