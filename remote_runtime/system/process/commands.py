"""All use of subprocess (target).

Every command has its own session, so that a timeout or a cancelled run ends it together with
everything that it started. It has the documented environment, and inherits nothing.
"""

import os
from typing import (
    TYPE_CHECKING,
    Callable,
    Dict,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from remote_runtime.cancellation import Cancellation
from remote_runtime.errors import ResourceError
from remote_runtime.system.accounts import Accounts, Identity

if TYPE_CHECKING:
    from remote_runtime.cancellation import Protected
    from remote_runtime.system.process.process_io import Moment, Outputs, OutputSink, Process
    from remote_runtime.system.process.run_as import RunAs
    from remote_runtime.system.push_lock import Lock

DEFAULT_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin"
KEEP = 256 << 10


class Result(NamedTuple):
    """The end of a command. ``code`` is negative (minus the signal) for one that was killed."""

    code: int
    stdout: str
    stderr: str
    timed_out: bool = False

    def ending(self, timeout: Optional[float]) -> str:
        """Return a description of the end, for people; ``timeout`` is the time limit."""
        if self.timed_out:
            text = "timed out after %g s; the command and all its processes were killed"
            return text % (timeout or 0)
        if self.code < 0:
            return "killed by signal %d" % -self.code
        return "exit code %d" % self.code

    def tail(self, lines: int = 20) -> str:
        """The last lines for people: of stderr, or of stdout if stderr is empty."""
        text = self.stderr.strip() or self.stdout.strip()
        return "\n".join(text.splitlines()[-lines:])


class CommandNotStartedError(ResourceError):
    """A command could not be started, for example because of a missing program, permission or
    directory."""

    default_kind = "resource.command"


WORDS_OF_SHELLS = (
    "cd", "source", ".", "export", "unset", "set", "eval", "alias", "ulimit", "umask", "type", "if",
    "for", "while", "until", "case", "function", "let", "local", "declare", "trap", "exit",
)  # fmt: skip


class Commands(object):
    """Runs commands one at a time; ``cancellation`` ends the running one.

    ``at_root``: this process itself is at "/" with the umask 022, the defaults for commands.
    ``lock`` is notified of each command, which may outlive this process. ``release`` is called
    before each command, to close directories on file systems that it may unmount.
    """

    def __init__(
        self,
        accounts: Accounts,
        cancellation: Cancellation,
        *,
        at_root: bool = False,
        lock: Optional["Lock"] = None,
        release: Optional[Callable[[], None]] = None,
    ) -> None:
        self._accounts = accounts
        self._cancellation = cancellation
        self._at_root = at_root
        self._lock = lock
        self._release = release or (lambda: None)

    def find(self, program: str, path: Optional[str] = None, cwd: Optional[str] = None) -> str:
        """Return the file of ``program``, looked up in ``path``; "" if there is none."""
        if "/" in program:
            return program if self.is_program(os.path.join(cwd or "/", program)) else ""
        for directory in (path or DEFAULT_PATH).split(":"):
            full = os.path.join(directory, program)
            if self.is_program(full):
                return full
        return ""

    def is_program(self, path: str) -> bool:
        """Return whether a path is an executable file."""
        return os.path.isfile(path) and os.access(path, os.X_OK)

    def is_there(self, path: str) -> bool:
        """Return whether anything exists at a path."""
        return os.path.exists(path)

    def lacking(
        self, program: str, path: Optional[str] = None, cwd: Optional[str] = None
    ) -> Tuple[str, str]:
        """The reason why a program cannot be started, and what to do; ("", "") if nothing prevents
        it."""
        if self.find(program, path, cwd):
            return "", ""
        if "/" in program and self.is_there(os.path.join(cwd or "/", program)):
            return "%s is not an executable file" % program, "set its mode to 0755"
        if "/" in program:
            return "program %s not found" % program, "install it in an earlier resource"
        where = " in %s" % (path or "the default path")
        hint = "install it in an earlier resource, or use its absolute path"
        if program in WORDS_OF_SHELLS:
            hint = "it is a shell builtin or keyword: set provider: shell"
        return "program %s not found%s" % (program, where), hint

    def protected(self, begun: bool = False) -> "Protected":
        """See ``Cancellation.protected``."""
        return self._cancellation.protected(begun)

    def environment(
        self, identity: Identity, env: Optional[Mapping[str, str]], path: Optional[str]
    ) -> Dict[str, str]:
        """The complete environment of a command that runs as ``identity``."""
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
        *,
        env: Optional[Mapping[str, str]] = None,
        path: Optional[str] = None,
        timeout: Optional[float] = None,
        user: Optional[str] = None,
        group: Optional[str] = None,
        umask: Optional[int] = None,
        input: Optional[bytes] = None,  # noqa: A002 - the name that subprocess gives it
        limit: int = KEEP,
        on_output: Optional["OutputSink"] = None,
        until: Optional["Moment"] = None,
    ) -> Result:
        """Run one command and wait for it.

        ``env`` is added to the environment. ``path`` replaces PATH, also to find the program.
        ``timeout`` in seconds (None or 0: none) kills the whole process group. ``user`` and
        ``group`` are names or IDs. At most ``limit`` bytes of each output are stored. ``on_output``
        is called with ("stdout" or "stderr", line). ``until`` returns the time at which it is
        killed, if that is only known while it runs. Does not wait for its daemons.
        ``CommandNotStartedError``; ``ResourceError`` for an unknown user or group; ``Cancelled``.
        """
        from remote_runtime.system.process import process_io, run_as

        if not self._cancellation.begun:
            self._cancellation.check()
        identity = self._accounts.identity(user, group)
        program = self._program(argv, path, cwd)
        inherits = user is None and group is None
        plain = inherits and cwd is None and umask is None and input is None
        self._release()
        outputs = process_io.Outputs()
        try:
            if self._lock is not None:
                self._lock.starting(outputs.inodes())
            process = self._start(
                list(argv),
                program,
                cwd=cwd,
                env=self.environment(identity, env, path),
                switch=run_as.RunAs(None if inherits else identity, umask),
                with_input=input is not None,
                is_plain=self._at_root and plain,
                outputs=outputs,
            )
        except BaseException:
            outputs.close()
            raise
        outputs.started()
        if self._lock is not None:
            self._lock.started(process.pid)
        talk = process_io.ProcessIO(
            process,
            outputs,
            cancellation=self._cancellation, data=input, limit=limit, on_output=on_output,
        )  # fmt: skip
        return Result(*talk.wait(timeout, until))

    def _program(self, argv: Sequence[str], path: Optional[str], cwd: Optional[str]) -> str:
        if not argv or not argv[0]:
            raise CommandNotStartedError("the command is empty")
        if any("\0" in word for word in argv):
            raise CommandNotStartedError("a command must not contain a NUL character")
        path_found = self.find(argv[0], path, cwd)
        if path_found:
            return path_found
        if "/" not in argv[0]:
            raise CommandNotStartedError(
                "program %r not found" % argv[0], hint="searched %s" % (path or DEFAULT_PATH)
            )
        full = os.path.join(cwd or "/", argv[0])
        reason = "is not executable" if os.path.exists(full) else "does not exist"
        raise CommandNotStartedError("the program %s %s" % (argv[0], reason))

    def _start(
        self,
        argv: List[str],
        program: str,
        *,
        cwd: Optional[str],
        env: Dict[str, str],
        switch: "RunAs",
        with_input: bool,
        is_plain: bool,
        outputs: "Outputs",
    ) -> "Process":
        from remote_runtime.stdlib_light import spawning

        if is_plain and spawning.POSSIBLE:
            try:
                return spawning.spawn(program, argv, env, outputs.theirs)
            except NotImplementedError:
                pass  # a system without such sessions
            except OSError as error:
                raise _not_started(argv[0], error) from error
        import subprocess

        if cwd is not None and not os.path.isdir(cwd):
            raise CommandNotStartedError("the working directory %s does not exist" % cwd)
        try:
            return subprocess.Popen(
                argv,
                executable=program,
                cwd=cwd or "/",
                env=env,
                stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
                stdout=outputs.theirs[0],
                stderr=outputs.theirs[1],
                start_new_session=True,
                **switch.arguments(),
            )
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise _not_started(argv[0], error, switch.hint()) from error


def _not_started(program: str, error: Exception, hint: str = "") -> CommandNotStartedError:
    number = getattr(error, "errno", None)  # Python 3.7 puts the path into ``strerror``
    reason = os.strerror(number) if number else str(error)
    return CommandNotStartedError("%s could not be started: %s" % (program, reason), hint=hint)
