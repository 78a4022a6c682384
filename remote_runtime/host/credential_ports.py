"""The port for systemd's encrypted credentials (target). See ``ports`` for the common rules of all
ports.
"""

import os
from base64 import b64decode
from typing import TYPE_CHECKING, Optional

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import FileReader
    from remote_runtime.system.process.commands import Commands as Adapter

PROGRAM = "systemd-creds"
LARGEST = 4 << 20  # bytes: systemd reads 1 MiB, which base64 makes longer
SECONDS = 60.0  # a TPM is slow


class CredentialReader(object):
    """Reads encrypted credentials: systemd-creds decrypts on the machine, even if ``files`` are
    those of an overlay.
    """

    def __init__(self, files: "FileReader", adapter: "Adapter") -> None:
        self._paths, self._adapter = files, adapter

    def value(self, name: str, path: str) -> Optional[bytes]:
        """The value in a file, for the credential with this name. None if the host cannot decrypt
        it, because its key or name differs or the file is damaged.
        """
        self.require()
        self._paths.read(path, LARGEST)  # refused for a link of another user
        return self.decrypted(name, path)

    def decrypted(self, name: str, path: str, data: Optional[bytes] = None) -> Optional[bytes]:
        """The value in the file at a path, or in ``data``, its future content."""
        # base64, since the output of a program is stored as text
        options = ["--name=%s" % name, "--transcode=base64", "--newline=no"]
        result = self._adapter.run(
            [PROGRAM, "decrypt", *options, path if data is None else "-", "-"],
            input=data,
            timeout=SECONDS,
            limit=LARGEST,
        )
        return None if result.code else b64decode(result.stdout.encode("ascii"))

    def require(self) -> None:
        """``ResourceError`` if the program is missing, or the user may not read the host's key."""
        reason, _ = self._adapter.lacking(PROGRAM)
        if reason:
            raise ResourceError(
                reason,
                kind="resource.command",
                hint="encrypted credentials require systemd 250 or newer",
            )
        if os.geteuid() != 0:
            raise ResourceError(
                "only root may read and write encrypted credentials",
                kind="resource.credential",
                hint="use become for the host, or connect as root",
            )


class Credentials(CredentialReader):
    """Reads and writes encrypted credentials."""

    def write(self, name: str, path: str, value: bytes, key: str) -> None:
        """Encrypt a value for this host, and write the file in one rename, with mode 0600.

        ``key`` is the value of ``--with-key`` of systemd-creds. Each call results in different
        content.
        """
        raise NotImplementedError
