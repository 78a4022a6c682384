"""The npm of the host (target)."""

from remote_runtime.packages.managers.npm import Npm as Provider

__all__ = ["Provider"]
