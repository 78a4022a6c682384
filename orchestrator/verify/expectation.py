"""Expectations of a host, and their comparison with testinfra's results (controller)."""

import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from orchestrator.support.plain_text import one_line
from remote_runtime.reporting.masking import MASKED, Mask

MAX_LENGTH = 200
_UNKNOWN = 2  # getent's exit code for an unknown name

_UNEXPECTED = (AssertionError, RuntimeError, ValueError, IndexError, NotImplementedError)

_OTHERS = ("testinfra.", "remote_runtime.resources.")  # custom types are among the latter

Host = Any
"""A host of testinfra, which has no type hints."""
Ask = Callable[[Host], Any]


class Expectation(NamedTuple):
    """One property of a resource: its expected value, and the query for testinfra.

    ``holds`` checks the answer; ``tell`` describes a failure, and may run more commands. If a
    ``gate`` fails, the expectations after it are not checked: those of its ``group``, or all
    without one. If an expectation needs the user's own ``commands``, the runtime runs them, and
    ``find`` and ``tell`` receive the event.
    """

    what: str
    expected: str
    find: Ask
    holds: Callable[[Any], bool]
    tell: Callable[[Any, Any], str] | None = None
    gate: bool = False
    group: str = ""
    commands: bool = False


def equal(what: str, expected: Any, find: Ask, shown: Callable[[Any], str] = str) -> Expectation:
    """An expectation of exactly one value."""
    return Expectation(
        what,
        shown(expected),
        find=find,
        holds=lambda found: bool(found == expected),
        tell=lambda host, found: shown(found),
    )


def answer(
    host: Any, command: str, *words: str, problem: str = "",
    valid: Callable[[str], bool] = lambda text: True,
) -> str:  # fmt: skip
    """The output of a command on the host.

    RuntimeError if it fails or prints nothing valid: with its output, otherwise with the
    ``problem``.
    """
    result = host.run(command, *words)
    text = str(result.stdout)
    if result.rc or not valid(text):
        reason = problem or f"{command.split()[0]} exited with {result.rc}"
        raise RuntimeError(result.stderr.strip() or reason)
    return text


def lines_before(end: str, host: Any, command: str, *words: str) -> list[str]:
    """The lines that a command prints before ``end``, its last line. RuntimeError if
    that line is missing.
    """
    text = answer(
        host, command, *words, end, problem="the host did not print all of the output",
        valid=lambda text: text.splitlines()[-1:] == [end],
    )  # fmt: skip
    return text.splitlines()[:-1]


def entry(host: Any, database: str, name: str, least: int) -> list[str]:
    """The fields of an entry in a getent database, at least ``least``; empty without an entry.

    RuntimeError.
    """
    result = host.run("getent %s %s", database, name)
    if result.rc == _UNKNOWN:
        return []
    fields = str(result.stdout).rstrip("\n").split(":")
    if result.rc or len(fields) < least:
        raise RuntimeError(result.stderr.strip() or f"getent exited with {result.rc}")
    return fields


class Observation(NamedTuple):
    """An answer of the host: ``holds``, or the actual value."""

    holds: bool
    instead: str = ""


class Mismatch(NamedTuple):
    """One line of a report: the property, the expected value and the actual one."""

    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, found {self.found}"


def look(expectation: Expectation, host: Any, mask: Mask) -> Observation:
    """Query the host; a query without an answer is a failed expectation.

    Expectations with commands use an event instead of the host. The answer is masked before it is
    shortened, because half a secret would not be found.
    """
    try:
        observation = expectation.find(host)
        if expectation.holds(observation):
            return Observation(True)
        told = expectation.tell(host, observation) if expectation.tell else str(observation)
        return Observation(False, one_line(mask.text(told), MAX_LENGTH))
    except (Exception, SystemExit) as error:
        # testinfra's modules, and a site's own checks, raise anything at an unexpected answer.
        if not isinstance(error, _UNEXPECTED) and not _is_of_others(error):
            raise
        reason = one_line(mask.text(_reason(error, host)), MAX_LENGTH)
        return Observation(False, f"no result ({reason})")


def judge(
    expectations: Sequence[Expectation], answers: Sequence[Observation], mask: Mask, hidden: bool
) -> list[Mismatch]:
    """The failures that do not follow from a failed gate; ``hidden`` values are secret."""
    result = []
    shut: set[str] = set()
    for expectation, observed in zip(expectations, answers, strict=True):
        if observed.holds or shut & {"", expectation.group}:
            continue
        expected, instead = mask.text(expectation.expected), mask.text(observed.instead)
        if hidden and not expectation.gate:
            expected, instead = MASKED, MASKED
        result.append(Mismatch(expectation.what, one_line(expected, MAX_LENGTH), instead))
        if expectation.gate:
            shut.add(expectation.group)
    return result


def _is_of_others(error: BaseException) -> bool:
    """Whether the error was raised by testinfra or a custom type, rather than ccm."""
    modules = [
        str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    ours = [at for at, name in enumerate(modules) if name.startswith("orchestrator.")]
    return any(name.startswith(_OTHERS) for name in modules[ours[-1] + 1 if ours else 0 :])


def _reason(error: BaseException, host: Any) -> str:
    """The reason why there is no answer: testinfra's message contains the complete
    command and its bytes.
    """
    last = getattr(getattr(host, "backend", None), "last", None)
    if last is None or not isinstance(error, AssertionError):
        return str(error) or type(error).__name__
    output = last.stderr.strip() or last.stdout.strip()
    return output or f"exit code {last.rc}"
