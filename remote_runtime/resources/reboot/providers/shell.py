"""Runs the guard with /bin/sh -c (target)."""

from remote_runtime.resources.exec.providers.shell import Provider

__all__ = ["Provider"]
