"""What a resource type says of its resource (target): steps, differences, what is missing."""

from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence

from remote_runtime.errors import ResourceError


class Change(NamedTuple):
    """One property that differs: the record that preview, report and events all show.

    ``diff`` is a unified diff, "binary", or a line with sizes and hashes; None where it says
    nothing.
    """

    what: str
    before: Any
    after: Any
    diff: Optional[str] = None

    def record(self) -> Dict[str, Any]:
        """The form that stands in a transaction event."""
        entry = {"what": self.what, "from": self.before, "to": self.after}
        if self.diff is not None:
            entry["diff"] = self.diff
        return entry


class Condition(NamedTuple):
    """Something a resource needs on the target, or that an action makes true.

    ``kind``: path, directory, user, group, unit, program or anything. A pending ``anything`` (a
    package, an exec) may satisfy every condition.
    """

    kind: str
    value: str = ""


class Action(NamedTuple):
    """One step towards the desired state: how noop words it, the call, and the records of it.

    ``provides`` are the conditions that hold for certain once the call has succeeded, except kind
    ``anything``, which says that any condition may hold then.
    """

    message: str
    call: Callable[[], None]
    changes: Sequence[Change] = ()
    provides: Sequence[Condition] = ()


class Ended(NamedTuple):
    """How the command of a resource ended, for its event; ``code`` None for one whose time was up,
    negative (minus the signal) for one that was killed."""

    code: Optional[int]
    stdout: str
    stderr: str


class Missing(ResourceError):  # noqa: N818  (it names what is the case, not an error)
    """A condition on the target is not met.

    In noop, where an earlier pending action may satisfy it, the lifecycle reports ``would`` with an
    unknown prediction and the message as the reason; everywhere else this fails the resource.
    ``reason`` stands in for the lifecycle's own words about the earlier action, where they do not
    fit.
    """

    default_kind = "resource.missing"

    def __init__(
        self,
        condition: Condition,
        message: str,
        *,
        would: Sequence[Action] = (),
        hint: str = "",
        reason: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.condition = condition
        self.would = list(would)
        self.reason = reason
