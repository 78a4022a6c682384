"""The pip of the host (target)."""

from remote_runtime.packages.managers.pip import Pip as Provider

__all__ = ["Provider"]
