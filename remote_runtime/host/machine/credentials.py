"""Encrypted credentials of the machine (target)."""

from typing import TYPE_CHECKING

from remote_runtime.errors import ResourceError
from remote_runtime.host import credential_ports
from remote_runtime.host.credential_ports import LARGEST, PROGRAM, SECONDS

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import Files
    from remote_runtime.system.process.commands import Commands as Adapter

MODE = 0o600


class Credentials(credential_ports.Credentials):
    """Encrypts with systemd-creds; the key of the host is created on first use."""

    def __init__(self, files: "Files", adapter: "Adapter") -> None:
        super().__init__(files, adapter)
        self._files = files

    def write(self, name: str, path: str, value: bytes, key: str) -> None:
        """See the base class. systemd-creds gets the value on its standard input and returns the
        encrypted text.
        """
        self.require()
        self._files.require_file_place(path)
        options = ["--name=%s" % name, "--with-key=%s" % key]
        with self._adapter.protected():
            result = self._adapter.run(
                [PROGRAM, "encrypt", *options, "-", "-"],
                input=value,
                timeout=SECONDS,
                limit=LARGEST,
            )
        if result.code or not result.stdout.strip():
            raise ResourceError(
                "could not encrypt the credential %s: %s" % (name, result.ending(None)),
                kind="resource.credential",
                hint="set key: host, which does not require a TPM" if "tpm" in key else "",
                output=result.tail(),
            )
        self._files.write(path, result.stdout.encode("ascii"), mode=MODE)
