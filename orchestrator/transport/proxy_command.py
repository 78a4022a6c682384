"""Runs a ProxyCommand with a socket as its standard input and output (controller)."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import threading

from orchestrator.transport.command_pipe import readable
from remote_runtime.errors import UnreachableError

END_TIMEOUT = 2.0


class ProxySocket(socket.socket):
    """Our end of the command's socket; closing it ends the command."""

    def __init__(self, command: str) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(ours.family, ours.type, ours.proto, ours.detach())
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the command
        self._last_error = ""
        shell = os.environ.get("SHELL") or "/bin/sh"
        try:
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
                [shell, "-c", f"exec {command}"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._stderr,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        except OSError as error:
            self._process = None
            self.close()
            message = f"{shell} could not be started for the ProxyCommand: {error.strerror}"
            raise UnreachableError(message, "transport.proxy") from error
        finally:
            theirs.close()

    def last_error(self) -> str:
        """The last line that the command wrote to standard error; also after the close."""
        with contextlib.suppress(OSError, ValueError):
            self._stderr.seek(0)
            lines = readable(self._stderr.read(64 * 1024)).splitlines()
            return lines[-1][-200:] if lines else ""
        return self._last_error

    def close(self) -> None:
        """Close the socket and end the command."""
        process, self._process = self._process, None
        super().close()
        self._last_error = self.last_error()  # paramiko closes as well, before anybody asks
        self._stderr.close()
        if process is not None:
            threading.Thread(target=_see_off, args=(process,), daemon=True).start()


def _see_off(process: subprocess.Popen[bytes]) -> None:
    for end in (process.terminate, process.kill):
        try:
            process.wait(END_TIMEOUT)
            return
        except subprocess.TimeoutExpired:
            end()
    process.wait()
