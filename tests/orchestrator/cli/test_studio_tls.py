"""``ccm studio`` with TLS and users, and a real client."""

from __future__ import annotations

import contextlib
import http.client
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from orchestrator.studio.web.users import UserFile
from tests.orchestrator.studio.history import three_runs
from tests.remote_runtime.archive import server as server_of_archives

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate")
PASSWORD = "correct horse battery"


class Secured(NamedTuple):
    """A studio with TLS: its port, and the file of the authority that signed its certificate."""

    port: int
    authority: str

    def context(self) -> ssl.SSLContext:
        """A client that trusts the authority."""
        return ssl.create_default_context(cafile=self.authority)

    def request(
        self, method: str, path: str, fields: dict[str, str] | None = None, **headers: str
    ) -> http.client.HTTPResponse:
        """The answer, without its body read."""
        found = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=60, context=self.context()
        )
        body = urlencode(fields) if fields is not None else None
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        found.request(method, path, body, headers)
        return found.getresponse()


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Secured]:
    """A studio in a process of its own, with a certificate and a user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "ccm").mkdir(mode=0o700)
    three_runs()
    (tmp_path / "tls").mkdir()
    authority, pem = server_of_archives.authority(str(tmp_path / "tls"), "IP:127.0.0.1")
    UserFile(tmp_path / "users").add("alice", "look", PASSWORD)
    command = [sys.executable, "-m", "orchestrator.cli.app", "studio", "--listen", "127.0.0.1:0"]
    command += ["--auth", str(tmp_path / "users"), "--tls-cert", str(pem), "--tls-key", str(pem)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        try:
            assert it.stdout is not None
            line = it.stdout.readline()
            found = re.fullmatch(r"log in at: https://127\.0\.0\.1:(\d+)/login\n", line)
            assert found, it.communicate(timeout=60)
            yield Secured(int(found[1]), authority)
        finally:
            it.send_signal(signal.SIGINT)
            it.communicate(timeout=60)


def test_a_user_logs_in_over_tls(studio: Secured) -> None:
    """The cookie is for TLS alone, and the browser is told to use nothing else from then on."""
    answer = studio.request("POST", "/login", {"name": "alice", "password": PASSWORD})
    assert answer.status == 303
    cookie = str(answer.getheader("set-cookie"))
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"secure", "httponly", "samesite=strict"} <= parts
    page = studio.request("GET", "/", Cookie=cookie.partition(";")[0])
    assert page.status == 200
    assert "max-age=31536000" in str(page.getheader("strict-transport-security"))
    assert "No space left on device" in page.read().decode()
    refused = studio.request("POST", "/login", {"name": "alice", "password": "wrong"})
    assert (refused.status, refused.getheader("set-cookie")) == (403, None)


def test_plain_http_gets_nothing(studio: Secured) -> None:
    """A client without TLS gets no page, no cookie and no answer of HTTP."""
    with socket.create_connection(("127.0.0.1", studio.port), 60) as plain:
        plain.sendall(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        said = b""
        with contextlib.suppress(ConnectionResetError):
            while more := plain.recv(4096):
                said += more
    assert b"HTTP/" not in said
    assert b"<html" not in said


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_old_versions_of_tls_are_refused(studio: Secured, version: ssl.TLSVersion) -> None:
    """Only TLS 1.2 and newer."""
    old = studio.context()
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLS"):
        old.minimum_version = old.maximum_version = version
    plain = socket.create_connection(("127.0.0.1", studio.port), 60)
    with plain, pytest.raises((ssl.SSLError, ConnectionResetError)):
        old.wrap_socket(plain, server_hostname="127.0.0.1")
    assert studio.request("GET", "/login").status == 200


def test_a_certificate_of_a_stranger_is_noticed(studio: Secured) -> None:
    """A client that does not know the authority does not talk to the studio."""
    stranger = http.client.HTTPSConnection(
        "127.0.0.1", studio.port, timeout=60, context=ssl.create_default_context()
    )
    with pytest.raises(ssl.SSLCertVerificationError):
        stranger.request("GET", "/login")
