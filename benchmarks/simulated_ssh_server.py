"""One process of the SSH server behind which the stand-in hosts are; ``simulated_fleet`` starts it.

    python -m benchmarks.simulated_ssh_server SETTINGS DESCRIPTOR

It accepts from a listening socket that it inherits. Which host is meant is said by the address that
was called.
"""

import asyncio
import contextlib
import gc
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncssh

from .replay import Recording
from .simulated_host import LOGIN, RUN, SLOW, START, Conversation, Part, name_of, number_at

_LONG = 3600.0  # seconds that a host hangs
_KEX = ["curve25519-sha256", "curve25519-sha256@libssh.org"]


class _Session(asyncssh.SSHServerSession[bytes]):
    """A channel to a stand-in."""

    def __init__(self, server: "_Server") -> None:
        self._server = server
        self._channel: Any = None
        self._talk: Conversation | None = None

    def connection_made(self, chan: Any) -> None:
        self._channel = chan

    def exec_requested(self, command: str) -> bool:
        part, name, channel = self._server.part, self._server.name, self._channel
        self._talk = Conversation(part, name, command, say=channel.write, end=channel.exit)
        return True

    def session_started(self) -> None:
        if self._talk is not None and self._server.fault != START:
            self._server.act(self._talk.start)

    def data_received(self, data: bytes, datatype: Any) -> None:
        if self._talk is not None and self._talk.hear(data) and self._server.fault != RUN:
            self._server.act(self._talk.answer)


class _Server(asyncssh.SSHServer):
    """A connection to a stand-in."""

    def __init__(self, part: Part, settings: dict[str, Any], key: asyncssh.SSHKey) -> None:
        self.part = part
        self._settings = settings
        self._key = key
        self.name = self.fault = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.name = name_of(number_at(conn.get_extra_info("sockname")[0]))
        self.fault = self._settings["faults"].get(self.name, "")

    async def begin_auth(self, username: str) -> bool:
        if self.fault in (LOGIN, SLOW):
            await asyncio.sleep(_LONG if self.fault == LOGIN else self._settings["delay"])
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return bool(key == self._key)

    def session_requested(self) -> _Session:
        return _Session(self)

    def act(self, what: Callable[[], None]) -> None:
        """Do it now, or as late as a slow host does."""
        if self.fault == SLOW:
            asyncio.get_running_loop().call_later(self._settings["delay"], _try, what)
        else:
            what()


def _try(what: Callable[[], None]) -> None:
    with contextlib.suppress(OSError):  # the controller may be gone
        what()


async def _serve(settings: dict[str, Any], listener: socket.socket) -> None:
    part = Part.of(Recording.of(settings["recording"]))
    key = asyncssh.import_public_key(settings["user_key"])
    await asyncssh.listen(
        sock=listener,
        server_factory=lambda: _Server(part, settings, key),
        server_host_keys=[settings["host_key"]],
        encoding=None,
        kex_algs=_KEX,
        encryption_algs=["aes128-gcm@openssh.com"],
        compression_algs=["none"],
        login_timeout=_LONG,
    )
    # This process shares the cores with ccm: one full collection takes 40 ms, a tenth of a
    # converged push over SSH.
    gc.freeze()
    await asyncio.get_running_loop().create_future()


def main() -> None:
    """Serve until ended by a signal."""
    settings: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    asyncio.run(_serve(settings, socket.socket(fileno=int(sys.argv[2]))))


if __name__ == "__main__":
    main()
