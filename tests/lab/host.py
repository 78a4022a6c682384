"""One lab host: a booted Debian with its own root, address and process tree."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import cgroups, packages, rpms
from .container import Container
from .machine import LabError, run_tool
from .network import Network
from .packages import Package
from .recipe import REPOSITORY
from .rootfs import Identity, Prepare, RootFilesystem, inside
from .rpms import Rpm

_BOOT_SECONDS = 90.0


@dataclass(frozen=True)
class Place:
    """What a host is given by its lab: its number, directory, base, control group and network."""

    number: int
    directory: Path
    base: Path
    group: cgroups.Group
    network: Network


class Host:
    """A lab host. Its methods work from outside: neither SSH nor ccm is in their way."""

    def __init__(
        self,
        name: str,
        place: Place,
        hosts_file: str,
        authorized_keys: Path,
        prepare: Prepare | None = None,
    ) -> None:
        self.name = name
        self.address = place.network.address(place.number)
        self.gateway = place.network.gateway
        self._place = place
        place.directory.mkdir()
        key = place.directory / "ssh_host_ed25519_key"
        make_key(key, f"root@{name}")
        self._identity = Identity(name, hosts_file, authorized_keys, key)
        self._rootfs = RootFilesystem(place.base, place.directory, prepare)
        self._group = cgroups.child(place.group, name)
        namespace = place.network.namespace(place.number)
        self._parameters = place.network.parameters(place.number)
        self._container = Container(namespace, name, self.root, namespace, self._group)

    @property
    def root(self) -> Path:
        """The host's root on this machine. File systems that the host mounts are not seen there."""
        return self._rootfs.path

    @property
    def pid(self) -> int | None:
        """The process id of the host's systemd on this machine; None while it is stopped."""
        return self._container.leader

    @property
    def running(self) -> bool:
        """Whether the host is up."""
        return self._container.running

    @property
    def public_host_key(self) -> str:
        """The SSH host key as it stands in a known_hosts file: type and key."""
        public = self._identity.host_key.with_suffix(".pub")
        return " ".join(public.read_text().split()[:2])

    # -- life ----------------------------------------------------------------------------------

    def launch(self) -> None:
        """Begin to boot, with the root as it is; `wait_until_booted` must follow."""
        if not self._rootfs.made:
            self._rootfs.renew(self._identity)
        self._container.launch()

    def wait_until_booted(self, seconds: float = _BOOT_SECONDS) -> None:
        """Wait until systemd has started everything, sshd included. Raises LabError if not."""
        self._container.wait_until_booted(seconds)

    def start(self) -> None:
        """Boot a host that is stopped. Its files are as they were."""
        if not self.running:
            self.launch()
            self.wait_until_booted()

    def stop(self) -> None:
        """Switch the host off at once, as pulling the plug does. It refuses connections then."""
        self._container.kill()

    def reboot(self) -> None:
        """Switch the host off and boot it again. Its files stay."""
        self.stop()
        self.start()

    def reset(self) -> None:
        """Make the host as it was when the lab came up, with the same keys and address."""
        self.stop()
        self.plug(connected=True)
        self._place.network.restore(self._place.number, self._parameters)
        self._rootfs.renew(self._identity)
        self.start()

    def plug(self, connected: bool) -> None:
        """Cut the host's network cable, so that packets vanish without an answer, or connect it."""
        self._place.network.plug(self._place.number, connected)

    # -- SSH -----------------------------------------------------------------------------------

    def kill_sessions(self) -> None:
        """Kill the sshd of every open session, as a crash does; new ones can be opened."""
        self.run("pkill -KILL -f '^sshd: .*(@|[[]priv[]])'", check=False)

    def change_host_key(self) -> None:
        """Give the host another SSH host key, of which the lab's known_hosts knows nothing.

        A reset brings the old one back.
        """
        key = self._place.directory / "other_host_key"
        for path in (key, key.with_suffix(".pub")):
            path.unlink(missing_ok=True)
        make_key(key, f"root@{self.name}")
        self._rootfs.install_host_key(key)
        self.run("systemctl restart ssh")

    def authorize(self, authorized_keys: Path) -> None:
        """Let the holders of these keys, and of no others, log in as any of the lab's users."""
        self._rootfs.authorize(authorized_keys)

    # -- looking in ----------------------------------------------------------------------------

    def run(
        self,
        command: str,
        check: bool = True,
        input: str | None = None,  # noqa: A002 - the name that subprocess.run uses
        timeout: float = 30,
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell command on the host as root, in a clean environment, from /.

        `timeout` is in seconds; at its end the command's process group is killed. Raises LabError
        if the host is stopped, the command is too slow or, with `check`, fails.
        """
        done = self._container.run(command, input, timeout)
        if check and done.returncode != 0:
            said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-15:])
            where = f"`{command}` on {self.name}"
            raise LabError(f"{where} failed with exit code {done.returncode}:\n{said}")
        return done

    def path(self, path: str) -> Path:
        """Return where a path of the host is on this machine, symlinks followed as the host does.

        While the host is up, file systems that it has mounted are seen too.
        """
        return inside(Path(f"/proc/{self.pid}/root") if self.pid else self.root, path)

    def read(self, path: str) -> str:
        """Return the text of a file of the host."""
        return self.path(path).read_text(errors="surrogateescape")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file of the host as root, with missing directories above it."""
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, errors="surrogateescape")
        target.chmod(mode)

    def exists(self, path: str) -> bool:
        """Return whether a path exists on the host; a dangling symlink does not."""
        return self.path(path).exists()

    def publish(self, *built: Package) -> None:
        """Add packages to the host's local repository. Its lists are as old as before."""
        repository = self.path(REPOSITORY)
        for package in built:
            package.build(repository)
        packages.index(repository)

    def publish_rpms(self, *built: Rpm) -> None:
        """Add packages to the host's local RPM repository. Its metadata is as old as before."""
        rpms.build(self.path("/"), lambda command: self.run(command, timeout=300), built)

    def cpu_seconds(self) -> float:
        """Return the CPU time in seconds that the host has used since the lab came up."""
        return cgroups.cpu_seconds(self._group)

    def memory_bytes(self) -> int:
        """Return the memory of the host's processes, shared pages counted in proportion."""
        return cgroups.memory_bytes(self._group)


def make_key(path: Path, comment: str, passphrase: str = "") -> None:
    """Make an ed25519 key pair: `path` and `path`.pub."""
    name = ["-C", comment, "-N", passphrase, "-f"]
    run_tool(["ssh-keygen", "-q", "-t", "ed25519", *name, path])
