"""A real sshd on loopback, with keys of its own, for the user that runs the tests."""

from __future__ import annotations

import functools
import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.orchestrator.transport.fakes import Host


@functools.lru_cache(maxsize=1)
def sshd_path() -> str:
    """The server's program, installed if need be and possible; skips the test otherwise."""
    found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-y", "--no-install-recommends", "openssh-server"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(install, env=environment, capture_output=True, timeout=300, check=False)
        found = shutil.which("sshd", path="/usr/sbin")
    if found is None:
        pytest.skip("there is no sshd: install openssh-server")
    return found


@functools.lru_cache(maxsize=1)
def _privileges_directory() -> None:
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """A new key pair."""
    command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def public(path: Path) -> str:
    """Type and key, as known_hosts and authorized_keys have them."""
    return " ".join(Path(f"{path}.pub").read_text().split()[:2])


class Sshd:
    """One server; ``options`` are lines of its configuration."""

    def __init__(
        self, directory: Path, *options: str, kinds: tuple[str, ...] = ("ed25519",)
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.host_keys = [make_key(directory / f"host_{kind}", kind) for kind in kinds]
        self.user_key = make_key(directory / "user")
        self.authorized = directory / "authorized"
        self.authorized.write_text(public(self.user_key) + "\n")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        lines = [
            *options,
            "ListenAddress 127.0.0.1",
            f"AuthorizedKeysFile {self.authorized}",
            "PidFile none",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            *(f"HostKey {key}" for key in self.host_keys),
        ]
        self.config = directory / "sshd_config"
        self.config.write_text("\n".join(lines) + "\n")
        self.known_hosts = directory / "known_hosts"
        self.known_hosts.write_text(
            "".join(f"{self.name} {public(key)}\n" for key in self.host_keys)
        )
        self.start()

    @property
    def name(self) -> str:
        """The server in known_hosts."""
        return f"[127.0.0.1]:{self.port}"

    @property
    def pid(self) -> int:
        """The process that listens."""
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until it listens."""
        _privileges_directory()
        command = [sshd_path(), "-D", "-e", "-p", str(self.port), "-f", str(self.config)]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)
        for _ in range(200):
            if self._process.poll() is not None:
                raise RuntimeError((self.directory / "log").read_text())
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError("sshd does not listen")

    def stop(self) -> None:
        """End the server; sessions under way go on."""
        self._process.terminate()
        self._process.wait(10)

    def log(self) -> str:
        """What the server said."""
        return (self.directory / "log").read_text()

    def host(self, **changes: Any) -> Host:
        """The server as a host of an inventory."""
        values: dict[str, Any] = {
            "port": self.port,
            "user": getpass.getuser(),
            "key_file": str(self.user_key),
            "known_hosts": str(self.known_hosts),
            "connect_timeout": 10.0,
        }
        return Host(**{**values, **changes})
