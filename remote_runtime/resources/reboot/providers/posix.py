"""Runs the guard without a shell (target)."""

from remote_runtime.resources.exec.providers import posix
from remote_runtime.resources.reboot.shutdown import Going


class Provider(Going, posix.Provider):
    """Reboots a host with what its system has for that."""
