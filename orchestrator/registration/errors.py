"""Why registrations could not be used (controller)."""

from remote_runtime.errors import CcmError


class RegistrationError(CcmError):
    """Registrations could not be read or written; no host is to blame."""

    default_kind = "registration"
