"""A server of SSH that goes so far and hangs then, until it is closed."""

from __future__ import annotations

import re
import socket
import threading
from pathlib import Path

import paramiko
from paramiko.common import AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from tests.orchestrator.transport.fakes import Host
from tests.orchestrator.transport.sshd import make_key, public

BANNER, EXCHANGE, LOGIN, SESSION, START, UPLOAD, PASSES = (
    "before its banner",
    "before the key exchange",
    "at the login",
    "at the session",
    "before the first word",
    "with the window shut",
    "nowhere",
)
LATEST = 3600.0  # seconds that nobody waits


class Door(paramiko.ServerInterface):
    """Lets everybody in as far as it is to go, ``slow`` seconds late."""

    def __init__(self, where: str, over: threading.Event) -> None:
        self.where = where
        self.over = over
        self.slow = 0.0

    def _pass(self, where: str) -> None:
        if self.where == where:
            self.over.wait(LATEST)

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self._pass(LOGIN)
        self.over.wait(self.slow)
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        self._pass(SESSION)
        return OPEN_SUCCEEDED

    def check_channel_direct_tcpip_request(
        self, chanid: int, origin: tuple[str, int], destination: tuple[str, int]
    ) -> int:
        self.over.wait(self.slow / 10)
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        if self.where == UPLOAD:
            nonce = re.search(rb"\b[0-9a-f]{32}\b", command)
            assert nonce
            channel.sendall(b"ccm1 %s need zip\n" % nonce.group())
        return True


class Hanging:
    """Listens on a port of this machine; ``host`` is how one gets there."""

    def __init__(self, directory: Path, where: str) -> None:
        directory.mkdir(exist_ok=True)
        self._over = threading.Event()
        self.door = Door(where, self._over)
        self._key = paramiko.Ed25519Key.from_private_key_file(str(make_key(directory / "host")))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.taken: list[socket.socket] = []
        port = self._socket.getsockname()[1]
        known = directory / "known_hosts"
        known.write_text(f"[127.0.0.1]:{port} {public(directory / 'host')}\n")
        self.host = Host(port=port, user="ann", known_hosts=str(known), connect_timeout=LATEST)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.taken.append(connection)
            if self.door.where == EXCHANGE:
                connection.sendall(b"SSH-2.0-hanging\r\n")
            if self.door.where in (BANNER, EXCHANGE):
                continue
            transport = paramiko.Transport(connection, default_window_size=1 << 15)
            transport.add_server_key(self._key)
            transport.start_server(event=threading.Event(), server=self.door)

    def close(self) -> None:
        """Hang up on everybody."""
        self._over.set()
        self._socket.close()
        for connection in self.taken:
            connection.close()
