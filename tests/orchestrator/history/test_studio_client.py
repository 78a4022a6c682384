"""A studio that is away, slow, moved or hostile, as a push and a reader meet it."""

from __future__ import annotations

import json
import shutil
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.store.stored_runs import saved_run, saved_runs
from orchestrator.history import studio_client
from orchestrator.history.background_copier import RunCopier
from orchestrator.history.factory import run_source_of
from orchestrator.history.location import HistoryError, HistoryLocation, HistoryUnreachableError
from orchestrator.history.run_copy import is_pending
from orchestrator.history.studio_client import StudioClient, token_of
from remote_runtime.errors import CcmError
from tests.orchestrator.report.runs import Kept
from tests.remote_runtime.archive import server as server_of_archives

TOKEN = "ccm_0123456789ab_" + "s3cret" * 7 + "x"
RUN = "20260921T133640Z-aaaaaa"

Reply = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """A server on loopback that answers as a test says."""

    def __init__(self, certificate: str = "") -> None:
        self.reply: Reply = lambda request: answer(request, 200, b"{}")
        self.seen: list[tuple[str, str | None]] = []
        self.bodies: list[bytes] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.bodies.append(self.rfile.read(int(self.headers.get("content-length", 0))))
                outer.seen.append((self.path, self.headers.get("authorization")))
                outer.reply(self)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        scheme = "https" if certificate else "http"
        self.address = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def answer(request: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    request.send_response(status)
    for name, text in {"Content-Length": str(len(body)), **headers}.items():
        request.send_header(name, text)
    request.end_headers()
    request.wfile.write(body)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("CCM_HISTORY_TOKEN", TOKEN)
    monkeypatch.setattr(studio_client, "REQUEST_TIMEOUT", 1.0)
    return tmp_path


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def kept() -> Path:
    run = Kept("web1", run_id=RUN)
    run.event("web1", "/etc/a", "changed")
    return run.end().path


def warning_of(address: str, patience: float = 5.0) -> str:
    copier = RunCopier(HistoryLocation(address), kept(), 200, patience=patience)
    copier.start()
    return copier.finish()


def test_a_studio_that_is_away() -> None:
    """The push ends with a warning, and ``ccm runs push`` can copy the run later."""
    warning = warning_of("http://127.0.0.1:1")
    assert "does not respond: Connection refused" in warning
    assert "ccm runs push" in warning
    assert is_pending(saved_run(RUN).path, "http://127.0.0.1:1")


def test_a_studio_that_never_answers(server: Server) -> None:
    """The push waits for the studio for a bounded time."""
    over = threading.Event()
    server.reply = lambda request: (over.wait(30), None)[1]
    begin = time.monotonic()
    assert "is slow" in warning_of(server.address, patience=0.2)
    assert time.monotonic() - begin < 20
    over.set()


def test_a_studio_whose_answer_never_ends(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader waits for a whole answer for a bounded time, although some of it always comes."""
    monkeypatch.setattr(studio_client, "ANSWER_TIMEOUT", 0.3)
    over = threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        """Send a header that does not end."""
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not over.wait(0.05):
            request.wfile.write(b"x")

    server.reply = drip
    threading.Timer(20, over.set).start()
    begin = time.monotonic()
    with pytest.raises(
        HistoryUnreachableError, match=r"does not respond: no response within 0\.3 s"
    ):
        StudioClient(HistoryLocation(server.address)).get("/runs")
    assert time.monotonic() - begin < 15
    over.set()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_is_not_followed(server: Server, status: int) -> None:
    """The token goes to the named server only."""
    other = Server()
    server.reply = lambda request: answer(request, status, b"", Location=f"{other.address}/x")
    with pytest.raises(HistoryError, match="does not follow"):
        StudioClient(HistoryLocation(server.address)).get("/runs")
    assert other.seen == []
    other.close()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 429, 500, 503, 507])
def test_no_message_has_the_token(server: Server, status: int) -> None:
    """Messages never contain the token, even if the studio sends it back."""
    server.reply = lambda request: answer(request, status, b"\x1b[2J" + TOKEN.encode())
    with pytest.raises(HistoryError) as caught:
        StudioClient(HistoryLocation(server.address)).post("/runs/x", b"")
    assert "s3cret" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert isinstance(caught.value, HistoryUnreachableError) is (status >= 500 or status == 429)
    assert server.seen[0][1] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"runs": 1}', b"[" * 99_999, b'{"runs": [1]}',
     b'{"runs": [{"id": "../x", "files": {}, "active": false}]}',
     b'{"runs": [{"id": "20260921T133640Z-aaaaaa", "files": {"run.json": -1}, "active": false}]}',
     b'{"runs": [{"id": "20260921T133640Z-aaaaaa", "files": [], "active": false}]}'],
)  # fmt: skip
def test_a_list_that_is_none(server: Server, body: bytes) -> None:
    """An error names a server that does not answer as a studio does."""
    server.reply = lambda request: answer(request, 200, body)
    with pytest.raises(CcmError):
        list(saved_runs(run_source_of(HistoryLocation(server.address))))


def test_a_hostile_studio_writes_no_other_file(server: Server, state: Path) -> None:
    """A reader stores only the files of a run, with at most their listed sizes."""
    files = {"run.json": 20, "events.jsonl": 5, "../../x": 5, "/etc/x": 5, "received.json": 5}
    told = {"runs": [{"id": RUN, "files": files, "active": True}]}

    def reply(request: BaseHTTPRequestHandler) -> None:
        whole = request.path.endswith("/runs")
        answer(request, 200, json.dumps(told).encode() if whole else b"[1, 2]" + b" " * 100)

    server.reply = reply
    assert list(saved_runs(run_source_of(HistoryLocation(server.address)))) == []
    stored = [path for path in state.rglob("*") if path.is_file()]
    assert sorted(path.name for path in stored) == ["events.jsonl", "run.json"]
    assert max(path.stat().st_size for path in stored) <= 20
    assert all(path.stat().st_mode & 0o077 == 0 for path in stored)


def test_an_answer_without_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is read up to a limit."""
    server.reply = lambda request: answer(request, 200, b" " * 100_000)
    with pytest.raises(HistoryError, match="too large"):
        StudioClient(HistoryLocation(server.address)).get("/runs", 1_000)


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate")
def test_the_certificate_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A studio with a certificate of an unknown authority, or for another name, gets no token."""
    (tmp_path / "tls").mkdir()
    authority, certificate = server_of_archives.authority(str(tmp_path / "tls"), "IP:127.0.0.1")
    server = Server(certificate)
    with pytest.raises(HistoryError, match="is not trusted"):
        StudioClient(HistoryLocation(server.address)).get("/runs")
    monkeypatch.setenv("SSL_CERT_FILE", authority)
    assert server.seen == []
    assert StudioClient(HistoryLocation(server.address)).get("/runs").document() == {}
    server.close()
    (tmp_path / "other").mkdir()
    authority, certificate = server_of_archives.authority(str(tmp_path / "other"))
    monkeypatch.setenv("SSL_CERT_FILE", authority)
    server = Server(certificate)
    with pytest.raises(HistoryError, match="is not trusted: IP address mismatch"):
        StudioClient(HistoryLocation(server.address)).get("/runs")
    assert server.seen == []
    server.close()


def test_a_command_that_prints_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets none of the passwords of ccm, and its output and its time are limited."""
    monkeypatch.delenv("CCM_HISTORY_TOKEN")
    monkeypatch.setenv("CCM_BECOME_PASSWORD", "s3cret")
    secretive = f'test -z "$CCM_BECOME_PASSWORD" && echo {TOKEN}'
    assert token_of(HistoryLocation("https://h", {"command": secretive})) == TOKEN
    with pytest.raises(HistoryError, match="printed more than 1 MiB"):
        token_of(HistoryLocation("https://h", {"command": "yes"}))
    monkeypatch.setattr(studio_client, "COMMAND_TIME", 0.2)
    with pytest.raises(HistoryError, match="did not finish"):
        token_of(HistoryLocation("https://h", {"command": "sleep 60 & sleep 60"}))


def test_where_the_token_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment overrides the file, which must be private, and the command."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN[:-1]}f\n")
    file.chmod(0o600)
    by_file = HistoryLocation("https://h", {"file": str(file)})
    assert token_of(by_file) == TOKEN
    monkeypatch.delenv("CCM_HISTORY_TOKEN")
    assert token_of(by_file) == f"{TOKEN[:-1]}f"
    by_command = HistoryLocation("https://h", {"command": f"echo {TOKEN[:-1]}c; echo x"})
    assert token_of(by_command) == f"{TOKEN[:-1]}c"
    file.chmod(0o640)
    for choice, words in (
        (by_file, "accessible to other users"),
        (HistoryLocation("https://h", {"file": str(tmp_path / "none")}), "cannot be read"),
        (HistoryLocation("https://h", {"file": str(tmp_path)}), "is not a regular file"),
        (HistoryLocation("https://h", {"command": f"echo {TOKEN}; exit 3"}), "exited with 3"),
        (HistoryLocation("https://h", {"command": "echo 'two words, which are no token'"}), "no"),
        (HistoryLocation("https://h"), "there is no token"),
    ):
        with pytest.raises(HistoryError, match=words) as caught:
            token_of(choice)
        assert "s3cret" not in str(caught.value)
