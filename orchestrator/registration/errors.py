"""Reasons why registrations could not be used (controller)."""

from remote_runtime.errors import CcmError


class RegistrationError(CcmError):
    """Registrations could not be read or written; not an error of a host."""

    default_kind = "registration"
