"""Against a real NATS server on loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.registration.entry import Query, Registration
from orchestrator.registration.errors import RegistrationError
from orchestrator.registration.nats_url import parse_url
from orchestrator.registration.store import open_store
from remote_runtime.errors import UsageError

SERVER = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
WEB = {"cluster": "prod", "service": "web", "protocol": "http", "address": "10.0.0.1", "port": 80}


@contextmanager
def running(directory: Path, *options: str) -> Iterator[str]:
    """A server with JetStream that wants a password; its address."""
    pytest.importorskip("nats", reason="the extra ccm-push[nats] is not installed")
    if SERVER is None:
        pytest.skip("nats-server is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [SERVER, "-js", "-sd", str(directory), "-a", "127.0.0.1", "-p", str(port), *options]
    with (directory / "log").open("w") as log:
        process = subprocess.Popen([*argv, "--user", "ccm", "--pass", "s3cret"], stderr=log)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server without TLS."""
    with running(tmp_path_factory.mktemp("nats")) as address:
        yield address


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> str:
    """The URL of a stream of the test's own; all of them want the same subjects."""
    from orchestrator.registration.nats_stream import NatsStream

    place = parse_url(f"nats://ccm:s3cret@{server}/REGISTRATION")
    NatsStream(place).initialize(1, 300)
    NatsStream(place).remove(NatsStream(place).lookup(Query()))
    return f"nats://ccm:s3cret@{server}"


def test_publish_and_read_back(url: str) -> None:
    """The stream keeps the newest entry of each endpoint, and gives those that match, in order."""
    store = open_store(url)
    first = Registration.of({**WEB, "ttl": "10m", "annotations": {"zone": "a"}})
    store.publish([first._replace(port=81), first])
    store.publish([first._replace(priority=5)])
    expected = [first._replace(priority=5), first._replace(port=81)]
    assert store.lookup(Query()) == expected
    assert store.lookup(Query("prod", "http", "web", "10.0.0.1")) == expected
    assert store.lookup(Query("prod", "*", "*", "10.0.0.2")) == []
    store.remove([first])
    assert [e.port for e in store.lookup(Query())] == [81]


def test_many(url: str) -> None:
    """More entries than a batch holds come back whole."""
    store = open_store(url)
    store.publish([Registration.of({**WEB, "port": port}) for port in range(1, 701)])
    assert [e.port for e in store.lookup(Query("prod"))] == list(range(1, 701))


def test_an_entry_whose_time_is_up(url: str) -> None:
    """The time in the entry counts on servers that expire nothing themselves."""
    open_store(url).publish([Registration.of({**WEB, "ttl": "10m"}, now=time.time() - 601)])
    assert open_store(url).lookup(Query()) == []


LATE = json.dumps({**Registration.of(WEB).payload(), "ttl": "soon"}).encode()


def test_foreign_messages(url: str) -> None:
    """A message that is no registration is left out."""
    import asyncio

    import nats

    async def disturb() -> None:
        client = await nats.connect(url)
        prefix = "choria.ccm.registration.v1.a.b.c.d."
        for number, data in enumerate((b"not json", b"[" * 100_000, LATE)):
            await client.jetstream().publish(f"{prefix}{number}", data)
        await client.close()

    asyncio.run(disturb())
    assert open_store(url).lookup(Query()) == []


def test_an_entry_of_another_subject(url: str) -> None:
    """Who may publish for one cluster registers nothing for another, nor has that removed."""
    import asyncio

    import nats

    store = open_store(url)
    mine, forged = Registration.of(WEB), Registration.of({**WEB, "address": "10.6.6.6"})
    store.publish([mine])

    async def forge() -> None:
        client = await nats.connect(url)
        data = json.dumps(forged.payload()).encode()
        await client.jetstream().publish(forged.subject.replace(".prod.", ".dev."), data)
        await client.close()

    asyncio.run(forge())
    assert store.lookup(Query()) == [mine]


def test_registrations_without_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of more than the controller holds is refused."""
    from orchestrator.registration import nats_stream

    store = open_store(url)
    store.publish([Registration.of({**WEB, "port": port}) for port in range(1, 9)])
    monkeypatch.setattr(nats_stream, "MAX_BYTES", 1000)
    with pytest.raises(RegistrationError, match="are larger than"):
        store.lookup(Query())


def test_no_stream(url: str) -> None:
    """A stream that is not there is told with the command that creates it."""
    for use in ("publish", "lookup"):
        store = open_store(url + "/ELSEWHERE")
        with pytest.raises(RegistrationError) as caught:
            store.publish([Registration.of(WEB)]) if use == "publish" else store.lookup(Query())
        assert "ELSEWHERE" in str(caught.value)


@pytest.mark.parametrize("login", ["ccm:wrong@", ""])
def test_refused(server: str, login: str) -> None:
    """A server that refuses the login is named without the password."""
    with pytest.raises(RegistrationError, match="Authorization") as caught:
        open_store(f"nats://{login}{server}").lookup(Query())
    assert "wrong" not in str(caught.value)
    assert server in str(caught.value)


def test_tls(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Over TLS the server's certificate is checked; nothing else is to be seen of it."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
            certificate, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    with running(tmp_path, "--tls", "--tlscert", certificate, "--tlskey", key) as address:
        from orchestrator.registration.nats_stream import NatsStream

        place = parse_url(f"tls://ccm:s3cret@{address}?ca={certificate}")
        NatsStream(place).initialize(1, 0)
        NatsStream(place).publish([Registration.of(WEB)])
        assert len(NatsStream(place).lookup(Query())) == 1
        with pytest.raises(RegistrationError, match="CERTIFICATE_VERIFY_FAILED"):
            open_store(f"tls://ccm:s3cret@{address}").lookup(Query())
    assert capfd.readouterr() == ("", "")


def test_no_login_in_the_clear(server: str) -> None:
    """A server that does not offer TLS gets no password from a tls:// URL."""
    with pytest.raises(RegistrationError, match="does not offer TLS"):
        open_store(f"tls://ccm:s3cret@{server}").lookup(Query())


