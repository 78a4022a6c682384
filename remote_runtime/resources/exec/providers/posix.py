"""Runs a command without a shell (target)."""

from remote_runtime import provider


class Provider(provider.Provider):
    """The command line is split as a POSIX shell quotes; nothing in it is expanded."""

    name = "posix"
