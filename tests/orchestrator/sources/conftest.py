"""A web server with TLS whose authority is trusted."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.remote_runtime.archive import server


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[server.Web]:
    """Serves https://127.0.0.1; state and home are the test's own."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    (tmp_path / "tls").mkdir()
    (tmp_path / "home").mkdir()
    ca, certificate = server.authority(str(tmp_path / "tls"), "IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", ca)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = server.Web(certificate)
    yield made
    made.close()
