"""Reasons why a secret could not be read or written (controller)."""

from remote_runtime.errors import CcmError


class SecretError(CcmError):
    """A secret could not be read or written. The message never contains a part of it."""

    default_kind = "secret"
