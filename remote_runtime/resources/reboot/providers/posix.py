"""Runs the guard without a shell (target)."""

from remote_runtime.resources.exec.providers.posix import Provider

__all__ = ["Provider"]
