"""Retries of operations that can fail temporarily, such as a download (target; rules on both
sides)."""

from typing import TYPE_CHECKING, Callable, Mapping, NamedTuple

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from typing import TypeVar

    from remote_runtime.context import Context

    Result = TypeVar("Result")

_PAUSE = "1s"  # between two tries


class TransientError(ResourceError):
    """An operation that may succeed if it is repeated."""


class RetryPolicy(NamedTuple):
    """The maximum number of tries, and the seconds between two tries."""

    maximum: int = 1
    pause: float = 0.0

    def label(self, what: str, number: int) -> str:
        """Return a message with the number of the try, if there may be several."""
        return what if self.maximum == 1 else "%s (try %d of %d)" % (what, number, self.maximum)


ONCE = RetryPolicy()


def tries_of(properties: Mapping[str, object]) -> RetryPolicy:
    """Return the settings from the properties ``tries`` and ``try_sleep``."""
    maximum = properties.get("tries")
    if not isinstance(maximum, int) or maximum <= 1:
        return ONCE
    from remote_runtime.text import duration

    return RetryPolicy(maximum, duration.parse(str(properties.get("try_sleep") or _PAUSE)))


def attempts_note(number: int) -> str:
    """Return the part of an error that mentions the number of tries; "" for a single try."""
    return "" if number == 1 else " (%d tries)" % number


def retry(
    context: "Context",
    tries: RetryPolicy,
    step: "Callable[[int], Result]",
    may_help: Callable[[ResourceError], bool],
) -> "Result":
    """Call ``step`` with the number of the try until it succeeds, and return its result.

    If another try would not help, or the last allowed one has failed, its error is raised.
    ``Cancelled`` at once if the run must end during a pause.
    """
    number = 1
    while True:
        try:
            return step(number)
        except ResourceError as error:
            if number >= tries.maximum or not may_help(error):
                error.message += attempts_note(number)
                raise
            wait(context, tries, number)
        number += 1


def wait(context: "Context", tries: RetryPolicy, number: int) -> None:
    """Pause after this try; ``Cancelled`` as soon as the run must end."""
    context.progress("waiting %g s after try %d of %d" % (tries.pause, number, tries.maximum))
    context.sleep(tries.pause)


def is_transient(error: ResourceError) -> bool:
    """Return whether another try may help."""
    return isinstance(error, TransientError)
