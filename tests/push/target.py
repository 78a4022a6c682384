"""A place to push to: a lab host over SSH, or a local directory by ``connection: local``."""

import grp
import json
import os
import pwd
import stat
from pathlib import Path
from typing import NamedTuple

from tests.lab import Host, Lab
from tests.push.command import Ccm, Event, Run

NAME = "web1"


class Found(NamedTuple):
    """What is at a path: its kind, owner, group, permission bits and a link's target."""

    kind: str
    owner: int
    group: int
    mode: int
    target: str = ""


class Target:
    """One host named web1 and a directory on it; DIR, OWNER and GROUP in a site stand for them."""

    def __init__(self, ccm: Ccm, inventory: Path, directory: str, top: Path) -> None:
        self.ccm = ccm
        self.inventory = inventory
        self.directory = directory
        self._top = top
        self.path("").mkdir(parents=True, exist_ok=True)

    @property
    def owner(self) -> str:
        return pwd.getpwuid(os.getuid()).pw_name

    @property
    def group(self) -> str:
        return grp.getgrgid(os.getgid()).gr_name

    @property
    def state(self) -> Path:
        """Where the host keeps what it remembers of the runs of root; on this machine it is shared
        with other tests."""
        return self._top / "var/lib/ccm"

    def path(self, name: str) -> Path:
        """Where a file of the directory is on this machine."""
        return self._top / self.directory.lstrip("/") / name

    def write(self, name: str, data: bytes | str, mode: int = 0o644) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        path.chmod(mode)
        return path

    def read(self, name: str) -> str:
        return self.path(name).read_text(encoding="utf-8")

    def look(self, name: str) -> Found | None:
        """What is at a path itself, links not followed."""
        try:
            seen = self.path(name).lstat()
        except FileNotFoundError:
            return None
        kind = {stat.S_IFDIR: "directory", stat.S_IFREG: "file", stat.S_IFLNK: "symlink"}
        link = os.readlink(self.path(name)) if stat.S_ISLNK(seen.st_mode) else ""
        return Found(
            kind.get(stat.S_IFMT(seen.st_mode), "other"),
            seen.st_uid,
            seen.st_gid,
            stat.S_IMODE(seen.st_mode),
            link,
        )

    def names(self, name: str = "") -> list[str]:
        """What a directory holds, hidden files included."""
        return sorted(os.listdir(self.path(name)))

    def id(self, resource: str) -> str:
        """``file#a`` as it is called in an event: with the directory in front of the name."""
        kind, _, name = resource.partition("#")
        return f"{kind}#{self.directory}/{name}" if kind in ("edit", "file", "link") else resource

    def push(self, site: str, *options: str) -> Run:
        """Push a site to this host only."""
        return self.ccm.push(self.inventory, self.filled(site), "-l", NAME, *options)

    def filled(self, site: str) -> str:
        for word, value in (("DIR", self.directory), ("OWNER", self.owner), ("GROUP", self.group)):
            site = site.replace(word, value)
        return site

    def event(self, run: Run, resource: str) -> Event:
        """The event of a resource; files are named relative to the directory."""
        return run.event(self.id(resource), NAME)

    def statuses(self, run: Run) -> dict[str, str]:
        """Every resource with its status, files named relative to the directory."""
        return {
            f"{e['type']}#{e['name']}".replace(f"#{self.directory}/", "#"): e["status"]
            for e in run.events
        }


def over_ssh(ccm: Ccm, lab: Lab, host: Host) -> Target:
    """web1 of the lab, as root, in /srv/t."""
    return Target(ccm, lab.inventory(), "/srv/t", host.path("/"))


def on_this_machine(ccm: Ccm, scratch: Path) -> Target:
    """A directory of this machine, as the user who runs the tests."""
    inventory = scratch / "local.yaml"
    inventory.write_text(
        "hosts:\n  web1: " + json.dumps({"connection": "local", "vars": {"role": "web"}}) + "\n"
    )
    return Target(ccm, inventory, str((scratch / "t").resolve()), Path("/"))
