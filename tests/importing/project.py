"""The projects: what they are, and how one is made ready for a lab host."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.importing import mirror
from tests.lab import Host, Lab

DIRECTORY = Path(__file__).with_name("projects")


@dataclass(frozen=True)
class Project:
    """A project in its directory: the playbook and the inventory.

    ``ignored`` are differences between two hosts that Ansible itself would make, as patterns of
    lines of a snapshot with the reason. ``collections`` names those that the project needs,
    ``installs`` says that it installs packages.
    """

    name: str
    playbook: str
    inventory: str
    ignored: Mapping[str, str] = field(default_factory=dict)
    collections: tuple[str, ...] = ()
    installs: bool = True

    def copy(self, target: Path, host: Host, lab: Lab) -> Path:
        """Copy the project, with the connection of the lab host among its host variables; return
        the path of the playbook.
        """
        shutil.copytree(DIRECTORY / self.name, target)
        inventory = target / self.inventory
        directory = inventory if inventory.is_dir() else inventory.parent
        (directory / "host_vars").mkdir(exist_ok=True)
        with (directory / "host_vars" / f"{host.name}.yml").open("a", encoding="utf-8") as stream:
            stream.write(
                f"\nansible_host: {host.address}\n"
                "ansible_user: root\n"
                f"ansible_ssh_private_key_file: {lab.key_file}\n"
            )
        return target / self.playbook

    def prepare(self, host: Host, url: str) -> None:
        """Make a fresh host what the project expects; ``url`` serves the packages."""
        mirror.use(host, url)
        script = DIRECTORY / self.name / "prepare.sh"
        if script.exists():
            host.run(f"set -e\n{script.read_text(encoding='utf-8')}", timeout=60)


_KEYS = {
    r"^files /etc/pki-lab/.*\.(key|crt|csr|srl): (?!.*(mode|owner|group))": "random keys",
}
_GIT = {
    r"^files /opt/shop/src/\.git/": "what git keeps of how it came to the same commit",
    r"^files /srv/git/shop/\.git/index:": "times of the files of the repository",
}
_BACKUPS = {r"^files /etc/ssh/\.?sshd_config\..*~: ": "a backup; each tool has names of its own"}
_CRONTABS = {
    r"^files /var/spool/cron/crontabs/[^:]*: \n    @@ -2 \+2 @@\n    "
    r"-# \(\S* installed on [^\n]*\)\n    \+# \(\S* installed on [^\n]*\)$": (
        "the header of crontab(1): the name of its input, and when"
    ),
}
_BLANKS = {
    r"^files /etc/fstab: \n    @@ -2 \+2 @@\n    -tmpfs /mnt/scratch tmpfs \S* 0 0\n    "
    r"\+tmpfs\t/mnt/scratch\ttmpfs\t\S*\t0\t0$": "blanks between the fields",
    r"^files /etc/sysctl.d/50-swap.conf: \n    @@ -1 \+1,2 @@\n    -vm.swappiness=10\n    "
    r"\+# Kernel parameters that are managed by ccm.\n    \+vm.swappiness = 10$": (
        "the comment of ccm, and blanks around the sign"
    ),
}
_WHY = "marked in the report: above a computed directory, Ansible makes directories like it"
_ABOVE = {r"^files /srv/nfs: group nogroup != root; owner nobody != root$": _WHY}
_ABOVE_KEYS = {**_KEYS, r"^files /etc/pki-lab: group ssl-cert != root$": _WHY}

PROJECTS = (
    Project("users", "site.yml", "inventory.ini", installs=False),
    Project("sshd", "playbook.yml", "hosts.yml", _BACKUPS),
    Project("nginx", "site.yml", "hosts"),
    Project("postgresql", "db.yml", "inventory/hosts.ini"),
    Project("podman", "site.yml", "inventory.yml"),
    Project("backup", "backup.yml", "hosts", _CRONTABS),
    Project("monitoring", "site.yml", "inventory.ini"),
    Project("firewall", "firewall.yml", "hosts.ini"),
    Project("mail", "site.yml", "hosts.ini"),
    Project("nfs", "site.yml", "hosts.yml", _ABOVE),
    Project("certificates", "certs.yml", "inventory.ini", _ABOVE_KEYS),
    Project("app", "deploy.yml", "inventory", _GIT),
    Project("common", "site.yml", "hosts.ini"),
    Project("haproxy", "site.yml", "inventory.ini"),
    Project("logging", "site.yml", "hosts"),
    Project("redis", "playbook.yml", "hosts.ini"),
    Project("collections", "site.yml", "hosts", _BLANKS, ("ansible.posix",)),
)
