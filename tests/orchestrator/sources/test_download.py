"""Downloads from a server that may be anyone's."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from orchestrator.sources.address import Address, SourceError, parse_address
from orchestrator.sources.download import download
from tests.remote_runtime.archive import server
from tests.texts import expect_text

HOSTS = ("127.0.0.1",)
DIGEST = "#sha256=" + "0" * 64


def got(url: str, hosts: tuple[str, ...] = HOSTS, **more: Any) -> bytes:
    return download(parse_address(url), hosts, **{"maximum": 1 << 20, **more})


def why(url: str, hosts: tuple[str, ...] = HOSTS, **more: Any) -> str:
    with pytest.raises(SourceError) as caught:
        got(url, hosts, **more)
    return f"{caught.value} | {caught.value.hint}"


def test_a_file_of_a_named_host(web: server.Web) -> None:
    """All its bytes, also in chunks; other hosts need a digest."""
    web.answers["/a"] = server.content(b"port: 80\n")
    web.answers["/b"] = server.chunked(b"x" * 5000)
    assert got(web.url("/a")) == b"port: 80\n"
    assert got(web.url("/b")) == b"x" * 5000
    assert got(web.url("/a") + DIGEST, ()) == b"port: 80\n"
    assert "source_hosts does not list 127.0.0.1" in why(web.url("/a"), ("example.net",))


def test_plain_http_needs_a_digest() -> None:
    """A named host is not enough without TLS."""
    web = server.Web()
    web.answers["/a"] = server.content(b"x")
    try:
        assert "plain http requires a digest" in why(web.url("/a"))
        assert web.requests == []
        assert got(web.url("/a") + DIGEST) == b"x"
    finally:
        web.close()


def test_a_certificate_that_nobody_vouches_for(
    web: server.Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused, with or without a digest."""
    web.answers["/a"] = server.content(b"x")
    monkeypatch.delenv("SSL_CERT_FILE")
    for url in (web.url("/a"), web.url("/a") + DIGEST):
        assert "TLS certificate not trusted" in why(url)
    assert web.requests == []


def test_redirects_lead_to_trusted_addresses_only(web: server.Web) -> None:
    """Never to plain http, never to another scheme, and to other hosts with a digest only."""
    web.answers["/a"] = server.content(b"x")
    web.answers["/relative"] = server.redirect("/a")
    web.answers["/http"] = server.redirect("http://127.0.0.1/a")
    web.answers["/file"] = server.redirect("file:///etc/passwd")
    web.answers["/kv"] = server.redirect("kv://CCM/data")
    web.answers["/login"] = server.redirect("https://u:p@127.0.0.1/a")
    web.answers["/other"] = server.redirect(web.url("/a", host="localhost"))
    web.answers["/round"] = server.redirect("/round")
    web.answers["/nowhere"] = server.redirect("")
    assert got(web.url("/relative")) == b"x"
    for path in ("/http", "/file", "/kv", "/login"):
        assert "redirects to an address that is refused" in why(web.url(path) + DIGEST)
    assert "source_hosts does not list localhost" in why(web.url("/other"))
    assert "redirects more than 5 times" in why(web.url("/round"))
    assert "redirects more than 5 times" in why(web.url("/nowhere"))


def test_a_redirect_of_a_download_with_a_digest(web: server.Web, tmp_path: Path) -> None:
    """It leads anywhere, with the login that ~/.netrc has for that place."""
    netrc = tmp_path / "home" / ".netrc"
    netrc.write_text("machine localhost login ccm password s3cret\n")
    netrc.chmod(0o600)
    web.answers["/a"] = server.guarded(b"x", "ccm", "s3cret")
    web.answers["/other"] = server.redirect(web.url("/a", host="localhost"))
    assert got(web.url("/other") + DIGEST, ()) == b"x"
    first, second = (headers for _, headers in web.requests)
    assert "authorization" not in first
    assert second["host"].startswith("localhost:")
    plain, inner = server.Web(), server.Web(address="127.0.0.2")
    plain.answers["/a"] = server.redirect(inner.url("/b"))
    inner.answers["/b"] = server.content(b"y")
    try:
        assert got(plain.url("/a") + DIGEST, ()) == b"y"
    finally:
        plain.close()
        inner.close()


def test_a_redirect_takes_no_login_along(web: server.Web, tmp_path: Path) -> None:
    """The login of ~/.netrc is for its host alone, and never sent without TLS."""
    netrc = tmp_path / "home" / ".netrc"
    netrc.write_text("machine 127.0.0.1 login ccm password s3cret\n")
    netrc.chmod(0o600)
    other = server.Web(address="127.0.0.2")
    other.answers["/a"] = server.content(b"plain")
    web.answers["/a"] = server.guarded(b"x", "ccm", "s3cret")
    web.answers["/b"] = server.guarded(b"x", "ccm", "wrong")
    try:
        assert got(web.url("/a")) == b"x"
        told = why(web.url("/b"))
        assert "responded with 401" in told
        assert "~/.netrc" in told
        assert "s3cret" not in told
        got(other.url("/a") + DIGEST)
        assert "authorization" not in other.requests[0][1]
        netrc.write_text("machine 127.0.0.1 login ccm pass")
        expect_text(why(web.url("/a")))
    finally:
        other.close()


def test_bounds_of_size_and_time(web: server.Web) -> None:
    """Too much, too slow, cut short and silent servers end with what was wrong."""
    web.answers["/large"] = server.chunked(b"x" * 3000)
    web.answers["/short"] = server.content(b"x" * 100, declared=200)
    web.answers["/silent"] = server.hanging(b"x", 5)
    web.answers["/drip"] = dripping
    assert "is larger than" in why(web.url("/large"), maximum=2999)
    assert len(got(web.url("/large"), maximum=3000)) == 3000
    assert "was truncated" in why(web.url("/short"))
    assert "was not read within 0.3 s" in why(web.url("/silent"), seconds=0.3)
    assert "was not read within 0.3 s" in why(web.url("/drip"), seconds=0.3)


def dripping(handler: Any) -> None:
    """Header lines, one at a time, for ever."""
    for number in range(100):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n" if not number else b"X-%d: x\r\n" % number)
        handler.wfile.flush()
        time.sleep(0.05)


def test_what_is_no_answer(web: server.Web, tmp_path: Path) -> None:
    """Errors of the server, of the network and of no HTTP at all are one sentence each."""
    web.answers["/garbage"] = server.garbage
    web.answers["/gone"] = server.status(410)
    assert "responded with 404 Not Found" in why(web.url("/missing"))
    assert "responded with 410 Gone" in why(web.url("/gone"))
    assert "cannot be read: " in why(web.url("/garbage"))
    web.close()
    assert "cannot be read: Connection refused" in why(web.url("/a"))


def test_a_name_that_does_not_resolve_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver that hangs is waited for no longer than for anything else."""
    end = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: end.wait(20))
    address = Address("https", "h", "/x", "https://h/x", "0" * 64)
    with pytest.raises(SourceError) as refused:
        download(address, (), maximum=1, seconds=0.2)
    expect_text(refused.value)
    end.set()
