"""The dnf of the host (target)."""

from remote_runtime.packages.managers.dnf import Dnf as Provider

__all__ = ["Provider"]
