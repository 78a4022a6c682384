"""The number of hosts that the system's limit on open files allows in parallel (controller)."""

import contextlib
import resource

from remote_runtime.errors import UsageError

PER_HOST = 5  # a socket and an agent's, or three pipes and a process, and a file being sent
RESERVED = 64  # used by the interpreter, the terminal and the run directory


def raise_limit(forks: int) -> None:
    """Raise the soft limit for ``forks`` hosts and for unresponsive ones; UsageError if the hard
    limit is too low for the former.
    """
    if forks < 1:
        raise UsageError(f"--forks must be at least 1, not {forks}")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = forks * PER_HOST + RESERVED
    preferred = (forks + _max_beside(forks)) * PER_HOST + RESERVED
    if soft == resource.RLIM_INFINITY or soft >= preferred:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        possible = max(0, (hard - RESERVED) // PER_HOST)
        raise UsageError(
            f"--forks {forks} needs about {needed} open files, but this system allows {hard}",
            kind="usage.forks",
            hint=f"use --forks {possible} or less, or raise the limit (ulimit -Hn)"
            if possible
            else "raise the limit (ulimit -Hn)",
        )
    if soft < needed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        except (OSError, ValueError) as error:
            raise UsageError(
                (
                    f"--forks {forks} needs about {needed} open files, but raising the limit "
                    f"failed: {error}"
                ),
                kind="usage.forks",
                hint=f"use --forks {max(1, (soft - RESERVED) // PER_HOST)} or less",
            ) from error
    maximum = preferred if hard == resource.RLIM_INFINITY else min(preferred, hard)
    with contextlib.suppress(OSError, ValueError):  # there is then less room for unresponsive hosts
        resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, hard))


def spare_descriptors(forks: int) -> int:
    """The number of unresponsive hosts that fit in addition to ``forks`` others, within the soft
    limit.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _max_beside(forks)
    return min(_max_beside(forks), max(0, (soft - RESERVED) // PER_HOST - forks))


def _max_beside(forks: int) -> int:
    """The maximum number of unresponsive hosts: as many as forks; none for a single fork, because
    its hosts run one after the other.
    """
    return forks if forks > 1 else 0
