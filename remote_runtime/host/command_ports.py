"""A command of the user, of a resource or a guard, and the port to programs of a host (target). See
``ports`` for the common rules of all ports.
"""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host import interpreters
from remote_runtime.retries import ONCE, RetryPolicy
from remote_runtime.text import duration, shell_words
from remote_runtime.validation.command_rules import parse_umask

if TYPE_CHECKING:
    from remote_runtime.changes import Ended
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files
    from remote_runtime.system.process.commands import Commands as Adapter
    from remote_runtime.system.process.commands import Result

TIMEOUT, RAISE = "resource.timeout", "raise timeout"

Tell = Callable[[str], object]
Made = Tuple[str, int, int, int]
"""A file that a program creates: its path, mode, owner and group."""
_INHERITED = ("cwd", "environment", "path", "user", "group", "umask", "timeout")


class Command(NamedTuple):
    """A command with everything that determines how it runs; ``timeout`` is in seconds, None for no
    limit.

    Without an ``interpreter``, the text is split into words with POSIX quoting, and nothing is
    expanded.
    """

    text: str
    interpreter: str
    boolean: bool
    cwd: Optional[str]
    environment: Dict[str, str]
    path: Optional[str]
    user: Optional[str]
    group: Optional[str]
    umask: Optional[int]
    timeout: Optional[float]
    returns: Tuple[int, ...]

    def start(self, find: Callable[[str], str]) -> interpreters.Start:
        """The program and its arguments; ``find`` looks programs up.

        ``ResourceError`` for a text that cannot be split into words.
        """
        if self.interpreter:
            return interpreters.start(self.interpreter, self.text, self.boolean, find)
        try:
            argv = shell_words.split(self.text)
        except ValueError as error:
            message = "cannot parse the command: %s" % error
            raise ResourceError(message, kind="resource.command") from error
        if not argv:
            raise ResourceError("the command is empty", kind="resource.command")
        return interpreters.Start(argv)


def of_command(name: str, properties: Dict[str, Any], provider: str) -> Command:
    """The command of a resource; ``provider`` runs it if no interpreter is set."""
    return _command(
        properties.get("command") or name,
        properties,
        interpreter=_interpreter(properties, "interpreter", provider),
        boolean=bool(properties.get("convert_boolean_return", False)),
        returns=properties.get("returns"),
    )


def of_guard(guard: Any, properties: Dict[str, Any], provider: str) -> Command:
    """A guard, which inherits settings from its resource if its map does not set them.

    Exit codes are not inherited: those of the command do not apply to a guard.
    """
    own = guard if isinstance(guard, dict) else {"command": guard}
    merged = {key: properties.get(key) for key in _INHERITED}
    merged.update({key: own[key] for key in _INHERITED if key in own})
    return _command(
        str(own["command"]),
        merged,
        interpreter=_interpreter(properties, "guard_interpreter", provider),
        boolean=bool(properties.get("convert_boolean_return", True)),
        returns=own.get("returns"),
    )


def _interpreter(properties: Dict[str, Any], key: str, provider: str) -> str:
    name = str(properties.get(key, "default"))
    return name if name != "default" else "sh" if provider == "shell" else ""


def _command(
    command: str, values: Dict[str, Any], *, interpreter: str, boolean: bool, returns: Any
) -> Command:
    def text(key: str) -> Optional[str]:
        return None if values.get(key) is None else str(values[key])

    def parsed(key: str, parse: Callable[[str], Any]) -> Any:
        value = text(key)
        return None if value is None else parse(value)

    return Command(
        text=command,
        interpreter=interpreter,
        boolean=boolean,
        cwd=text("cwd"),
        environment=dict(_pair(entry) for entry in values.get("environment") or []),
        path=text("path"),
        user=text("user"),
        group=text("group"),
        umask=parsed("umask", parse_umask),
        timeout=parsed("timeout", duration.parse) or None,
        returns=tuple(returns or (0,)),
    )


def _pair(entry: str) -> Tuple[str, str]:
    key, _, value = entry.partition("=")
    return key, value


def expected(returns: Tuple[int, ...]) -> str:
    """The accepted codes as text: "0", "0 or 4"."""
    codes: List[str] = [str(code) for code in returns]
    return codes[0] if len(codes) == 1 else "%s or %s" % (", ".join(codes[:-1]), codes[-1])


