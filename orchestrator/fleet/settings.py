"""What the user chose for a run, as far as every host is concerned (controller)."""

from typing import Any, NamedTuple


class Settings(NamedTuple):
    """``timeout`` and ``lock_timeout`` are seconds; a ``timeout`` of 0 is no bound for one host."""

    run_id: str
    user: str
    noop: bool = False
    monitor_only: bool = False
    diff: bool = True
    diff_private: bool = False
    timeout: float = 0.0
    lock_timeout: float = 60.0
    status_only: bool = False

    def envelope(self) -> dict[str, Any]:
        """The members of the plan frame that do not come from the manifest."""
        return {
            "run_id": self.run_id,
            "user": self.user,
            "noop": self.noop,
            "monitor_only": self.monitor_only,
            "facts_only": False,
            "status_only": self.status_only,
            "diff": self.diff,
            "diff_private": self.diff_private,
            "timeout": 0,  # the controller bounds the host's run; a second clock would only race it
            "lock_timeout": self.lock_timeout,
        }
