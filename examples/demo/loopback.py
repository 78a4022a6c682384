"""A small SSH server on loopback, for machines where no lab host can be booted.

It accepts one key, runs each exec request as the user who started it, in a directory of its own,
and that is all it does: no pty, no forwarding, no sftp.
"""

import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import paramiko

CHUNK = 32768


class _Door(paramiko.ServerInterface):
    """Lets one public key in and remembers the command that it asks for."""

    def __init__(self, key: paramiko.PKey) -> None:
        self._key = key
        self.command = b""
        self.asked = threading.Event()

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        same = key == self._key
        return paramiko.common.AUTH_SUCCESSFUL if same else paramiko.common.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        allowed = kind == "session"
        return (
            paramiko.common.OPEN_SUCCEEDED
            if allowed
            else paramiko.common.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED
        )

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self.command = command
        self.asked.set()
        return True


class LoopbackServer:
    """One SSH server on 127.0.0.1; ``home`` is where its commands start and what HOME names."""

    def __init__(self, home: Path, host_key: paramiko.PKey, user_key: paramiko.PKey) -> None:
        self._home = home
        self._host_key = host_key
        self._user_key = user_key
        self._children: list[subprocess.Popen[bytes]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """Close the listener and end what still runs."""
        self._listener.close()
        for child in self._children:
            if child.poll() is None:
                child.terminate()
                child.wait(10)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        transport = paramiko.Transport(connection)
        transport.add_server_key(self._host_key)
        door = _Door(self._user_key)
        try:
            transport.start_server(server=door)
            while (channel := transport.accept(30)) is not None:
                if door.asked.wait(30):
                    door.asked.clear()
                    self._run(channel, door.command)
        except (paramiko.SSHException, EOFError, OSError):
            pass  # a client that went away in the middle: the next one gets its own connection
        finally:
            transport.close()

    def _run(self, channel: paramiko.Channel, command: bytes) -> None:
        child = subprocess.Popen(
            ["/bin/sh", "-c", os.fsdecode(command)],
            cwd=self._home,
            env={**os.environ, "HOME": str(self._home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._children.append(child)
        assert child.stdout is not None
        assert child.stderr is not None
        threading.Thread(target=_feed, args=(channel, child), daemon=True).start()
        pumps = [
            threading.Thread(target=_pump, args=(child.stdout.fileno(), channel.sendall)),
            threading.Thread(target=_pump, args=(child.stderr.fileno(), channel.sendall_stderr)),
        ]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        channel.send_exit_status(child.wait())
        channel.close()


def _feed(channel: paramiko.Channel, child: "subprocess.Popen[bytes]") -> None:
    assert child.stdin
    try:
        while data := channel.recv(CHUNK):
            child.stdin.write(data)
    except OSError:
        pass  # the command ended without reading the rest
    finally:
        child.stdin.close()


def _pump(descriptor: int, send: Callable[[bytes], None]) -> None:
    while data := os.read(descriptor, CHUNK):
        try:
            send(data)
        except OSError:
            return  # the client is gone; its command sees a closed pipe next
