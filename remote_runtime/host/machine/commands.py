"""Programs on the machine (target)."""

from typing import TYPE_CHECKING, Callable, Optional, Sequence

from remote_runtime.changes import Ended, Missing, Unknowable
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.host import interpreters, ports
from remote_runtime.host.command import Command, expected

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files
    from remote_runtime.system.process.commands import Commands as Door
    from remote_runtime.system.process.commands import Result

LOGGED = 500  # lines of one command that are reported; a flood would drown the events
_TIMEOUT, _RAISE = "resource.timeout", "raise timeout"

Tell = Callable[[str], object]


class CommandReader(ports.CommandReader):
    """Looks through the doors of the machine, or those of an overlay."""

    def __init__(self, door: "Door", files: "Files", accounts: "Accounts") -> None:
        self._door, self._files, self._accounts = door, files, accounts

    def find(self, program: str) -> str:
        """See the base class."""
        return self._door.find(program)

    def require(self, program: str) -> None:
        """``ResourceError`` for a program that cannot be started."""
        why, hint = self._door.lacking(program)
        if why:
            raise ResourceError(why, kind="resource.command", hint=hint)

    def words(self, command: Command) -> interpreters.Start:
        """The program of a command with its arguments."""
        return command.start(lambda program: self._door.find(program, command.path, command.cwd))

    def require_start(self, command: Command, own: str) -> None:
        """See the base class."""
        cwd = command.cwd
        if cwd is not None and not self._files.is_directory(cwd):
            raise Missing("%s: the working directory %s does not exist" % (own, cwd))
        for kind, name in (("user", command.user), ("group", command.group)):
            why, hint = self._accounts.lacking(kind, name) if name is not None else ("", "")
            if why:
                raise Missing(why, hint=hint)
        why, hint = self._door.lacking(self.words(command).argv[0], command.path, cwd)
        if why:
            raise Missing("%s: %s" % (own, why), hint=hint)

    def look(self, command: Command) -> "Result":
        """See the base class."""
        return self._run(command)

    def _run(self, command: Command, on_line: Optional[Tell] = None) -> "Result":
        def sink(stream: str, line: str) -> None:
            if stream == "stdout" and on_line is not None:
                on_line(line)

        start = self.words(command)
        return self._door.run(
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
        """See the base class."""
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
            raise ResourceError(message, _TIMEOUT, _RAISE, result.tail())
        return result.code in guard.returns


def reader_of(context: "Context") -> CommandReader:
    """What looks for the conditions of a run, and for the types that have its context."""
    return CommandReader(context.user_commands, context.files, context.accounts)


class Commands(CommandReader, ports.Commands):
    """Runs programs; accounts are looked up anew after each. ``log`` gets each line to report."""

    def __init__(self, context: "Context", log: Tell) -> None:
        super().__init__(context.commands, context.files, context.accounts)
        self.ended: Optional[Ended] = None
        self._progress, self._log = context.progress, log

    def run(
        self,
        argv: Sequence[str],
        *,
        input: Optional[bytes] = None,  # noqa: A002 - as in the base class
        timeout: Optional[float] = None,
        user: Optional[str] = None,
        affects: Optional[Sequence[str]] = None,
    ) -> None:
        """See the base class."""
        self.require(argv[0])
        try:
            result = self._door.run(argv, input=input, timeout=timeout, user=user)
        finally:
            self._accounts.forget()
        if result.timed_out or result.code != 0:
            raise ResourceError(
                "%s: %s" % (argv[0], result.ending(timeout)),
                kind="resource.command",
                output=result.tail(),
            )

    def execute(
        self,
        command: Command,
        *,
        creates: str = "",
        affects: Optional[Sequence[str]] = None,
        log: bool = False,
    ) -> None:
        """See the base class."""
        self._progress("running %s" % command.text)
        was_there = bool(creates) and self._files.exists(creates)
        try:
            result = self._run(command, self._logging() if log else None)
        finally:
            self._accounts.forget()
        code = None if result.timed_out else result.code
        self.ended = Ended(code, result.stdout, result.stderr)
        how = result.ending(command.timeout)
        if result.timed_out:
            raise UnsettledError(how, _TIMEOUT, _RAISE, result.tail())
        if result.code in command.returns:
            return
        if result.code >= 0 and creates and not was_there and self._files.exists(creates):
            return  # it made what it was to make; its event has the code
        message = "%s, expected %s" % (how, expected(command.returns))
        raise UnsettledError(message, kind="resource.exit", output=result.tail())

    def _logging(self) -> Tell:
        count = 0

        def tell(line: str) -> None:
            nonlocal count
            count += 1
            if count <= LOGGED:
                self._log(line)
            elif count == LOGGED + 1:
                self._log("more than %d lines of output; the rest is omitted" % LOGGED)

        return tell
