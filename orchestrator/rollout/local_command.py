"""Commands of the user on the controller: gates and hooks (controller)."""

import json
import shlex
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from inventory.subprocesses import LastBytes, attend, running
from orchestrator.fleet.host.stage_host import host_in
from orchestrator.fleet.outcome import HostResult
from orchestrator.rollout.gates import GateTime
from orchestrator.rollout.scheduler import GateAnswer
from orchestrator.support.plain_text import one_line
from remote_runtime.reporting.masking import Mask


def parse_command(text: str) -> str:
    """Return a shell command line; ValueError if it is empty, because an empty line would always
    succeed.

    An empty command usually results from an unset variable.
    """
    if not text.strip():
        raise ValueError("the command is empty")
    return text


NOT_YET = 75  # EX_TEMPFAIL of sysexits.h
AGAIN = 10.0  # seconds between two questions
KEPT = 4_000  # bytes at the end of a command's output
SHOWN = 300
_LINGER = 0.5


class CommandResult(NamedTuple):
    """The result of a command: ``code`` is None if it was killed, ``output`` the end of its output,
    on one line and without logins in URLs.
    """

    code: int | None
    output: str


def run_command(command: str, message: Any, left: Callable[[], float]) -> CommandResult:
    """Run a shell command line with ``message`` as JSON on its standard input.

    When no time is ``left``, it is killed together with all processes that it started. OSError if
    there is no shell.
    """
    output = LastBytes(KEPT)
    with running(
        ["/bin/sh", "-c", command], stderr=subprocess.STDOUT, ends_with_run=True
    ) as process:
        data = json.dumps(message).encode("utf-8")
        code = attend(process, output, left=left, data=data, linger=_LINGER)
    text = Mask().text(bytes(output).decode("utf-8", "replace").strip())
    return CommandResult(code, one_line(text[-SHOWN:]))


class CommandGate:
    """A gate that is decided by a command: exit code 0 continues, 75 waits, and anything else
    stops.

    ``about`` is the information about the run in addition to the hosts of the wave, ``again`` the
    seconds until it runs again.
    """

    hears_all = True

    def __init__(
        self, command: str, seconds: float, about: dict[str, Any], again: float = AGAIN
    ) -> None:
        text = one_line(Mask().text(command), 60)
        quoted = shlex.quote(text)
        self.name = f"gate {quoted}" if quoted != text else f"gate '{text}'"
        self.seconds = seconds
        self._command = command
        self._about = about
        self._again = again

    def ask(self, wave: int, results: Sequence[HostResult], time_left: GateTime) -> GateAnswer:
        """Run it until it has a result, or until the timeout."""
        hosts = [{**result.record(), "host": host_in(result.host)} for result in results]
        message = {**self._about, "wave": wave, "hosts": hosts}
        ran = CommandResult(None, "")
        while time_left.left:
            before = ran
            try:
                ran = run_command(self._command, message, lambda: time_left.left)
            except OSError as error:
                return GateAnswer(f"{self.name} could not be started: {error.strerror}")
            if ran.code == 0:
                return GateAnswer()
            if ran.code is None and before.code == NOT_YET:
                ran = before  # the time ended in the middle of a question: its last answer counts
            if ran.code != NOT_YET:
                break
            time_left.sleep(self._again)
        if time_left.cancelled:
            return GateAnswer("the run was interrupted")
        return GateAnswer(f"{self.name} {failure_text(ran, self.seconds)}")


def failure_text(ran: CommandResult, seconds: float) -> str:
    """The message for a failed command, which had ``seconds`` of time."""
    if ran.code is None:
        how = f"timed out after {seconds:g} s"
    elif ran.code == NOT_YET:
        how = f"not ready (exit code 75) for {seconds:g} s"
    else:
        how = f"was killed by signal {-ran.code}" if ran.code < 0 else f"exited with {ran.code}"
    return f"{how}: {ran.output}" if ran.output else how
