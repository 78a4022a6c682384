"""The only door to subprocess (target).

Every command has its own session, so that a timeout or a cancelled run ends it with everything that
it started, and the environment that the reference promises, nothing inherited.
"""

import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.cancellation import Cancellation, Cancelled
from remote_runtime.errors import ResourceError

from .accounts import Accounts, Identity
from .capture import Capture

if TYPE_CHECKING:
    import subprocess

DEFAULT_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin"
KEEP = 256 << 10
GRACE = 1.0  # seconds between asking a process group to end and killing it
DRAIN = 1.0  # seconds that a pipe held open by a daemon is still read
_BLOCK = 64 << 10

OutputSink = Callable[[str, str], None]


class Result(NamedTuple):
    """How a command ended. ``code`` is negative (minus the signal) for one that was killed."""

    code: int
    stdout: str
    stderr: str
    timed_out: bool = False

    def tail(self, lines: int = 20) -> str:
        """The last lines for people: of stderr, or of stdout where stderr is empty."""
        text = self.stderr.strip() or self.stdout.strip()
        return "\n".join(text.splitlines()[-lines:])


class CommandNotStarted(ResourceError):  # noqa: N818  (it names what is the case)
    """A command could not be started: no such program, no permission, no such directory."""

    default_kind = "resource.command"

    def __init__(self, program: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.program = program


class Commands(object):
    """Runs commands one at a time; ``cancellation`` ends the one in flight."""

    def __init__(self, accounts: Accounts, cancellation: Cancellation) -> None:
        self._accounts = accounts
        self._cancellation = cancellation

    def find(self, program: str, path: Optional[str] = None, cwd: Optional[str] = None) -> str:
        """Return the file that ``program`` is, looked up in ``path``; "" when there is none."""
        if "/" in program:
            full = os.path.join(cwd or "/", program)
            return program if os.path.isfile(full) and os.access(full, os.X_OK) else ""
        for folder in (path or DEFAULT_PATH).split(":"):
            full = os.path.join(folder, program)
            if os.path.isfile(full) and os.access(full, os.X_OK):
                return full
        return ""

    def environment(
        self, identity: Identity, env: Optional[Mapping[str, str]], path: Optional[str]
    ) -> Dict[str, str]:
        """The whole environment of a command that runs as ``identity``."""
        base = {
            "PATH": path or DEFAULT_PATH,
            "LANG": "C",
            "LC_ALL": "C",
            "HOME": identity.home,
            "USER": identity.name,
            "LOGNAME": identity.name,
            "SHELL": identity.shell,
        }
        base.update(env or {})
        return base

    def run(
        self,
        argv: Sequence[str],
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        path: Optional[str] = None,
        timeout: Optional[float] = None,
        user: Optional[str] = None,
        group: Optional[str] = None,
        umask: Optional[int] = None,
        input: Optional[bytes] = None,  # noqa: A002  (the name that subprocess gives it)
        limit: int = KEEP,
        on_output: Optional[OutputSink] = None,
    ) -> Result:
        """Run one command and wait for it.

        ``env`` is added to the environment, ``path`` replaces PATH and is where the program is
        looked up; ``timeout`` in seconds (None or 0: none) kills the whole process group; ``user``
        and ``group`` are names or ids; of each output at most ``limit`` bytes are kept;
        ``on_output`` is called with ("stdout" or "stderr", line) while it runs. A daemon left
        behind is not waited for. ``CommandNotStarted``; ``Missing`` for an unknown user or group;
        ``Cancelled``.
        """
        self._cancellation.check()
        identity = self._accounts.identity(user, group)
        program = self._program(argv, path, cwd)
        process = self._start(
            [argv[0]] + list(argv[1:]),
            program,
            cwd,
            self.environment(identity, env, path),
            _Switch(identity if user is not None or group is not None else None, umask),
            input is not None,
        )
        return _Conversation(process, self._cancellation, input, limit, on_output).wait(timeout)

    def _program(self, argv: Sequence[str], path: Optional[str], cwd: Optional[str]) -> str:
        if not argv or not argv[0]:
            raise CommandNotStarted("", "there is no command to run")
        if any("\0" in word for word in argv):
            raise CommandNotStarted(argv[0], "a command cannot hold a NUL character")
        found = self.find(argv[0], path, cwd)
        if found:
            return found
        if "/" not in argv[0]:
            raise CommandNotStarted(
                argv[0],
                "there is no program %r" % argv[0],
                hint="looked in %s" % (path or DEFAULT_PATH),
            )
        full = os.path.join(cwd or "/", argv[0])
        why = "is not executable" if os.path.exists(full) else "does not exist"
        raise CommandNotStarted(argv[0], "the program %s %s" % (argv[0], why))

    def _start(
        self,
        argv: List[str],
        program: str,
        cwd: Optional[str],
        env: Dict[str, str],
        switch: "_Switch",
        with_input: bool,
    ) -> "subprocess.Popen[bytes]":
        import subprocess

        if cwd is not None and not os.path.isdir(cwd):
            raise CommandNotStarted(argv[0], "the working directory %s does not exist" % cwd)
        try:
            return subprocess.Popen(
                argv,
                executable=program,
                cwd=cwd or "/",
                env=env,
                stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                **switch.arguments(),
            )
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise CommandNotStarted(
                argv[0], "%s could not be started: %s" % (argv[0], why)
            ) from error


class _Switch(object):
    """Becoming another user in the child, before the program is executed."""

    def __init__(self, identity: Optional[Identity], umask: Optional[int]) -> None:
        self._identity = identity
        self._umask = 0o022 if umask is None else umask

    def arguments(self) -> Dict[str, Any]:
        import sys

        identity = self._identity
        if sys.version_info < (3, 9):
            return {"preexec_fn": self._apply}
        extra: Dict[str, Any] = {"umask": self._umask}
        if identity is not None and not identity.current:
            extra.update(user=identity.uid, group=identity.gid, extra_groups=list(identity.groups))
        return extra

    def _apply(self) -> None:
        # Between fork and exec: system calls only, everything was looked up before.
        os.umask(self._umask)
        identity = self._identity
        if identity is not None and not identity.current:
            os.setgroups(identity.groups)
            os.setgid(identity.gid)
            os.setuid(identity.uid)


class _Conversation(object):
    """Feeds and drains one process until it is over, out of time or cancelled."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        cancellation: Cancellation,
        data: Optional[bytes],
        limit: int,
        on_output: Optional[OutputSink],
    ) -> None:
        self._process = process
        self._cancellation = cancellation
        self._input = data or b""
        self._captures: Dict[int, Capture] = {}
        self._streams: Dict[int, Any] = {}
        for name in ("stdout", "stderr"):
            stream = getattr(process, name)
            sink = _sink(on_output, name)
            self._captures[stream.fileno()] = Capture(limit, sink)
            self._streams[stream.fileno()] = stream
        if process.stdin is not None:
            self._streams[process.stdin.fileno()] = process.stdin
        for descriptor in self._streams:
            os.set_blocking(descriptor, False)

    def wait(self, timeout: Optional[float]) -> Result:
        deadline = time.monotonic() + timeout if timeout else None
        stdout, stderr = list(self._captures.values())
        timed_out = False
        try:
            if not self._until_exit(deadline):
                timed_out = True
                self._end()
            self._drain(DRAIN)
        except BaseException:
            self._end()
            raise
        finally:
            for descriptor in list(self._streams):
                self._close(descriptor)
        for capture in (stdout, stderr):
            capture.close()
        code = self._process.wait()
        if self._cancellation.is_set() and not self._cancellation.protecting:
            raise Cancelled(self._cancellation.reason)
        return Result(code, stdout.text(), stderr.text(), timed_out)

    def _until_exit(self, deadline: Optional[float]) -> bool:
        """Exchange data until the process has ended; False when the time is up first."""
        pause = 0.001
        while self._process.poll() is None:
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return False
            if self._cancellation.is_set() and not self._cancellation.protecting:
                raise Cancelled(self._cancellation.reason)
            # With its pipes closed only waiting is left; with a daemon on them they stay open.
            waiting = 0.1 if self._captures.keys() & self._streams.keys() else pause
            pause = min(pause * 2, 0.05)
            if deadline is not None:
                waiting = min(waiting, deadline - now)
            self._exchange(waiting)
        return True

    def _drain(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._captures.keys() & self._streams.keys():
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._exchange(left)

    def _exchange(self, seconds: float) -> None:
        import select

        poll = select.poll()
        for descriptor in self._streams:
            poll.register(
                descriptor, select.POLLIN if descriptor in self._captures else select.POLLOUT
            )
        if not self._cancellation.is_set():
            poll.register(self._cancellation.wakeup, select.POLLIN)
        for descriptor, _ in poll.poll(max(0.0, seconds) * 1000):
            if descriptor in self._captures:
                self._read(descriptor)
            elif descriptor in self._streams:
                self._write(descriptor)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            return
        if data:
            self._captures[descriptor].feed(data)
        else:
            self._close(descriptor)

    def _write(self, descriptor: int) -> None:
        try:
            written = os.write(descriptor, self._input[:_BLOCK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = len(self._input)
        self._input = self._input[written:]
        if not self._input:
            self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        self._streams.pop(descriptor).close()

    def _end(self) -> None:
        """End the process group: ask, wait a little, kill. The leader is reaped last.

        As long as it is not, its number cannot become another process group's.
        """
        import signal

        if self._process.returncode is not None:
            return
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline:
            if not (self._captures.keys() & self._streams.keys()) and _ended(self._process.pid):
                break
            self._exchange(0.05)
            if not (self._captures.keys() & self._streams.keys()):
                time.sleep(0.01)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # PermissionError: macOS, for a group of which only zombies are left


def _ended(pid: int) -> bool:
    """Whether a child has ended, without reaping it; False where the system cannot tell."""
    if not hasattr(os, "waitid"):
        return False
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _sink(on_output: Optional[OutputSink], name: str) -> Optional[Callable[[str], None]]:
    if on_output is None:
        return None
    target = on_output
    return lambda line: target(name, line)
