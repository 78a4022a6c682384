"""The results of a resource type for its resource (target): steps, differences, missing
conditions."""

from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional, Sequence

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.effects import Effect
    from remote_runtime.system.files import Files
    from remote_runtime.system.paths import Status

HASHED = "sha256:"
"""The prefix of the hash of a content in a record."""

_LARGE = 1 << 30  # bytes


class Change(NamedTuple):
    """One property that differs: the record in the preview, the report and the events.

    ``diff`` is a unified diff, "binary", or a line with sizes and hashes; None for no diff.
    """

    what: str
    before: Any
    after: Any
    diff: Optional[str] = None

    def record(self) -> Dict[str, Any]:
        """Return the form in a transaction event."""
        entry = {"what": self.what, "from": self.before, "to": self.after}
        if self.diff is not None:
            entry["diff"] = self.diff
        return entry


def differs_by_size(actual: int, size: Optional[int]) -> bool:
    """Return whether the size alone shows that a file of ``actual`` bytes does not have the
    expected ``size``, and hashing would take too long.

    The owner of a file can make it as large as they like, without using disk space. None means
    unknown content.
    """
    return actual > _LARGE and actual != size


def content_before(files: "Files", path: str, status: "Status", size: Optional[int]) -> str:
    """Return the record of the content of a file that should have ``size`` bytes: its hash, or its
    size if ``differs_by_size``.
    """
    if differs_by_size(status.size, size):
        return "%d bytes" % status.size
    return HASHED + files.sha256(path, status)


def shortened(value: Any) -> Any:
    """Return a value of a record for an error message: the first twelve digits of a
    content hash.
    """
    is_hash = isinstance(value, str) and value.startswith(HASHED)
    return value[: len(HASHED) + 12] if is_hash else value


class Action(NamedTuple):
    """One step towards the desired state: its noop message, the call, and its change records.

    ``effects`` are the effects of the call, for previews of later resources. ``preflight`` is only
    called in a preview: it raises the errors of ``call``, if known without changing anything.
    ``unfinished`` are the effects that remain in that case.
    """

    message: str
    call: Callable[[], None]
    changes: Sequence[Change] = ()
    effects: "Sequence[Effect]" = ()
    preflight: Optional[Callable[[], None]] = None
    unfinished: "Sequence[Effect]" = ()


class Ended(NamedTuple):
    """The end of a resource's command, for its event; ``code`` is None after a timeout, and
    negative (minus the signal) if a signal killed it.

    ``before`` is the output of its failed tries, bounded and masked, and ends with a line about the
    last try.
    """

    code: Optional[int]
    stdout: str
    stderr: str
    before: str = ""


class Missing(ResourceError):  # noqa: N818 - a missing condition; previews catch it
    """A condition on the target is not met; ``would`` describes the change that would be made
    otherwise.
    """

    default_kind = "resource.missing"

    would: Sequence[Action] = ()


class Unknowable(Missing):
    """In a preview: a required value depends on an earlier change in an unknown way.

    The message is the reason.
    """

    default_kind = "resource.unknowable"
