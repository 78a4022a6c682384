"""How many hosts at a time the system's limit on open files allows (controller)."""

import resource

from remote_runtime.errors import UsageError

PER_HOST = 5  # a socket and an agent's, or three pipes and a process, and a file being sent
RESERVED = 64  # what the interpreter, the terminal and the run folder hold


def make_room(forks: int) -> None:
    """Raise the soft limit as far as ``forks`` hosts need; UsageError if the hard one is less."""
    if forks < 1:
        raise UsageError(f"--forks must be at least 1, not {forks}")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = forks * PER_HOST + RESERVED
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        possible = max(0, (hard - RESERVED) // PER_HOST)
        raise UsageError(
            f"--forks {forks} needs about {needed} open files, this system allows {hard}",
            kind="usage.forks",
            hint=f"use --forks {possible} or less, or raise the limit (ulimit -Hn)"
            if possible
            else "raise the limit (ulimit -Hn)",
        )
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--forks {forks} needs about {needed} open files, which were refused: {error}",
            kind="usage.forks",
            hint=f"use --forks {max(1, (soft - RESERVED) // PER_HOST)} or less",
        ) from error
