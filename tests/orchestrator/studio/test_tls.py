"""The studio over TLS, as its clients connect."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.studio.web import server
from orchestrator.studio.web.server import listen, serve


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """The files of a certificate and its key."""
    names = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=localhost", "-out", names[0], "-keyout", names[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return names


@contextlib.contextmanager
def serving(certificate: tuple[str, str]) -> Iterator[int]:
    """A server that greets everybody; its port."""
    listener = listen("127.0.0.1", 0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """Answer anything."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"fine"})

    stop = threading.Event()
    settings: dict[str, Any] = {"tls": certificate, "is_over": stop.is_set}
    port = listener.getsockname()[1]
    thread = threading.Thread(target=serve, args=(app, listener), kwargs=settings)
    thread.start()
    try:
        yield port
    finally:
        stop.set()
        thread.join(30)


def greeted(port: int) -> bytes:
    """The response to a request."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port), 10)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return b"".join(iter(lambda: client.recv(1000), b""))


def test_handshakes_that_do_not_end_have_a_bound(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections that begin no TLS make room for others, the oldest first; others are served."""
    monkeypatch.setattr(server, "MAX_HANDSHAKES", 10)
    with serving(certificate) as port, contextlib.ExitStack() as held:
        address = ("127.0.0.1", port)
        silent = [held.enter_context(socket.create_connection(address, 10)) for _ in range(30)]
        for _ in range(12):  # these finish theirs, and count no longer
            assert b"fine" in greeted(port)
        for one in silent[:20]:
            assert one.recv(10) == b""
        silent[-1].settimeout(0.2)
        with pytest.raises(TimeoutError):
            silent[-1].recv(10)


def test_a_handshake_has_its_time(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that begins no TLS is closed after a while, although nobody else connects."""
    monkeypatch.setattr(server, "HANDSHAKE_TIME", 0.3)
    with serving(certificate) as port, socket.create_connection(("127.0.0.1", port), 10) as one:
        assert one.recv(10) == b""
