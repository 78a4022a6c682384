"""The kept plans that this host has carried out, each of which it does once (target)."""

import time

from remote_runtime.errors import HostError
from remote_runtime.events import timestamp
from remote_runtime.system.memory import Memory, StateError

KIND = "plans"


def use_up(memory: Memory, serial: str, *, run_id: str, user: str) -> None:
    """Note on the disk who uses a plan; ``HostError`` where it was used, or that cannot be noted.

    The host's lock is held.
    """
    try:
        if not (serial.isalnum() and len(serial) >= 16):
            raise StateError("the plan has no proper serial number")
        record = memory.read(KIND, serial)
        if record is None:
            since = timestamp(time.time())
            memory.write(KIND, serial, {"run_id": run_id, "user": user, "since": since})
            return
    except StateError as error:
        raise HostError(
            "it cannot be noted that the plan is used: %s" % error.message,
            kind="plan.refused.unrecorded",
            hint="nothing was changed here; make the state folder this user's own and writable",
        ) from error
    who = tuple([str(record.get(key, "?"))[:100] for key in ("run_id", "user", "since")])
    raise HostError(
        "the plan was used here before: run %s of %s, at %s" % who,
        kind="plan.refused.used",
        hint="a plan is carried out once on each host; plan anew",
    )
