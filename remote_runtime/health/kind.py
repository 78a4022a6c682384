"""The base class for each kind of goss resource (target; its tables are read on both sides)."""

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.process.commands import Result

Rule = Mapping[str, Any]
ObservedValues = Dict[str, Any]

# The types of attributes. ``text`` is never a number: 0644 and 1.10 reach us as 420 and 1.1.
BOOLEAN, NUMBER, TEXT, SCALAR, LIST, LINES, ANYTHING = (
    "true or false", "a number", "text", "text or a number", "a list", "a list of patterns", "",
)  # fmt: skip

MILLISECOND = 0.001


class CannotTellError(ResourceError):
    """A rule cannot be evaluated on this host, which is not the same as a failure."""

    default_kind = "resource.health"


def nothing(reason: str, attributes: Iterable[str]) -> ObservedValues:
    """Return the values of a missing thing: it does not exist, and each other attribute reports
    ``reason``."""

    def missing() -> Any:
        raise ResourceError(reason)

    return dict(dict.fromkeys(attributes, missing), exists=False)


class Kind(object):
    """One kind of resource; ``kinds/NAME.py`` contains its only subclass.

    ``attributes`` are compared, in this order; the first one is required if ``gate`` is true, and
    if it is ``decisive`` the others are skipped when it does not match. ``settings`` configure the
    check. ``identity`` is the setting that replaces the key of the rule.
    """

    identity = ""
    gate = True
    decisive = True
    attributes: Mapping[str, str] = {}
    settings: Mapping[str, str] = {}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        """Return (property, message, hint) for rules that the tables above cannot express; the
        property "" is the subject.
        """
        return []

    def shown(self, subject: str) -> str:
        """Return the name of the subject in reports."""
        return subject

    def observe(self, subject: str, rule: Rule, probe: "Probe") -> ObservedValues:
        """Return the current values, by attribute; a callable is only called when it is compared.

        ``CannotTellError`` if the host lacks the means to read it; any other ``ResourceError``
        fails the attribute with its reason.
        """
        raise NotImplementedError


class Probe(object):
    """Reads the host for a kind of check, within the remaining time."""

    def __init__(self, context: "Context", remaining: Callable[[], Optional[float]]) -> None:
        self.context = context
        self.left = remaining

    def bound(self, seconds: float) -> float:
        """Return the given seconds, limited to the remaining time of the check."""
        left = self.left()
        return seconds if left is None else min(seconds, left)

    def patience(self, rule: Rule, default: float) -> float:
        """Return the seconds that the rule's own ``timeout``, in milliseconds, allows."""
        timeout = rule.get("timeout")
        return self.bound(float(timeout) * MILLISECOND if timeout else default)

    def run(self, argv: List[str], seconds: float = 60.0) -> "Result":
        """Run a command of the system; ``CannotTellError`` if the program does not exist."""
        if not self.context.commands.find(argv[0]):
            raise CannotTellError("program %s not found on this host" % argv[0])
        result = self.context.commands.run(argv, timeout=self.bound(seconds))
        if result.timed_out:
            raise ResourceError("%s timed out" % argv[0])
        return result

    def wait(self, seconds: float, call: Callable[[], Any]) -> Any:
        """Call a function that may block, in a thread; ``ResourceError`` once the time has run out,
        ``Cancelled``.

        A thread that is still blocked then is abandoned; it ends with the process.
        """
        import os

        from remote_runtime.cancellation import await_input
        from remote_runtime.stdlib_light.threads import Thread

        ours, theirs = os.pipe()  # each side closes its end: the thread may outlive this call
        outcome: List[Any] = []

        def work() -> None:
            try:
                outcome.append((call(), None))
            except Exception as error:  # the waiting thread raises it again
                outcome.append((None, error))
            finally:
                os.close(theirs)

        Thread(work).start()
        try:
            wakeup = self.context.cancellation.wakeup
            await_input([ours, wakeup], seconds)
        finally:
            os.close(ours)
        self.context.check_cancelled()
        if not outcome:
            raise ResourceError("no response within %s" % _spelt(seconds))
        value, error = outcome[0]
        if error is not None:
            raise error
        return value


def _spelt(seconds: float) -> str:
    return "%.3g s" % seconds if seconds >= 1 else "%d ms" % round(seconds * 1000)
