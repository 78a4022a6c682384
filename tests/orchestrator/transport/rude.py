"""A session whose server sends what it should not."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import paramiko
from paramiko.common import AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from orchestrator.transport.ssh_pipe import SshPipe
from orchestrator.transport.ssh_transport import EagerTransport, start
from tests.orchestrator.transport.sshd import make_key

PATIENCE = 30.0


class Door(paramiko.ServerInterface):
    """Lets everybody in."""

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        return True


class Rude:
    """Both ends of a command's channel, of a session that the calling thread made."""

    def __init__(self, directory: Path, window: int = 1 << 21) -> None:
        here, there = socket.socketpair()
        self.there = there
        self.server = paramiko.Transport(there, default_window_size=window)
        key = paramiko.Ed25519Key.from_private_key_file(str(make_key(directory / "host")))
        self.server.add_server_key(key)
        self.server.start_server(event=threading.Event(), server=Door())
        self.session = EagerTransport(here, PATIENCE)
        self.session.start_client(timeout=PATIENCE)
        self.session.auth_password("ann", "anything", fallback=False)
        self.opened = start(self.session, "anything", time.monotonic() + PATIENCE)
        far = self.server.accept(PATIENCE)
        assert far is not None
        self.far: paramiko.Channel = far
        self.pipe = SshPipe(self.session, self.opened, self.close)

    def say(self, message: paramiko.Message) -> None:
        """Send a packet of whatever kind; EOFError."""
        self.server._send_message(message)  # type: ignore[attr-defined]  # the stubs lack private members

    def hang_up(self) -> None:
        """Break the connection as it looks to a thread while another one ends the session."""
        self.session.packetizer.close()
        self.there.close()

    def close(self) -> None:
        """Hang up at this end."""
        self.session.hang_up()

    def end(self) -> None:
        """Hang up at both ends."""
        self.close()
        self.server.close()
