"""A booted systemd in a container: its process tree, and commands run inside from outside."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from . import cgroups
from .machine import LabError

REBOOT = 133
"""The exit code of a systemd-nspawn whose system rebooted: who started it starts it anew."""

_BOOT_SECONDS = 90.0

_LAUNCH = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs"; shift; done; shift; exec "$@"'
"""Enters control groups before it becomes systemd-nspawn, so no process is ever outside of them."""

_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "USER": "root",
    "LANG": "C.UTF-8",
}


class Container:
    """One systemd-nspawn, from its launch until it is killed; may be launched again after that.

    `machine` is a name that no other container of this machine has.
    """

    def __init__(
        self, machine: str, name: str, root: Path, namespace: str, group: cgroups.Group
    ) -> None:
        self.leader: int | None = None
        """The process id of the container's init on this machine, once it is known."""
        self.name = name
        self.group = group
        self.console = root.with_name("console.log")
        self._machine = machine
        self._process: subprocess.Popen[bytes] | None = None
        self._switch = threading.Lock()
        self._notices: socket.socket | None = None
        self._launches = 0
        self._argv = [
            "systemd-nspawn",
            "--quiet",
            "--boot",
            f"--directory={root}",
            f"--machine={machine}",
            f"--hostname={name}",
            f"--network-namespace-path=/run/netns/{namespace}",
            "--register=no",
            "--keep-unit",
            "--capability=CAP_NET_ADMIN",
            "--notify-ready=yes",
            "--console=pipe",
            "--settings=no",
            "--link-journal=no",
            "--resolv-conf=off",
            "--timezone=off",
        ]

    @property
    def running(self) -> bool:
        """Whether the container has been launched and has not ended."""
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Begin to boot; `wait_until_booted` must follow."""
        self._launches += 1  # a thread that still reads from the last one's address keeps it taken
        address = f"{self._machine}-{self._launches}"
        self._notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notices.bind(f"\0{address}")
        environment = {
            **_ENVIRONMENT,
            "NOTIFY_SOCKET": f"@{address}",
            "SYSTEMD_NSPAWN_TMPFS_TMP": "0",  # /tmp is on the root, as Debian has it
            "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network",  # /proc/sys/net, for sysctl
            "SYSTEMD_SECCOMP": "0",  # a filter would slow down every system call
        }
        with self.console.open("ab") as console:
            self._process = subprocess.Popen(
                ["sh", "-c", _LAUNCH, "sh", *self.group, "--", *self._argv],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )
        threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Launch the container anew, in the same namespace and control group, when it reboots."""
        if process.wait() != REBOOT:
            return
        with self._switch:
            if self._process is not process:
                return  # it was killed meanwhile, or launched by somebody else
            if self._notices is not None:
                self._notices.close()
            self.launch()
        with suppress(LabError, OSError):  # of a container that is killed while it boots
            self.wait_until_booted(_BOOT_SECONDS)

    def wait_until_booted(self, seconds: float) -> None:
        """Wait until systemd says that everything has started.

        Raises LabError with the end of the console if that takes more than `seconds`.
        """
        assert self._notices is not None
        deadline = time.monotonic() + seconds
        with self._notices as notices:
            notices.settimeout(0.2)
            while time.monotonic() < deadline and self.running:
                try:
                    lines = notices.recv(4096).decode().splitlines()
                except TimeoutError:
                    continue
                for line in lines:
                    if line.startswith("X_NSPAWN_LEADER_PID="):
                        self.leader = int(line.partition("=")[2])
                if "READY=1" in lines:
                    return
        end = self.console.read_text(errors="replace")[-1500:]
        raise LabError(f"host {self.name} did not boot within {seconds:g} s; its console:\n{end}")

    def kill(self) -> None:
        """End all processes of the container at once."""
        with self._switch:
            process, self._process = self._process, None
        cgroups.kill(self.group)
        if self._notices is not None:
            self._notices.close()
        if process is not None:
            process.wait(timeout=15)
        self.leader = None

    def run(
        self, command: str, stdin: str | None, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell command inside as root, from /, in a clean environment.

        After `timeout` seconds its process group is killed. Raises LabError then, or if the
        container does not run.
        """
        if self.leader is None or not self.running:
            raise LabError(f"host {self.name} is stopped")
        enter = ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--net"]
        process = subprocess.Popen(
            [*enter, "--pid", "--cgroup", "--root", "--wdns=/", "/bin/sh", "-c", command],
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=_ENVIRONMENT,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                late = f"`{command}` on {self.name} did not finish within {timeout:g} s"
                raise LabError(late) from None
            raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)
