"""Runs the guard with /bin/sh -c (target)."""

from remote_runtime.resources.exec.providers import shell
from remote_runtime.resources.reboot.shutdown import Going


class Provider(Going, shell.Provider):
    """Reboots a host with what its system has for that."""
