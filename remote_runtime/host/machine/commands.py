"""Programs on the machine (target)."""

from typing import TYPE_CHECKING, List, Optional, Sequence

from remote_runtime.changes import Ended
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.host import command_ports as port
from remote_runtime.host.command_ports import RAISE, TIMEOUT, Command, Tell, expected
from remote_runtime.retries import ONCE, RetryPolicy, attempts_note, wait

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.process.commands import Result

LOGGED = 500  # lines of one command that are reported; a flood would drown the events
KEPT_TRIES = 5  # failed ones whose output is in the event
_MAX_LENGTH = 2 << 10  # characters of it


class _FailedTries(object):
    """The part of an event about the failed tries of a command; ``Cancelled`` leaves it
    complete."""

    def __init__(self, context: "Context", tries: RetryPolicy) -> None:
        self._context, self._tries = context, tries
        self._heads: List[str] = []
        self._outputs: List[str] = []

    def add(self, number: int, how: str, result: "Result") -> None:
        """Note a failed try; only the output of the last few is stored."""
        # Masked, then shortened: half a secret would not be found.
        text = self._context.mask.text(result.tail())
        self._heads.append(self._head(number, how))
        self._outputs.append(text[-_MAX_LENGTH:] + "\n" if text else "")
        self._outputs[:-KEPT_TRIES] = [""] * len(self._outputs[:-KEPT_TRIES])

    def _head(self, number: int, how: str) -> str:
        return "[try %d of %d: %s]\n" % (number, self._tries.maximum, how)

    def text(self, number: int, how: str) -> str:
        """The line before the output of the try ``number``, with its result ``how``."""
        if number == 1:
            return ""
        pairs = zip(self._heads, self._outputs)
        return "".join([head + text for head, text in pairs]) + self._head(number, how)


def _unsettled(result: "Result", command: Command, number: int) -> UnsettledError:
    """The error of a command whose last try failed."""
    how = result.ending(command.timeout)
    if result.timed_out:
        return UnsettledError(how + attempts_note(number), TIMEOUT, RAISE, result.tail())
    message = "%s, expected %s%s" % (
        how,
        "exit code " if result.code < 0 else "",
        expected(command.returns),
    )
    return UnsettledError(
        message + attempts_note(number), kind="resource.exit", output=result.tail()
    )


class Commands(port.Commands):
    """Runs programs; accounts are looked up again after each. ``log`` receives each line
    to report.
    """

    def __init__(self, context: "Context", log: Tell) -> None:
        super().__init__(context.commands, context.files, context.accounts)
        self.ended: Optional[Ended] = None
        self._context, self._log = context, log

    def run(
        self,
        argv: Sequence[str],
        *,
        user: Optional[str] = None,
        affects: Optional[Sequence[str]] = None,
        makes: Sequence[port.Made] = (),
    ) -> None:
        """See the base class. Accounts are read again afterwards, because the program may have
        changed them.
        """
        self.require(argv[0])
        try:
            result = self._adapter.run(argv, user=user)
        finally:
            self._accounts.forget()
        if result.code != 0:
            raise ResourceError(
                "%s: %s" % (argv[0], result.ending(None)),
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
        tries: RetryPolicy = ONCE,
    ) -> None:
        """See the base class. If ``creates`` appears, a code that is not accepted counts as
        success.
        """
        awaited = creates if creates and not self._files.exists(creates) else ""
        on_line = self._logging() if log else None
        failed = _FailedTries(self._context, tries)
        number = 1
        while True:
            self._context.progress(tries.label("running %s" % command.text, number))
            try:
                result = self._run(command, on_line)
            finally:
                self._accounts.forget()
                self.tries = number if tries.maximum > 1 else 0
            how = result.ending(command.timeout)
            code = None if result.timed_out else result.code
            self.ended = Ended(code, result.stdout, result.stderr, failed.text(number, how))
            if result.code in command.returns and not result.timed_out:
                return
            made = bool(awaited) and self._files.exists(awaited)
            if made and not result.timed_out and result.code >= 0:
                return  # it created its path; its event has the code
            if made or number == tries.maximum:  # it must not run once that exists
                raise _unsettled(result, command, number)
            failed.add(number, how, result)
            wait(self._context, tries, number)
            if awaited and self._files.exists(awaited):
                return
            number += 1

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
