"""Runs commands for testinfra, one after the other (target, Python 3.6+; sent as one string).

It shares no code with ``remote_runtime``, because its results must not depend on the code that it
checks.

After the line ``ccm1 NONCE ready`` the controller sends requests without waiting for answers. The
commands are answered in order; integers are big-endian:

- request: number of commands (4 bytes), timeout of each in milliseconds (4), most bytes of each
  stream (4), then for each command its length (4) and itself
- answer: return code (4, signed), status (1), length of stdout (4), of stderr (4), then both

A status is 0 if the command ended, 1 if it was killed at its timeout, 2 if it wrote too much. A
command runs in its own process group, which is killed at the end of the command or of the channel.
The commands of one request must only read: one shell runs them, each in a subshell, because a
separate shell for each would cost as much as the command. If that shell cannot report the results,
the commands run again, one by one.
"""

import binascii
import contextlib
import os
import queue
import select
import signal
import struct
import subprocess
import sys
import threading
import time

REQUEST = struct.Struct(">III")
LENGTH = struct.Struct(">I")
ANSWER = struct.Struct(">iBII")
ENDED, TIMED_OUT, TOO_LARGE = 0, 1, 2
DRAIN = 1.0  # how long a pipe is read that a daemon keeps open after its command has ended
IDLE = 3600.0  # a controller that asks nothing for so long is gone
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


# Each stream ends with a mark that no command knows. The command is literal and not passed to eval:
# a shell replaces itself with the last command of a subshell, but not with that of eval.
EACH = b"(\n%s\n) </dev/null;printf '%%s %%s\\n' %s $?;printf '%%s\\n' %s >&2\n"


def read_exactly(stream: int, count: int) -> bytes:
    """The next bytes of a channel; EOFError if it ends."""
    data = b""
    while len(data) < count:
        piece = os.read(stream, min(count - len(data), 65536))
        if not piece:
            raise EOFError
        data += piece
    return data


class RunningCommand:
    """One command with its output so far."""

    def __init__(self, command: bytes, environment: "dict[str, str]") -> None:
        self.process = subprocess.Popen(
            [b"/bin/sh", b"-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=environment,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.streams = (self.process.stdout, self.process.stderr)
        self.pipes: dict[int, list[bytes]] = {pipe.fileno(): [] for pipe in self.streams}

    def collect(self, timeout: float, maximum: int) -> "tuple[int, int, bytes, bytes]":
        """Wait for the end; return the return code, status, stdout and stderr."""
        status, end = ENDED, time.monotonic() + timeout
        ended: float | None = None
        poll = select.poll()
        for pipe in self.pipes:
            poll.register(pipe, select.POLLIN)
        left = set(self.pipes)
        while left and status == ENDED:
            for pipe, _ in poll.poll(100 if ended is None else 20):
                data = os.read(pipe, 65536)
                self.pipes[pipe].append(data)
                if not data:
                    poll.unregister(pipe)
                    left.discard(pipe)
                elif sum(map(len, self.pipes[pipe])) > maximum:
                    status = TOO_LARGE
            now = time.monotonic()
            if ended is None and self.process.poll() is not None:
                ended = now
            if ended is not None and now - ended > DRAIN:
                break
            if ended is None and now > end:
                status = TIMED_OUT
        return self.finish(status, end, maximum)

    def finish(self, status: int, end: float, maximum: int) -> "tuple[int, int, bytes, bytes]":
        """Kill its remaining processes, and create its answer."""
        if status == ENDED:
            try:
                self.process.wait(max(0.01, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                status = TIMED_OUT
        if status != ENDED:
            self.kill()
        code = self.process.wait()
        out, err = (b"".join(pieces)[:maximum] for pieces in self.pipes.values())
        for pipe in self.streams:
            pipe.close()
        return code, status, out, err

    def kill(self) -> None:
        """Kill the command and all processes that it started."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Server:
    """Answers the requests of one channel until it ends."""

    def __init__(self, requests: int, answers: int) -> None:
        self.requests = requests
        self.answers = answers
        self.waiting: queue.Queue[tuple[list[bytes], float, int]] = queue.Queue()
        self.running: RunningCommand | None = None
        self.gone = False
        self.environment = dict(os.environ)
        # Output that testinfra's modules read is the same in every language, and C loads fastest.
        self.environment.update(LANG="C", LC_ALL="C")
        known = self.environment.get("PATH", "").split(":")
        more = [directory for directory in PATH.split(":") if directory not in known]
        self.environment["PATH"] = ":".join([*filter(None, known), *more])

    def serve(self) -> None:
        """Serve until the channel ends; this also ends the running command."""
        threading.Thread(target=self.read, daemon=True).start()
        while True:
            try:
                commands, timeout, maximum = self.waiting.get(timeout=IDLE)
            except queue.Empty:
                return
            answers = self.together(commands, timeout, maximum) if len(commands) > 1 else None
            for number, command in enumerate(commands):
                if self.gone:
                    return
                self.write(*answers[number] if answers else self.answer(command, timeout, maximum))

    def together(
        self, commands: "list[bytes]", timeout: float, maximum: int
    ) -> "list[tuple[int, int, bytes, bytes]] | None":
        """The answers of many commands that one shell runs; None if they are unknown."""
        mark = binascii.hexlify(os.urandom(16))
        script = b"".join(EACH % (command, mark, mark) for command in commands)
        code, status, out, err = self.answer(script, timeout, maximum)
        outs, errs = out.split(mark), err.split(mark + b"\n")
        if code or status != ENDED or not len(outs) == len(errs) == len(commands) + 1:
            return None
        results = []
        for number in range(len(commands)):
            line, _, outs[number + 1] = outs[number + 1].partition(b"\n")
            if not line.strip().isdigit():
                return None
            results.append((int(line), ENDED, outs[number], errs[number]))
        return results

    def answer(
        self, command: bytes, timeout: float, maximum: int
    ) -> "tuple[int, int, bytes, bytes]":
        """Run one command."""
        try:
            self.running = RunningCommand(command, self.environment)
            if self.gone:  # the channel ended in this very moment
                self.running.kill()
        except (OSError, ValueError) as error:
            return 127, ENDED, b"", str(error).encode("utf-8", "replace")
        try:
            return self.running.collect(timeout, maximum)
        finally:
            self.running = None

    def write(self, code: int, status: int, out: bytes, err: bytes) -> None:
        """Send an answer."""
        data = memoryview(ANSWER.pack(code, status, len(out), len(err)) + out + err)
        while data:
            data = data[os.write(self.answers, data) :]

    def command(self) -> bytes:
        """The next command of a request."""
        (length,) = LENGTH.unpack(read_exactly(self.requests, LENGTH.size))
        return read_exactly(self.requests, length)

    def read(self) -> None:
        """Read requests in advance; the end of the channel ends everything."""
        try:
            while True:
                count, timeout, maximum = REQUEST.unpack(read_exactly(self.requests, REQUEST.size))
                commands = [self.command() for _ in range(count)]
                self.waiting.put((commands, timeout / 1000, maximum))
        except (EOFError, OSError):
            self.gone = True  # what waits is not run any more
            running = self.running
            if running is not None:
                running.kill()
            self.waiting.put(([b""], 0, 0))


def main(nonce: str) -> None:
    """Serve on standard input and output, which are hidden from commands."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.write(answers, b"ccm1 " + nonce.encode() + b" ready\n")
    Server(requests, answers).serve()


if __name__ == "__main__":
    main(sys.argv[1])
