"""A state directory, and a studio over three runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.orchestrator.studio.history import Site, three_runs


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that runs are stored below."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "ccm").mkdir(0o700)
    return tmp_path / "ccm"


@pytest.fixture
def site(state: Path) -> Iterator[Site]:
    """A studio over three runs of three hosts."""
    three_runs()
    made = Site(state)
    yield made
    made.close()
