"""The apt of the host (target)."""

from remote_runtime.packages.managers.apt import Apt as Provider

__all__ = ["Provider"]
