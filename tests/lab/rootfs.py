"""A host's root: the base below, a layer of its own on top, and what makes it that host's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import recipe
from .machine import run_tool

Prepare = Callable[[Path], None]
"""Something that is done to a host's root before it boots."""

_MAX_SYMLINKS = 40


@dataclass(frozen=True)
class Identity:
    """What distinguishes one host of a lab from the next.

    `hosts_file` is what /etc/hosts says below localhost, `authorized_keys` lets the lab's keys in,
    `host_key` is the private SSH host key with its public half beside it.
    """

    name: str
    hosts_file: str
    authorized_keys: Path
    host_key: Path


class RootFilesystem:
    """The root of one host, mounted at `path`; the host's own layer is in `directory`."""

    def __init__(self, base: Path, directory: Path, prepare: Prepare | None) -> None:
        self.path = directory / "root"
        self._base = base
        self._directory = directory
        self._prepare = prepare
        self._layer = 0

    @property
    def made(self) -> bool:
        """Whether the root has been mounted."""
        return self._layer > 0

    def renew(self, identity: Identity) -> None:
        """Mount a root without any trace of an earlier one, and make it this host's."""
        if self._layer:
            unmount(self.path)
            shutil.rmtree(self._directory / f"layer{self._layer}", ignore_errors=True)
        self._layer += 1
        layer = self._directory / f"layer{self._layer}"
        for directory in (layer / "upper", layer / "work", self.path):
            directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        layers = f"lowerdir={self._base},upperdir={layer}/upper,workdir={layer}/work"
        # Device and inode numbers as on a plain file system, and directories that can be renamed.
        options = f"{layers},xino=on,redirect_dir=on,index=off"
        run_tool(["mount", "-t", "overlay", "overlay", "-o", options, self.path])
        self._personalise(identity)
        if self._prepare is not None:
            self._prepare(self.path)

    def _personalise(self, identity: Identity) -> None:
        etc = self.path / "etc"
        (etc / "hostname").write_text(f"{identity.name}\n")
        (etc / "hosts").write_text(f"127.0.0.1 localhost\n{identity.hosts_file}")
        (etc / "machine-id").write_text(f"{os.urandom(16).hex()}\n")
        self.install_host_key(identity.host_key)
        self.authorize(identity.authorized_keys)

    def install_host_key(self, private_key: Path) -> None:
        """Make a key the SSH host key; a running sshd must be restarted to use it."""
        for suffix, mode in (("", 0o600), (".pub", 0o644)):
            target = self.path / f"etc/ssh/ssh_host_ed25519_key{suffix}"
            shutil.copyfile(f"{private_key}{suffix}", target)
            target.chmod(mode)

    def authorize(self, authorized_keys: Path) -> None:
        """Let the holders of these keys log in as root and as each of the lab's users."""
        homes = [self.path / "root", *(self.path / "home" / user.name for user in recipe.USERS)]
        for home in homes:
            status = home.stat()
            directory, target = home / ".ssh", home / ".ssh/authorized_keys"
            directory.mkdir(mode=0o700, exist_ok=True)
            shutil.copyfile(authorized_keys, target)
            target.chmod(0o600)
            for path in (directory, target):
                os.chown(path, status.st_uid, status.st_gid)


def unmount(point: Path) -> None:
    """Unmount a file system, when its last user ends if need be, and drop nspawn's lock on it."""
    status = point.stat()
    if run_tool(["umount", point], check=False).returncode != 0:
        run_tool(["umount", "--lazy", point])
    lock = f"inode-{status.st_dev}:{status.st_ino}"
    Path("/run/systemd/nspawn/locks", lock).unlink(missing_ok=True)


def inside(root: Path, path: str) -> Path:
    """Return where `path` of a host is below its root, following symlinks as the host would.

    The last component need not exist. Raises OSError for a loop of symlinks.
    """
    waiting = _parts(path)
    found: list[str] = []
    links = 0
    while waiting:
        part = waiting.pop(0)
        if part == "..":
            found = found[:-1]
            continue
        here = root.joinpath(*found, part)
        if not here.is_symlink():
            found.append(part)
            continue
        links += 1
        if links > _MAX_SYMLINKS:
            raise OSError(f"too many symlinks in {path}")
        target = os.readlink(here)
        if target.startswith("/"):
            found = []
        waiting = _parts(target) + waiting
    return root.joinpath(*found)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