class CommandReader(object):
    """Looks up programs, and runs commands of the user that only read, on the machine or on an
    overlay.

    The ports parse the output of programs, not the types.
    """

    def __init__(self, adapter: "Adapter", files: "Files", accounts: "Accounts") -> None:
        self._adapter, self._files, self._accounts = adapter, files, accounts

    def find(self, program: str) -> str:
        """The path of a program, "" if it does not exist."""
        return self._adapter.find(program)

    def require(self, program: str) -> None:
        """``ResourceError`` for a program that cannot start."""
        reason, hint = self._adapter.lacking(program)
        if reason:
            raise ResourceError(reason, kind="resource.command", hint=hint)

    def words(self, command: Command) -> interpreters.Start:
        """The program of a command with its arguments."""
        return command.start(lambda program: self._adapter.find(program, command.path, command.cwd))

    def require_start(self, command: Command, own: str) -> None:
        """``Missing`` if a command cannot start because of its directory, user, group or program.
        ``own`` names the command in messages.
        """
        cwd = command.cwd
        if cwd is not None and not self._files.is_directory(cwd):
            raise Missing("%s: the working directory %s does not exist" % (own, cwd))
        for kind, name in (("user", command.user), ("group", command.group)):
            reason, hint = self._accounts.lacking(kind, name) if name is not None else ("", "")
            if reason:
                raise Missing(reason, hint=hint)
        reason, hint = self._adapter.lacking(self.words(command).argv[0], command.path, cwd)
        if reason:
            raise Missing("%s: %s" % (own, reason), hint=hint)

    def look(self, command: Command) -> "Result":
        """Run a command that changes nothing; in a preview, on the predicted host."""
        return self._run(command)

    def _run(self, command: Command, on_line: Optional[Tell] = None) -> "Result":
        def sink(stream: str, line: str) -> None:
            if stream == "stdout" and on_line is not None:
                on_line(line)

        start = self.words(command)
        return self._adapter.run(
            start.argv,
            input=start.input,
            cwd=command.cwd,
            env=command.environment,
            path=command.path,
            timeout=command.timeout,
            user=command.user,
            group=command.group,
            umask=command.umask,
            on_output=None if on_line is None else sink,
        )

    def holds(self, guard: Command, own: str) -> bool:
        """Return whether a guard exits with an accepted code; ``own`` names it in messages. Runs in
        previews like ``look``."""
        self.require_start(guard, own)
        try:
            result = self.look(guard)
        except Unknowable as unknown:
            raise Unknowable("%s: %s" % (own, unknown.message)) from unknown
        except ResourceError as error:
            message = "%s: %s" % (own, error.message)
            raise ResourceError(message, error.kind, error.hint, error.output) from error
        if result.timed_out:
            message = "%s: %s" % (own, result.ending(guard.timeout))
            raise ResourceError(message, TIMEOUT, RAISE, result.tail())
        return result.code in guard.returns


class Commands(CommandReader):
    """Runs programs that change the host. ``ended`` is the result of the last command of the user,
    ``tries`` the number of its tries, 0 if only one is allowed."""

    ended: "Optional[Ended]"
    tries = 0

    def run(
        self,
        argv: Sequence[str],
        *,
        user: Optional[str] = None,
        affects: Optional[Sequence[str]] = None,
        makes: Sequence[Made] = (),
    ) -> None:
        """Run a program to its end; ``ResourceError`` if it does not exit with 0.

        ``affects`` are the paths that it may change, with everything below them; None means
        everything on the host. A preview does not run it, and these paths are uncertain afterwards.
        Of the files that it ``makes``, only the content is.
        """
        raise NotImplementedError

    def execute(
        self,
        command: Command,
        *,
        creates: str = "",
        affects: Optional[Sequence[str]] = None,
        log: bool = False,
        tries: RetryPolicy = ONCE,
    ) -> None:
        """Run a command of the user to its end. ``UnsettledError`` if it exits with a code that is
        not accepted, or does not create the path ``creates``.

        ``affects`` are paths, with everything below them, and resources as TYPE#NAME; None means
        everything. ``log``: its standard output is reported. ``tries``: it runs again after a
        failure, unless ``creates`` exists by then. A preview checks whether the command can start;
        everything that it affects is uncertain afterwards.
        """
        raise NotImplementedError