def test_unreachable() -> None:
    """A server that is not there is told."""
    pytest.importorskip("nats", reason="the extra ccm-push[nats] is not installed")
    with pytest.raises(
        RegistrationError, match=r"127\.0\.0\.1:1/REGISTRATION cannot be used: Connection refused"
    ):
        open_store("nats://127.0.0.1:1").publish([Registration.of(WEB)])


@contextmanager
def answering(greeting: object, answer: object) -> Iterator[str]:
    """A server that greets with this, and answers each request with that."""
    pytest.importorskip("nats", reason="the extra ccm-push[nats] is not installed")
    body = json.dumps(answer).encode() if not isinstance(answer, bytes) else answer

    def serve() -> None:
        client, _ = listener.accept()
        with client, client.makefile("rwb", buffering=0) as lines:
            lines.write(b"INFO %s\r\n" % json.dumps(greeting).encode())
            for line in lines:
                words = line.split()
                if words[:1] == [b"PING"]:
                    lines.write(b"PONG\r\n")
                elif words[:1] == [b"PUB"]:
                    lines.write(b"MSG %s 1 %d\r\n%s\r\n" % (words[2], len(body), body))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"nats://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)


GREETING = {"server_id": "x", "version": "2.11.0", "headers": True, "max_payload": 1 << 20}


@pytest.mark.parametrize(
    ("greeting", "answer"),
    [
        (None, {}),
        ([1, 2], {}),
        ({**GREETING, "max_payload": "x"}, {}),
        (GREETING, {}),
        (GREETING, None),
        (GREETING, [1]),
        (GREETING, {"error": 5}),
        (GREETING, {"error": {}}),
        (GREETING, {"num_pending": "a", "name": 5, "config": 7}),
        (GREETING, b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
    ],
)
def test_answers_of_another_form(greeting: object, answer: object) -> None:
    """Whatever a server sends is an error of the registry, not of ccm."""
    with answering(greeting, answer) as url, pytest.raises(RegistrationError) as caught:
        open_store(url).lookup(Query())
    assert caught.value.kind == "registration"
    assert url in caught.value.message


def test_no_such_file(server: str) -> None:
    """A missing file of the URL is named, without the number of an error."""
    wanted = r": /nonexistent\.pem: No such file or directory"
    with pytest.raises(RegistrationError, match=wanted) as caught:
        open_store(f"tls://{server}?ca=/nonexistent.pem").lookup(Query())
    assert "Errno" not in str(caught.value)


def test_credentials_without_nkeys(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of credentials needs a package that the extra does not install; the error names it."""
    monkeypatch.setitem(sys.modules, "nkeys", None)
    with pytest.raises(RegistrationError, match="creds requires the Python package nkeys"):
        open_store(f"nats://{server}?creds=/nonexistent.creds").lookup(Query())


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the client is not installed, the message says how to install it."""
    import sys

    for name in ["nats", *(name for name in sys.modules if name.startswith("nats."))]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "orchestrator.registration.nats_stream", raising=False)
    with pytest.raises(UsageError) as caught:
        open_store("nats://u:s3cret@host/S")
    assert "ccm-push[nats]" in caught.value.hint
    assert "s3cret" not in str(caught.value)


def test_url() -> None:
    """A URL names servers, a stream, a login and files; what is shown of it is no secret."""
    place = parse_url("tls://me:p%40ss@a:4222,b/STREAM?creds=/x.creds&ca=/ca.pem")
    assert place.servers == ("tls://a:4222", "tls://b")
    assert (place.stream, place.user, place.password) == ("STREAM", "me", "p@ss")
    assert (place.creds, place.ca) == ("/x.creds", "/ca.pem")
    assert place.shown == "tls://a:4222,b/STREAM"
    assert parse_url("nats://token@a").token == "token"
    assert parse_url("nats://a").stream == "REGISTRATION"
    assert parse_url("nats://[::1]:4222,b").servers == ("nats://[::1]:4222", "nats://b")
    for leaks in ("nats://me:s3cr/et@a", "nats://me:s3cr?et@a", "nats://me:11?s3cr@a"):
        with pytest.raises(UsageError) as caught:
            parse_url(leaks)
        assert "s3cr" not in str(caught.value)
    for bad in ("nats://", "nats://a/b.c", "nats://a,/S", "nats://a/S?x=1"):
        with pytest.raises(UsageError):
            parse_url(bad)
