"""The locks of dnf and rpm (target)."""

from typing import Optional

from remote_runtime.packages import locks

PID_LOCKS = (
    "/var/lib/dnf/rpmdb_lock.pid",
    "/var/cache/dnf/metadata_lock.pid",
    "/var/cache/dnf/download_lock.pid",
)
RECORD_LOCKS = (
    "/var/lib/rpm/.rpm.lock",
    "/usr/lib/sysimage/rpm/.rpm.lock",
    "/run/dnf/rpmtransaction.lock",
)


def holder() -> Optional[locks.Holder]:
    """Return the process that holds a lock that a transaction needs."""
    return locks.holder_of_pid_files(PID_LOCKS) or locks.holder(RECORD_LOCKS)
