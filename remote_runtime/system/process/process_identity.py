"""Identifies processes (target), so that a reused number is never mistaken for another process."""

import os
from typing import NamedTuple, Optional, Sequence

from remote_runtime.system.paths import content_of


class Process(NamedTuple):
    """One process: its number may be reused, but never with the same start time."""

    pid: int
    start: int  # in ticks since this system was started
    session: int
    program: str
    parent: int = 0


def find(pid: int) -> Optional[Process]:
    """The process with that number; None if there is none, or if that is unknown."""
    try:
        with open("/proc/%d/stat" % pid, "rb", 0) as file:
            data = file.read(1024)
    except OSError:
        return None
    program, _, rest = data.partition(b"(")[2].rpartition(b")")
    fields = rest.split()  # from the third on, as `man proc` counts them
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    name = program.decode("utf-8", "replace")
    return Process(pid, int(fields[19]), int(fields[3]), name, parent=int(fields[1]))


def service_of(pid: int) -> str:
    """The systemd service of a process, such as ssh.service; "" for a process of a login, and for
    one without a service."""
    text = content_of("/proc/%d/cgroup" % pid).decode("utf-8", "replace")
    lines = [line.strip().split(":", 2) for line in text.split("\n")]
    for _, controllers, path in [line for line in lines if len(line) == 3]:
        name = path.rpartition("/")[2]
        is_systemd = controllers in ("", "name=systemd")
        if is_systemd and name.endswith(".service") and not path.startswith("/user.slice/"):
            return name
    return ""


def services_above(pid: int) -> Sequence[str]:
    """The systemd services that started a process, including its own."""
    result = []
    while pid > 1:
        name = service_of(pid)
        if name and name not in result:
            result.append(name)
        process = find(pid)
        pid = process.parent if process else 0
    return result


def leader_at(pipes: Sequence[int]) -> Optional[Process]:
    """The leader of a session whose stdout or stderr is a pipe with one of these inode numbers."""
    wanted = {"pipe:[%d]" % pipe for pipe in pipes}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        for descriptor in (1, 2):
            try:
                link = os.readlink("/proc/%s/fd/%d" % (name, descriptor))
            except OSError:
                continue  # it has ended, or is another user's
            if link in wanted:
                process = find(int(name))
                if process is not None and process.session == process.pid:
                    return process
    return None


def boot() -> str:
    """The ID of this boot of the system; "" if it has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb", 0) as file:
            return file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return ""
