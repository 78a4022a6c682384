"""Links over a real sshd."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import paramiko
import pytest

from orchestrator.transport import Connector, Credentials, Link, proxy_command, ssh_connect
from orchestrator.transport.connection_settings import Settings
from orchestrator.transport.route import Router
from orchestrator.transport.ssh_connect import new_connection
from orchestrator.transport.tcp_connect import dial_route
from remote_runtime.errors import UnreachableError
from tests.lab.proxy import DelayProxy
from tests.orchestrator.transport.conftest import Connect, StartSshd
from tests.orchestrator.transport.fakes import Host, Phases
from tests.orchestrator.transport.sshd import Sshd, make_key, public
from tests.texts import expect_text


def echoes(link: Link) -> bool:
    """Whether the runtime at the other end answers."""
    link.send(b"over and out")
    received = b""
    while not received.endswith(b"over and out"):
        data = link.receive(10)
        if not data:
            return False
        received += data
    link.close()
    return True


def opened(connector: Connector, host: Host) -> bool:
    return echoes(connector.open(host, Phases()))


def failure(connector: Connector, host: Host) -> UnreachableError:
    with pytest.raises(UnreachableError) as caught:
        connector.open(host, Phases())
    return caught.value


def test_a_key_file_opens_a_link(sshd: Sshd, connect: Connect) -> None:
    """The phases come in order and the link carries bytes both ways."""
    phases = Phases()
    link = connect().open(sshd.host(), phases)
    assert phases == ["connecting", "authenticating", "starting"]
    assert echoes(link)


def test_a_connector_begins_anew(sshd: Sshd, connect: Connect) -> None:
    """What a copy of the process opens shares nothing with what was open before, which goes on."""
    connector = connect()
    before = connector.open(sshd.host(), Phases())
    connector.begin_anew()
    assert opened(connector, sshd.host())
    connector.close()
    assert echoes(before)


def test_many_threads_make_connections_side_by_side() -> None:
    """Nothing that one host's connection holds is written while another's is made."""
    route = Router(Settings()).route(Host())
    faults: list[BaseException] = []

    def make() -> None:
        try:
            for _ in range(15):
                assert new_connection(route, timeout=1).host == route.address
        except Exception as error:  # the test asserts that there is none
            faults.append(error)

    threads = [threading.Thread(target=make) for _ in range(12)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert faults == []


def test_a_large_message_passes_in_both_directions(sshd: Sshd, connect: Connect) -> None:
    """Several windows of data are carried whole while both sides write."""
    link = connect().open(sshd.host(), Phases())
    while not link.receive(10).endswith(b"\n"):
        pass
    data = bytes(range(256)) * 16 * 1024
    sender = threading.Thread(target=link.send, args=(data,))
    sender.start()
    received = bytearray()
    while len(received) < len(data):
        received += link.receive(10)
    sender.join(10)
    assert received == data
    link.close()


@pytest.mark.parametrize("by", ["its thread", "another thread"])
def test_keys_are_exchanged_anew_in_the_middle(
    connect: Connect, start_sshd: StartSshd, by: str
) -> None:
    """A server may ask for it at any time, while both sides write."""
    link = connect().open(start_sshd("RekeyLimit 64K").host(), Phases())
    while not link.receive(10).endswith(b"\n"):
        pass
    data = bytes(range(256)) * 4 * 1024
    received = bytearray()
    for _ in range(3):
        if by == "its thread":
            link.send(data)
        else:
            sender = threading.Thread(target=link.send, args=(data,))
            sender.start()
            sender.join(30)
            assert not sender.is_alive()
        while len(received) % len(data) or not received:
            received += link.receive(30)
        assert received == data
        received.clear()
    link.close()


def test_no_thread_is_left_of_hosts_that_ended(sshd: Sshd, connect: Connect) -> None:
    """Each connection has one thread that reads; a run over thousands of hosts keeps none."""
    connector = connect()
    before = len(readers())
    links = [connector.open(sshd.host(), Phases()) for _ in range(4)]
    assert len(readers()) - before == 4
    for link in links:
        link.close()
    until = time.monotonic() + 30
    while len(readers()) > before:
        assert time.monotonic() < until
        time.sleep(0.01)


def readers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if isinstance(one, paramiko.Transport)]


def test_a_close_ends_a_send_that_is_stuck(sshd: Sshd, connect: Connect) -> None:
    """A host that takes no bytes cannot hold a thread for ever."""
    connector = connect()
    links: queue.Queue[Link] = queue.Queue()
    ended: list[str] = []

    def send() -> None:
        link = connector.open(sshd.host(), Phases())
        links.put(link)
        try:
            link.send(b"x" * (64 << 20))
        except UnreachableError as error:
            ended.append(error.kind)

    thread = threading.Thread(target=send)
    thread.start()
    link = links.get(timeout=30)
    time.sleep(0.5)
    assert thread.is_alive()
    link.close()
    thread.join(5)
    assert ended == ["transport.lost"]


def test_a_lost_connection_is_the_end_of_the_link(sshd: Sshd, connect: Connect) -> None:
    """When the network cuts the line the reader sees the end, not an exception of a library."""
    with DelayProxy("127.0.0.1", sshd.port) as proxy:
        known = Path(sshd.known_hosts)
        lines = known.read_text().replace(sshd.name, f"[127.0.0.1]:{proxy.port}")
        (known.parent / "via_proxy").write_text(lines)
        host = sshd.host(port=proxy.port, known_hosts=str(known.parent / "via_proxy"))
        link = connect().open(host, Phases())
        while not link.receive(10).endswith(b"\n"):
            pass
        proxy.stop()
        assert link.receive(10) == b""
        with pytest.raises(UnreachableError):
            link.send(b"x")
        link.close()


def test_a_host_that_hangs_up_has_shown_its_key(sshd: Sshd, connect: Connect) -> None:
    """What is known of a host is told of one that is lost in the next moment, too."""
    login = connect().login(sshd.host(), lambda phase: None)
    connection = login._connection
    assert connection is not None
    known = connection.host_key
    connection.session.close()
    assert connection.host_key == known
    login.close()


def test_an_unknown_host_key_is_refused(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """The fingerprint and the command that trusts it are in the message."""
    connector = connect({"inventory": ("my hosts.yaml", "more.yaml")})
    error = failure(connector, sshd.host(known_hosts=str(tmp_path / "none")))
    assert error.kind == "transport.host_key.unknown"
    listed = subprocess.run(
        ["ssh-keygen", "-l", "-f", f"{sshd.host_keys[0]}.pub"], capture_output=True, check=True
    )
    assert listed.stdout.decode().split()[1] in error.message
    expect_text(error.advice)
    assert "authenticating" not in error.message


def test_a_changed_host_key_is_refused(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """File and line of the old key and the way out are in the message."""
    other = make_key(tmp_path / "other")
    known = tmp_path / "known"
    known.write_text(f"# a comment\n{sshd.name} {public(other)}\n")
    error = failure(connect(), sshd.host(known_hosts=str(known)))
    assert error.kind == "transport.host_key.changed"
    assert f"{known}:2" in error.message
    assert "ccm hosts trust -i hosts.yaml --replace" in error.advice


def test_a_refused_host_key_is_never_asked_to_log_in(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """Nothing secret is sent to a host that is not the right one."""
    phases = Phases()
    with pytest.raises(UnreachableError):
        connect().open(sshd.host(known_hosts=str(tmp_path / "none")), phases)
    assert phases == ["connecting"]


def test_a_revoked_host_key_is_refused(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """@revoked beats a line that trusts the same key."""
    key = public(sshd.host_keys[0])
    known = tmp_path / "known"
    known.write_text(f"{sshd.name} {key}\n@revoked * {key}\n")
    assert failure(connect(), sshd.host(known_hosts=str(known))).kind == (
        "transport.host_key.revoked"
    )


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_the_kind_of_key_that_is_known_is_asked_for(
    sshd: Sshd, connect: Connect, tmp_path: Path, kind: int
) -> None:
    """A server with several keys shows the one that known_hosts has: ed25519, ecdsa, rsa."""
    known = tmp_path / "known"
    known.write_text(f"{sshd.name} {public(sshd.host_keys[kind])}\n")
    assert opened(connect(), sshd.host(known_hosts=str(known)))


def test_hashed_names_are_recognised(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """What ssh-keygen -H writes is read."""
    known = tmp_path / "known"
    known.write_text(sshd.known_hosts.read_text())
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(known)], check=True, capture_output=True)
    assert "127.0.0.1" not in known.read_text()
    assert opened(connect(), sshd.host(known_hosts=str(known)))


def test_a_key_that_is_not_accepted_says_what_was_tried(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """The user, the key and what the server accepts stand in one sentence; it is not retried."""
    wrong = make_key(tmp_path / "wrong")
    error = failure(connect(), sshd.host(key_file=str(wrong)))
    assert error.kind == "transport.auth"
    assert f"key {wrong}" in error.message
    assert "the server accepts publickey" in error.message


def test_a_second_key_is_tried_after_a_refusal(
    sshd: Sshd, connect: Connect, ssh_config: Path, tmp_path: Path
) -> None:
    """The session is opened with the key that is accepted, wherever it stands in the list."""
    wrong, other = make_key(tmp_path / "wrong"), make_key(tmp_path / "other")
    ssh_config.write_text(f"IdentityFile {sshd.user_key}\nIdentityFile {other}\n")
    assert opened(connect(), sshd.host(key_file=str(wrong)))


def test_a_server_that_wants_more_than_a_key_is_told(
    connect: Connect, start_sshd: StartSshd
) -> None:
    """A key that is accepted but not enough is a failed login, told at once."""
    server = start_sshd("AuthenticationMethods publickey,publickey")
    error = failure(connect(), server.host())
    assert error.kind == "transport.auth"


def test_a_key_file_that_is_no_key_is_named(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """The file and the reason are told."""
    bad = tmp_path / "bad"
    bad.write_text("not a key")
    error = failure(connect(), sshd.host(key_file=str(bad)))
    assert error.kind == "transport.auth"
    assert f"{bad} cannot be read as a key" in error.message


def test_a_file_that_is_another_kind_of_key_is_explained(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """A public key and one of PuTTY's have words of their own, none of a library's."""
    for text, words in (("ssh-ed25519 AAAA me", "a public key"), ("PuTTY-User-Key", "puttygen")):
        key = tmp_path / "key"
        key.write_text(text)
        error = failure(connect(), sshd.host(key_file=str(key)))
        assert words in error.message
        assert "https:" not in error.message


def test_a_key_that_others_can_read_is_not_used(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """As with ssh, such a key is left out, and the error says how to mend it."""
    key = Path(shutil.copy(sshd.user_key, tmp_path / "open"))
    key.chmod(0o640)
    error = failure(connect(), sshd.host(key_file=str(key)))
    assert f"{key} is readable by others (mode 0640)" in error.message
    assert f"chmod 600 {key}" in error.message
    key.chmod(0o600)
    assert opened(connect(), sshd.host(key_file=str(key)))


def test_a_known_hosts_file_that_is_not_there_is_told(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """Where the file is missing, that is said beside the unknown key."""
    error = failure(connect(), sshd.host(known_hosts=str(tmp_path / "none")))
    assert f"{tmp_path / 'none'} does not exist" in error.message


@pytest.mark.parametrize("reset", [False, True])
def test_a_port_that_hangs_up_is_told(connect: Connect, reset: bool) -> None:
    """Something that ends or resets the connection without a word makes one ask for the port."""

    def serve(server: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the test is over
            while True:
                client = server.accept()[0]
                if reset:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    client.shutdown(socket.SHUT_WR)
                    client.recv(100)  # what is not read makes a reset of the end
                client.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        port = server.getsockname()[1]
        error = failure(connect(), Host(port=port, connect_timeout=2.0))
    assert error.kind == "transport.connect"
    assert error.message.startswith(f"127.0.0.1 port {port}")  # at which step depends on the kernel
    assert f"is {port} the port of sshd" in error.hint
    assert "lower --forks" in error.hint


def test_a_key_and_an_agent_that_are_not_there_are_named(
    sshd: Sshd, connect: Connect, ssh_config: Path, tmp_path: Path
) -> None:
    """With nothing to try, the message says what was meant to be tried, and the hint what to do."""
    ssh_config.write_text(f"IdentityAgent {tmp_path}/agent\nIdentityFile {tmp_path}/none\n")
    error = failure(connect(), sshd.host(key_file=str(tmp_path / "lost")))
    assert error.kind == "transport.auth"
    assert error.message.endswith(
        "no key and no password available; "
        f"{tmp_path}/lost does not exist; {tmp_path}/none does not exist; "
        f"no agent is listening at {tmp_path}/agent"
    )
    assert "--ask-pass" in error.hint


def test_a_passphrase_is_asked_once_for_two_hosts(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """The key is opened once for the run."""
    key = make_key(tmp_path / "locked", passphrase="open sesame")
    with sshd.authorized.open("a") as stream:
        stream.write(public(key) + "\n")
    asked: list[str] = []

    def prompt(question: str) -> str:
        asked.append(question)
        return "open sesame"

    connector = connect(credentials=Credentials(prompt=prompt, environ={}))
    assert opened(connector, sshd.host(key_file=str(key)))
    assert opened(connector, sshd.host(key_file=str(key), name="web2"))
    assert len(asked) == 1
    assert str(key) in asked[0]


def test_a_locked_key_without_a_terminal_is_explained(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """The advice is to use the agent."""
    key = make_key(tmp_path / "locked", passphrase="open sesame")
    error = failure(connect(), sshd.host(key_file=str(key)))
    assert "the passphrase of" in error.message
    assert "ssh-add" in error.hint


@contextmanager
def agent(socket_path: Path, *keys: Path) -> Iterator[None]:
    process = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket_path)], stdout=subprocess.DEVNULL
    )
    try:
        environment = {"SSH_AUTH_SOCK": str(socket_path), "PATH": "/usr/bin:/bin"}
        # It has none yet, which is 1; 2 is one that does not listen, though its socket is there.
        while (
            subprocess.run(["ssh-add", "-l"], env=environment, capture_output=True).returncode == 2
        ):
            time.sleep(0.01)
        for key in keys:
            subprocess.run(
                ["ssh-add", "-q", str(key)],
                env=environment,
                check=True,
                stderr=subprocess.DEVNULL,
            )
        yield
    finally:
        process.terminate()
        process.wait(10)


def test_the_agent_signs_for_many_hosts_at_once(
    sshd: Sshd, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that only the agent has are used, by several threads together."""
    with agent(tmp_path / "a", sshd.user_key):
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "a"))
        connector = connect()
        results: list[bool] = []
        threads = [
            threading.Thread(
                target=lambda: results.append(opened(connector, sshd.host(key_file=None)))
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert results == [True] * 4


def test_a_locked_key_that_the_agent_holds_needs_no_passphrase(
    sshd: Sshd, connect: Connect, tmp_path: Path, ssh_config: Path
) -> None:
    """The public half in the file says which key of the agent it is; IdentityAgent is honoured."""
    plain = make_key(tmp_path / "key")
    with sshd.authorized.open("a") as stream:
        stream.write(public(plain) + "\n")
    with agent(tmp_path / "a", plain):
        locked = ["ssh-keygen", "-q", "-p", "-N", "open sesame", "-f", str(plain)]
        subprocess.run(locked, check=True, stdout=subprocess.DEVNULL)
        Path(f"{plain}.pub").unlink()
        ssh_config.write_text(f"IdentityAgent {tmp_path / 'a'}\nIdentitiesOnly yes\n")
        assert opened(connect(), sshd.host(key_file=str(plain)))


@contextmanager
def stopped(server: Sshd) -> Iterator[None]:
    """The connections that a server has stand still meanwhile."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, check=True, text=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    found = [server.pid]
    for pid in found:
        found += [one for one, parent in pairs if parent == pid]
    assert found[1:]
    for pid in found[1:]:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in found[1:]:
            os.kill(pid, signal.SIGCONT)


def test_a_jump_goes_through_another_host(
    sshd: Sshd, connect: Connect, start_sshd: StartSshd
) -> None:
    """The jump host of the inventory is logged in to once, and both host keys are checked."""
    gate = start_sshd()
    hosts = {"gate": gate.host(name="gate")}
    connector = connect({"hosts": hosts})
    for name in ("web1", "web2"):
        assert opened(connector, sshd.host(name=name, jump="gate"))
    assert gate.log().count("Accepted publickey") == 1


def test_a_chain_of_jumps_from_the_ssh_configuration(
    sshd: Sshd, connect: Connect, start_sshd: StartSshd, ssh_config: Path, tmp_path: Path
) -> None:
    """ProxyJump names hosts of the configuration, one after another."""
    first, second = start_sshd(), start_sshd()
    known = tmp_path / "known"
    known.write_text("".join(s.known_hosts.read_text() for s in (first, second, sshd)))
    ssh_config.write_text(
        f"UserKnownHostsFile {known}\n"
        f"Host one\n HostName 127.0.0.1\n Port {first.port}\n IdentityFile {first.user_key}\n"
        f"Host two\n HostName 127.0.0.1\n Port {second.port}\n IdentityFile {second.user_key}\n"
        f"Host three\n HostName 127.0.0.1\n Port {sshd.port}\n IdentityFile {sshd.user_key}\n"
        " ProxyJump one,two\n"
    )
    assert opened(connect(), Host(address="three"))
    assert "Accepted publickey" in first.log()
    assert "Accepted publickey" in second.log()


def test_a_jump_host_that_takes_nothing_more_holds_nobody_up(
    sshd: Sshd, connect: Connect, start_sshd: StartSshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who closes the connection to a host behind it does not wait, who sends not for long."""
    monkeypatch.setattr(ssh_connect, "SILENCE", 6.0)

    def dial_narrow(route: Any, deadline: float) -> socket.socket:
        sock = dial_route(route, deadline)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        return sock

    monkeypatch.setattr(ssh_connect, "dial_route", dial_narrow)
    gate = start_sshd()
    connector = connect({"hosts": {"gate": gate.host(name="gate")}})
    link = connector.open(sshd.host(jump="gate"), Phases())
    ended = threading.Event()

    def send() -> None:
        try:
            while True:
                link.send(bytes(1 << 20))
        except UnreachableError:
            ended.set()

    with stopped(gate):
        threading.Thread(target=send, daemon=True).start()
        assert not ended.wait(4.0)  # the buffers on the way are full
        began = time.monotonic()
        link.close()
        assert time.monotonic() - began < 1.0
        assert ended.wait(20)


def test_a_jump_host_that_cannot_reach_the_host_is_told(
    connect: Connect, start_sshd: StartSshd
) -> None:
    """The message names the jump host and the address that it cannot reach."""
    gate = start_sshd()
    connector = connect({"hosts": {"gate": gate.host(name="gate")}})
    error = failure(connector, Host(port=1, jump="gate"))
    assert error.kind == "transport.connect"
    expect_text(error.message)


def test_a_jump_host_with_an_unknown_key_is_refused(
    sshd: Sshd, connect: Connect, start_sshd: StartSshd, tmp_path: Path
) -> None:
    """Strictness holds for every hop."""
    gate = start_sshd()
    gate.known_hosts.unlink()
    connector = connect({"hosts": {"gate": gate.host(name="gate")}})
    error = failure(connector, sshd.host(jump="gate"))
    assert error.kind == "transport.host_key.unknown"
    assert "of gate is unknown" in error.message


RELAY = """
import os, socket, sys, threading
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def up():
    while True:
        data = os.read(0, 65536)
        if not data: break
        s.sendall(data)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while True:
    data = s.recv(65536)
    if not data: break
    os.write(1, data)
"""


def test_a_proxy_command_carries_the_connection(
    sshd: Sshd, connect: Connect, ssh_config: Path, tmp_path: Path
) -> None:
    """Its tokens are replaced, and the host key is still that of the host."""
    relay = tmp_path / "relay.py"
    relay.write_text(RELAY)
    ssh_config.write_text(f"ProxyCommand python3 {relay} %h %p\n")
    assert opened(connect(), sshd.host())


def test_a_proxy_command_that_fails_is_named(
    sshd: Sshd, connect: Connect, ssh_config: Path
) -> None:
    """What it said is told, the command is in the hint, and the wait is bounded."""
    ssh_config.write_text("ProxyCommand ls /no-such-%h\n")
    for _ in range(5):  # the command's end and our look at it have no order
        error = failure(connect(), sshd.host(connect_timeout=3.0))
        assert error.kind == "transport.proxy"
        expect_text(error.message)
        assert "ls /no-such-127.0.0.1" in error.hint


def test_a_proxy_command_that_does_not_want_to_end_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proxy_command, "END_TIMEOUT", 0.1)
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    see_off = proxy_command._see_off

    def seen_off(process: subprocess.Popen[bytes]) -> None:
        see_off(process)
        ended.put(process.returncode)

    monkeypatch.setattr(proxy_command, "_see_off", seen_off)
    proxied = proxy_command.ProxySocket("sh -c 'trap \"\" TERM; echo; while :; do sleep 0.1; done'")
    proxied.recv(1)
    proxied.close()
    assert ended.get(timeout=20) == -signal.SIGKILL


def through(sshd: Sshd, proxy: DelayProxy, **changes: object) -> Host:
    """The server as seen through a proxy; its key is known by its own name."""
    known = sshd.directory / f"known_{proxy.port}"
    known.write_text(sshd.known_hosts.read_text().replace(str(sshd.port), str(proxy.port)))
    return sshd.host(port=proxy.port, known_hosts=str(known), **changes)


def test_a_reset_before_the_login_is_tried_again(sshd: Sshd, connect: Connect) -> None:
    """sshd sheds load this way (MaxStartups); the third connection is served."""
    with DelayProxy("127.0.0.1", sshd.port, reset_first=2) as proxy:
        assert opened(connect(), through(sshd, proxy))
        assert proxy.connections == 3


def test_resets_without_end_are_given_up_in_time(sshd: Sshd, connect: Connect) -> None:
    """The connect timeout bounds all attempts together."""
    with DelayProxy("127.0.0.1", sshd.port, reset_first=10_000) as proxy:
        error = failure(connect(), through(sshd, proxy, connect_timeout=4.0))
    assert error.kind == "transport.connect"
    assert "MaxStartups" in error.hint
    assert proxy.connections > 2


def test_a_port_that_is_closed_is_told(connect: Connect) -> None:
    """Refused connections are tried a few times and then named."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = failure(connect(), Host(port=port, connect_timeout=5.0))
    assert error.kind == "transport.connect"
    assert f"127.0.0.1 port {port}: connection refused" in error.message


def test_a_name_that_is_not_known_is_told(connect: Connect) -> None:
    """The resolver's word is in the message."""
    error = failure(connect(), Host(address="no-such-host.invalid"))
    assert error.kind == "transport.resolve"


def test_a_greeting_without_end_is_refused(connect: Connect) -> None:
    """It is not collected until the time is up."""

    def serve(server: socket.socket) -> None:
        connection, _ = server.accept()
        with contextlib.suppress(OSError):
            while True:
                connection.sendall(b"x" * 4096)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        error = failure(connect(), Host(port=server.getsockname()[1], connect_timeout=30.0))
    assert error.kind == "transport.handshake"
    assert "SSH" in error.message
    thread.join()


def test_a_silent_port_is_given_up_in_time(connect: Connect) -> None:
    """A server that accepts and says nothing is not waited for without end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        error = failure(connect(), Host(port=server.getsockname()[1], connect_timeout=3.0))
    assert error.kind == "transport.handshake"


def test_a_server_that_does_not_speak_ssh_is_told(connect: Connect) -> None:
    """Something else on the port is recognised."""

    def serve(server: socket.socket) -> None:
        connection, _ = server.accept()
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 200)
        time.sleep(1)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        error = failure(connect(), Host(port=server.getsockname()[1], connect_timeout=5.0))
    assert "is not an SSH server" in error.message


def test_a_packet_without_end_is_refused(connect: Connect) -> None:
    """A server that announces a gigabyte, before anything proves who it is, is not listened to."""
    sent: list[int] = []

    def serve(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, contextlib.suppress(OSError):  # it is hung up on
            connection.sendall(
                b"SSH-2.0-hostile\r\n" + struct.pack(">I", (1 << 30) + 4) + b"\x04\x14"
            )
            while sum(sent) < 64 << 20:
                sent.append(connection.send(bytes(1 << 16)))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        error = failure(connect(), Host(port=server.getsockname()[1], connect_timeout=20.0))
        thread.join(20)
    assert "a packet of 1073741" in error.message
    assert sum(sent) < 32 << 20


def test_noise_of_the_login_shell_is_passed_over(
    connect: Connect, start_sshd: StartSshd, tmp_path: Path
) -> None:
    """Banners on both streams, as .bashrc writes them, do no harm."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(
        '#!/bin/sh\necho "ccm1 fake ready"; seq 1000; echo oops >&2\n'
        'exec sh -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    wrapper.chmod(0o755)
    server = start_sshd(f"ForceCommand {wrapper}")
    assert opened(connect(), server.host())


def test_a_forced_command_of_something_else_is_told(
    connect: Connect, start_sshd: StartSshd
) -> None:
    """An account that cannot run our command is explained by what it says."""
    server = start_sshd("ForceCommand echo This account is for backups only; exit 9")
    error = failure(connect(), server.host())
    assert error.kind == "transport.bootstrap"
    assert "status 9" in error.message
    expect_text(error.message)


def test_a_server_without_sessions_is_told(connect: Connect, start_sshd: StartSshd) -> None:
    """MaxSessions 0 is a refusal of the session, not a crash."""
    server = start_sshd("MaxSessions 0")
    assert failure(connect(), server.host()).kind == "transport.session"


def test_directives_that_cannot_be_honoured_refuse_the_host(
    sshd: Sshd, connect: Connect, ssh_config: Path
) -> None:
    """The directive is named with file and line."""
    ssh_config.write_text("Host 127.0.0.1\n  KnownHostsCommand /bin/kh %H\n")
    error = failure(connect(), sshd.host())
    assert error.kind == "transport.config"
    assert f"{ssh_config}:2:3" in error.message
    assert "knownhostscommand" in error.message


def test_the_round_trips_are_few(sshd: Sshd, connect: Connect) -> None:
    """On a slow line the link is ready before `ssh HOST true` would have ended."""
    if shutil.which("ssh") is None:
        pytest.skip("there is no ssh: install openssh-client")
    connector = connect()
    with DelayProxy("127.0.0.1", sshd.port) as proxy:
        host = through(sshd, proxy, connect_timeout=30.0)
        connector.open(host, Phases()).close()  # fills the cache
        known = f"UserKnownHostsFile={host.known_hosts}"
        true = ["ssh", "-F", "none", "-i", str(sshd.user_key), "-o", "IdentitiesOnly=yes"]
        true += ["-o", known, "-p", str(proxy.port), "127.0.0.1", "true"]
        proxy.delay_seconds = 0.1  # what waits for nothing is under way before an answer is
        ours, theirs = [], []
        for _ in range(3):  # on a busy machine it may not be: that adds turns, and never takes any
            connector.open(host, Phases()).close()
            ours.append(proxy.turns)
            subprocess.run(true, check=True, capture_output=True, timeout=60)
            theirs.append(proxy.turns)
    assert min(ours) < min(theirs)
