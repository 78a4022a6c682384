"""A studio that serves on loopback, and clients with tokens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.history.factory import copy_of
from orchestrator.history.location import HistoryLocation
from orchestrator.studio.sharing.tokens import TokenFile
from orchestrator.studio.web.server import listen, serve
from orchestrator.studio.web.start import StudioOptions, assemble
from tests.orchestrator.report.runs import Kept

HOSTS = """\
groups:
  web: {hosts: {web1: {}, web2: {}}}
  db: {hosts: {db1: {}}}
"""
RUN = "20260921T133640Z-aaaaaa"
NOW = 1_790_000_000.0


class Studio:
    """A studio with its own state, on loopback; ``tokens`` has the token of each name."""

    def __init__(self, state: Path, **more: Any) -> None:
        self.state = state
        self.runs = state / "runs"
        self.file = TokenFile(state / "studio")
        (state / "hosts.yaml").write_text(HOSTS)
        self._listener = listen("127.0.0.1", 0)
        port = self._listener.getsockname()[1]
        options = StudioOptions(
            state, "127.0.0.1", port, inventory=(str(state / "hosts.yaml"),), keep=3
        )
        self.parts = assemble(options._replace(**more), port, lambda _: None)
        self.address = f"http://127.0.0.1:{port}"
        self._over = False
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        serve(self.parts.app, self._listener, tls=None, is_over=lambda: self._over)

    def token(self, name: str, *groups: str, reads_only: bool = False) -> str:
        """A new token."""
        return self.file.add(name, groups, None, reads_only=reads_only)

    def close(self) -> None:
        """End it."""
        self._over = True
        self._thread.join()
        self.parts.inbox.close()
        self.parts.keeper.stop()
        self._listener.close()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state of the user who posts."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own"))
    monkeypatch.delenv("CCM_HISTORY_TOKEN", raising=False)
    return tmp_path / "own" / "ccm"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    """A studio that keeps three received runs."""
    (tmp_path / "studio").mkdir(mode=0o700)
    made = Studio(tmp_path / "studio")
    yield made
    made.close()


def kept(*hosts: str, run_id: str = RUN, **members: Any) -> Path:
    """A run of this user that has ended."""
    run = Kept(*hosts, run_id=run_id)
    for host in hosts:
        run.event(host, "/etc/a", "changed")
        run.event(host, "/etc/b", "failed", error=["no"], **members)
    return run.end().path


def post(studio: Studio, source: Path, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy a run to the studio as ccm does."""
    monkeypatch.setenv("CCM_HISTORY_TOKEN", token)
    copy = copy_of(HistoryLocation(studio.address), source)
    copy.mark()
    try:
        copy.finish()
    finally:
        copy.close()
