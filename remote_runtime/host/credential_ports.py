"""The port to encrypted credentials of systemd (target). See ``ports`` for what all ports share."""

from typing import Optional

PROGRAM = "systemd-creds"


class CredentialReader(object):
    """Reads encrypted credentials."""

    def value(self, name: str, path: str) -> Optional[bytes]:
        """The value that a file holds for the credential of this name. None where the host cannot
        decrypt it: its key or its name differs, or the file is damaged."""
        raise NotImplementedError


class Credentials(CredentialReader):
    """Reads and writes encrypted credentials."""

    def write(self, name: str, path: str, value: bytes, key: str) -> None:
        """Encrypt a value for this host, and put the file there in one rename, with mode 0600.

        ``key`` is what ``--with-key`` of systemd-creds takes. Each call gives another file content.
        """
        raise NotImplementedError
