"""The plan files that this host has applied; it applies each only once (target)."""

from typing import TYPE_CHECKING

from remote_runtime.errors import HostError
from remote_runtime.reporting.events import timestamp
from remote_runtime.system.push_lock import run_words
from remote_runtime.system.state_store import StateError, StateStore

if TYPE_CHECKING:
    from remote_runtime.plans.plan_file_check import Binding

KIND = "plans"
_SPARE = 7 * 86400  # seconds that a note outlives its plan, which may still wait for a lock


def mark_used(
    memory: StateStore, binding: "Binding", *, run_id: str, user: str, now: float
) -> None:
    """Record on disk that a plan is used; ``HostError`` if it was used before, or if recording
    fails.

    The caller holds the host's lock. ``now`` is the time of this host's clock.
    """
    serial = binding.serial
    try:
        if not (serial.isalnum() and len(serial) >= 16):
            raise StateError("the plan has an invalid serial number")
        record = memory.read(KIND, serial)
        if record is None:
            used = {"run_id": run_id, "user": user, "since": timestamp(now)}
            memory.write(KIND, serial, dict(used, expires=binding.expires))
            _drop_expired(memory, min(now, binding.created) - _SPARE)
            return
    except StateError as error:
        raise HostError(
            "could not record that the plan was used: %s" % error.message,
            kind="plan.refused.unrecorded",
            hint=(
                "nothing was changed on this host; make the state directory writable, and "
                "owned by this user"
            ),
        ) from error
    raise HostError(
        "the plan was already used on this host by %s" % run_words(record),
        kind="plan.refused.used",
        hint="a plan can be used once per host; create a new plan",
    )


def require_own(memory: StateStore, binding: "Binding", run_id: str) -> None:
    """``HostError`` unless this run used the plan, with which it continues."""
    try:
        record = memory.read(KIND, binding.serial) or {}
    except StateError:
        record = {}
    if record.get("run_id") != run_id:
        raise HostError(
            "the run cannot continue: the record of its plan is missing",
            kind="plan.refused.used",
            hint="find out what happened to the state directory, then create a new plan",
        )


def _drop_expired(memory: StateStore, before: float) -> None:
    """Remove the records of plans that have expired for everybody at that time.

    They must be expired by both this host's clock and that of the author of the current plan, so a
    clock that jumps ahead does not make a plan usable again.
    """
    for serial in memory.names(KIND):
        try:
            expires = (memory.read(KIND, serial) or {}).get("expires")
            if isinstance(expires, int) and expires < before:
                memory.forget(KIND, serial)
        except StateError:
            continue  # it refuses that plan; the one that is being used is noted
