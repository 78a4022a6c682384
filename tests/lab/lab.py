"""A lab: several hosts in a network of their own, for as long as a `with` block lasts."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from . import base, cgroups, network, record
from .host import Host, Place, make_key
from .machine import LabError, run_tool
from .proxy import DelayProxy
from .rootfs import Prepare, unmount

_DISKS = ("ext2/ext3", "xfs", "btrfs")
"""Names that `stat` has for file systems on which the hosts' own layers can be."""


class Lab:
    """Throw-away Debian hosts with systemd, apt and sshd; they exist between `__enter__` and
    `__exit__`.

    `names` gives the hosts' names, otherwise `count` hosts are called web1, web2, … `prepare` maps
    a host's name to what is done to its root before it boots (and again after each `reset`). Hosts
    are on a tmpfs, which is quicker; `on_disk` puts them where temporary files are.
    """

    def __init__(
        self,
        count: int = 3,
        names: Sequence[str] | None = None,
        prepare: Mapping[str, Prepare] | None = None,
        *,
        on_disk: bool = False,
    ) -> None:
        self.names = (
            list(names) if names is not None else [f"web{number + 1}" for number in range(count)]
        )
        self.prepare = dict(prepare or {})
        self.on_disk = on_disk
        self.id = os.urandom(3).hex()
        """Stands in the name of all that this lab makes on the machine."""
        self.hosts: dict[str, Host] = {}
        self.boot_seconds = 0.0
        """How long `__enter__` took, the build of a missing base not counted."""
        self._record: record.Record | None = None
        self._janitor: record.Janitor | None = None
        if not 1 <= len(self.names) <= network.MAX_HOSTS or len(set(self.names)) != len(self.names):
            raise LabError(f"a lab has 1 to {network.MAX_HOSTS} hosts, each with a name of its own")
        if unknown := sorted(set(self.prepare) - set(self.names)):
            raise LabError(f"no host is called {', '.join(unknown)}")

    def __enter__(self) -> Lab:
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- up and down ---------------------------------------------------------------------------

    def _open(self) -> None:
        root = base.ensure()
        began = time.monotonic()
        with suppress(LabError):  # What an earlier lab left may resist; it is not in the way.
            record.sweep()
        with record.locked():
            self.directory = Path(tempfile.mkdtemp(prefix="ccm-lab-"))
            own = cgroups.own()
            name = f"ccm-lab-{self.id}"
            self._record = record.create(
                self.id, self.directory, tuple(directory / name for directory in own)
            )
            self._janitor = record.Janitor(self._record)
            atexit.register(self.close)
            record.raise_inotify()
            group = cgroups.child(own, name)
            net = network.choose(self.id)
            net.create(len(self.names))
        self._mount_scratch()
        self._make_keys()
        self._boot(root, group, net)
        self.boot_seconds = time.monotonic() - began

    def _mount_scratch(self) -> None:
        """Put the scratch directory on a tmpfs, unless the disk is wanted or better.

        Before Linux 6.6 a tmpfs has no extended attributes for users, which hosts should have.
        """
        self.directory.chmod(0o755)
        disk = run_tool(["stat", "--file-system", "--format=%T", self.directory]).stdout.strip()
        if self.on_disk:
            if disk not in _DISKS:
                message = f"no host can be on a file system of type {disk}, as {self.directory} is"
                raise LabError(f"{message}: let TMPDIR name a folder on {', '.join(_DISKS)}")
            return
        run_tool(["mount", "-t", "tmpfs", "-o", "mode=0755", "ccm-lab", self.directory])
        try:
            os.setxattr(self.directory, "user.ccm", b"1")
        except OSError:
            if disk in _DISKS:
                unmount(self.directory)

    def _make_keys(self) -> None:
        self.known_hosts = self.directory / "known_hosts"
        self.key_file = self.directory / "id_ed25519"
        make_key(self.key_file, "ccm lab")
        self._authorized_keys = self.directory / "authorized_keys"
        shutil.copyfile(self.key_file.with_suffix(".pub"), self._authorized_keys)

    def _boot(self, root: Path, group: cgroups.Group, net: network.Network) -> None:
        names = enumerate(self.names)
        hosts_file = "".join(f"{net.address(number)} {name}\n" for number, name in names)

        def boot(item: tuple[int, str]) -> None:
            number, name = item
            place = Place(number, self.directory / name, root, group, net)
            host = Host(name, place, hosts_file, self._authorized_keys, self.prepare.get(name))
            self.hosts[name] = host
            host.launch()

        with ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
            list(pool.map(boot, enumerate(self.names)))
        self.hosts = {name: self.hosts[name] for name in self.names}
        for host in self.hosts.values():
            host.wait_until_booted()
        for host in self.hosts.values():
            self.trust(host, host.address)
            self.trust(host, host.name)

    def close(self) -> None:
        """Remove the lab from the machine: all of it. May be called again."""
        atexit.unregister(self.close)
        if self._record is not None:
            record.remove(self._record)
            self._record = None
        for host in self.hosts.values():
            host.stop()  # reaps it
        if self._janitor is not None:
            self._janitor.dismiss()
            self._janitor = None

    def reset(self) -> None:
        """Make all hosts as they were when the lab came up; quicker than one after the other."""
        with ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
            list(pool.map(Host.reset, self.hosts.values()))

    # -- what tests need -----------------------------------------------------------------------

    @contextmanager
    def proxy(self, host: Host, delay_seconds: float = 0.0, **faults: Any) -> Iterator[DelayProxy]:
        """Put a DelayProxy in front of a host's sshd for as long as a `with` block lasts.

        known_hosts learns the host's key for the proxy's port. `faults` are those of DelayProxy.
        """
        with DelayProxy(host.address, 22, delay_seconds, **faults) as proxy:
            self.trust(host, proxy.host, proxy.port)
            yield proxy

    def new_key(self, name: str, passphrase: str = "") -> Path:
        """Make another key that all hosts let in, with a passphrase if wanted; return its path."""
        key = self.directory / name
        make_key(key, name, passphrase)
        with self._authorized_keys.open("a") as keys:
            keys.write(key.with_suffix(".pub").read_text())
        for host in self.hosts.values():
            host.authorize(self._authorized_keys)
        return key

    def trust(self, host: Host, address: str, port: int = 22) -> None:
        """Add a host's key to the lab's known_hosts, for an address and port at which it can be
        reached.
        """
        name = address if port == 22 else f"[{address}]:{port}"
        with open(self.known_hosts, "a") as known:
            known.write(f"{name} {host.public_host_key}\n")

    def inventory(
        self,
        path: Path | None = None,
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        hosts: Mapping[str, Mapping[str, Any]] | None = None,
        **defaults: Any,
    ) -> Path:
        """Write an inventory of the lab and return its path (by default hosts.yaml in the scratch
        directory).

        `defaults` are connection properties for all hosts; without any, the user is root. `hosts`
        adds properties to single hosts, `groups` maps group names to hosts.
        """
        target = path or self.directory / "hosts.yaml"
        common = {
            "user": "root",
            "key_file": str(self.key_file),
            "known_hosts": str(self.known_hosts),
            **defaults,
        }
        lines = [
            "defaults:",
            *(f"  {key}: {json.dumps(value)}" for key, value in common.items()),
            "hosts:",
        ]
        for name, host in self.hosts.items():
            properties = {"address": host.address, **(hosts or {}).get(name, {})}
            lines.append(f"  {name}: {json.dumps(properties)}")
        if groups:
            lines += [
                "groups:",
                *(f"  {name}: {json.dumps({'hosts': list(of)})}" for name, of in groups.items()),
            ]
        target.write_text("\n".join([*lines, ""]))
        return target
