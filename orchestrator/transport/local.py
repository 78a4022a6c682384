"""Runs the runtime on the controller itself: the same bootstrap in a subprocess (controller)."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping

from orchestrator.image import Image
from orchestrator.transport.credentials import BECOME_PASSWORD, COMMAND_SUFFIX, SSH_PASSWORD
from orchestrator.transport.start_command import program_sent, waiting_command
from remote_runtime.errors import UnreachableError

READ_SIZE = 256 * 1024
_SLICE = 0.2  # how long a blocked call takes to notice a close


def _environment() -> dict[str, str]:
    """The environment of the controller without passwords, which no target may see."""
    secrets = {
        name + end for name in (SSH_PASSWORD, BECOME_PASSWORD) for end in ("", COMMAND_SUFFIX)
    }
    return {name: value for name, value in os.environ.items() if name not in secrets}


class LocalPipe:
    """A subprocess in its own session; see ``Pipe``. ``variables`` replace some of ours."""

    def __init__(self, command: list[str], variables: Mapping[str, str] | None = None) -> None:
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                bufsize=0, start_new_session=True, env={**_environment(), **(variables or {})},
            )  # fmt: skip
        except OSError as error:
            raise UnreachableError(f"{command[0]} could not be started: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin
        self._streams = {s.fileno(): s for s in (self._process.stdout, self._process.stderr)}
        self._stdout = self._process.stdout.fileno()
        self._open = set(self._streams)
        os.set_blocking(self._stdin.fileno(), False)
        self._closing = False
        self._ready = False
        self._writing = threading.Lock()
        self._reading = threading.Lock()

    def write(self, data: bytes) -> None:
        """Write every byte."""
        view = memoryview(data)
        with self._writing:
            while view:
                if self._closing:
                    raise UnreachableError("the link was closed", "transport.lost")
                poll = select.poll()
                poll.register(self._stdin, select.POLLOUT)
                if poll.poll(_SLICE * 1000):
                    view = view[self._write_some(view) :]

    def _write_some(self, view: memoryview) -> int:
        try:
            return os.write(self._stdin.fileno(), view[:65536])
        except BlockingIOError:
            return 0
        except OSError as error:
            raise UnreachableError(f"the runtime has ended: {error}", "transport.lost") from error

    def read(self, timeout: float) -> tuple[bytes, bytes]:
        """Return the received data of either stream; TimeoutError without data."""
        end = time.monotonic() + timeout
        with self._reading:
            while self._open and not self._closing:
                seconds_left = end - time.monotonic()
                output = self._poll(max(0.0, min(seconds_left, _SLICE)))
                if any(output):
                    return output
                if seconds_left <= 0 and self._open:
                    raise TimeoutError
        return b"", b""

    def _poll(self, timeout: float) -> tuple[bytes, bytes]:
        out = err = b""
        poll = select.poll()
        for handle in self._open:
            poll.register(handle, select.POLLIN)
        for handle, _ in poll.poll(timeout * 1000):
            data = os.read(handle, READ_SIZE)
            if not data:
                self._open.discard(handle)
            elif handle == self._stdout:
                out = data
            else:
                err = data
        return out, err

    def exit_status(self) -> int | None:
        """The exit status of the process, None while it is running."""
        try:
            return self._process.wait(1)
        except subprocess.TimeoutExpired:
            return None

    def started(self) -> None:
        """Record that the runtime is ready: from then on it ends by itself, never by one of our
        signals.
        """
        self._ready = True

    def close(self) -> None:
        """Close the streams. A runtime detects this and ends; a bootstrap is killed."""
        self._hang_up()
        threading.Thread(target=self._process.wait, daemon=True).start()

    def end(self) -> None:
        """Kill a bootstrap, and wait for its end."""
        self._hang_up()
        self._process.wait()

    def _hang_up(self) -> None:
        self._closing = True
        with self._writing, self._reading:
            for stream in (self._stdin, *self._streams.values()):
                with contextlib.suppress(OSError):
                    stream.close()
        if not self._ready:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGTERM)


class WaitingInterpreter:
    """Our own Python, started before it is needed: it does nothing until it gets a program, and
    ends without one. UnreachableError if it cannot be started.

    It starts while the controller still prepares the run, which saves 9 ms and a shell.
    """

    def __init__(self) -> None:
        path = os.environ.get("PATH", os.defpath) + ":/usr/local/bin:/usr/bin:/bin"
        self.pipe = LocalPipe(waiting_command(sys.executable), {"PATH": path, "LC_ALL": "C.UTF-8"})
        self.nonce = os.urandom(16).hex()
        self._is_started = False

    def start(self, image: Image) -> None:
        """Start the bootstrap, if it has not started yet; UnreachableError if the interpreter has
        ended.
        """
        if not self._is_started:
            self._is_started = True
            self.pipe.write(program_sent(image, self.nonce))

    def close(self) -> None:
        """End the interpreter, whose pipe nobody reads."""
        self.pipe.end()
