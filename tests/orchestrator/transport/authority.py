"""A CA of SSH certificates, as ssh-keygen makes one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.orchestrator.transport.sshd import Sshd, make_key, public


class Authority:
    """A key that signs others."""

    def __init__(self, directory: Path, kind: str = "ed25519") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.key = make_key(directory / f"ca-{kind}", kind)

    @property
    def public(self) -> str:
        """Type and key."""
        return public(self.key)

    @property
    def public_file(self) -> Path:
        """What sshd's TrustedUserCAKeys names."""
        return Path(f"{self.key}.pub")

    def sign(self, key: Path, *options: str, to: Path | None = None) -> Path:
        """The certificate of a key, beside it unless it is to be elsewhere."""
        command = ["ssh-keygen", "-q", "-s", str(self.key), "-I", f"id of {key.name}"]
        subprocess.run([*command, *options, f"{key}.pub"], check=True)
        made = Path(f"{key}-cert.pub")
        return made if to is None else Path(shutil.move(made, to))

    def known(self, names: str = "*", marker: str = "@cert-authority") -> str:
        """A line of known_hosts."""
        return f"{marker} {names} {self.public}\n"


def certify(server: Sshd, authority: Authority, *options: str) -> None:
    """Have a server show a certificate of its first key, from now on."""
    made = authority.sign(server.host_keys[0], "-h", *options)
    server.config.write_text(f"{server.config.read_text()}HostCertificate {made}\n")
    server.stop()
    server.start()
