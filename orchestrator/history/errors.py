"""Errors of a shared history, which never make a run fail (controller)."""

from remote_runtime.errors import CcmError


class HistoryError(CcmError):
    """The history refuses a run, or cannot be used in its current state."""

    default_kind = "history"


class HistoryUnreachableError(HistoryError):
    """The history cannot be reached now; a later attempt may succeed."""

    default_kind = "history.away"
