"""Encrypted credentials of the machine (target)."""

import os
from base64 import b64decode
from typing import TYPE_CHECKING, Optional

from remote_runtime.errors import ResourceError
from remote_runtime.host import credential_ports
from remote_runtime.host.credential_ports import PROGRAM

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import FileReader, Files
    from remote_runtime.system.process.commands import Commands as Door

MODE = 0o600
_LARGEST = 4 << 20  # bytes: systemd reads 1 MiB, which base64 makes longer
_SECONDS = 60.0  # a TPM is slow


class CredentialReader(credential_ports.CredentialReader):
    """Has systemd-creds decrypt, on the machine also where ``files`` are those of an overlay."""

    def __init__(self, files: "FileReader", door: "Door") -> None:
        self._paths, self._door = files, door

    def value(self, name: str, path: str) -> Optional[bytes]:
        """See the base class."""
        self.require()
        self._paths.read(path, _LARGEST)  # refused for a link of another user
        return self.decrypted(name, path)

    def decrypted(self, name: str, path: str, data: Optional[bytes] = None) -> Optional[bytes]:
        """The value in the file at a path, or in ``data``, the content that it will have."""
        # base64, since the output of a program is kept as text
        options = ["--name=%s" % name, "--transcode=base64", "--newline=no"]
        result = self._door.run(
            [PROGRAM, "decrypt", *options, path if data is None else "-", "-"],
            input=data,
            timeout=_SECONDS,
            limit=_LARGEST,
        )
        return None if result.code else b64decode(result.stdout.encode("ascii"))

    def require(self) -> None:
        """``ResourceError`` without the program, or for a user who may not read the host's key."""
        why, _ = self._door.lacking(PROGRAM)
        if why:
            raise ResourceError(
                why,
                kind="resource.command",
                hint="encrypted credentials need systemd 250 or newer",
            )
        if os.geteuid() != 0:
            raise ResourceError(
                "only root may read and write encrypted credentials",
                kind="resource.credential",
                hint="use become for the host, or connect as root",
            )


class Credentials(CredentialReader, credential_ports.Credentials):
    """Has systemd-creds encrypt; the key of the host is made with the first one."""

    def __init__(self, files: "Files", door: "Door") -> None:
        super().__init__(files, door)
        self._files = files

    def write(self, name: str, path: str, value: bytes, key: str) -> None:
        """See the base class."""
        self.require()
        self._files.require_file_place(path)
        options = ["--name=%s" % name, "--with-key=%s" % key]
        with self._door.protected():
            result = self._door.run(
                [PROGRAM, "encrypt", *options, "-", "-"],
                input=value,
                timeout=_SECONDS,
                limit=_LARGEST,
            )
        if result.code or not result.stdout.strip():
            raise ResourceError(
                "could not encrypt the credential %s: %s" % (name, result.ending(None)),
                kind="resource.credential",
                hint="key: host needs no TPM" if "tpm" in key else "",
                output=result.tail(),
            )
        self._files.write(path, result.stdout.encode("ascii"), mode=MODE)
