"""What a lab host is made of: packages, users, units, settings. Pure data, read while the base is
built.

A change in here gives the base another key, so the next lab builds it anew.
"""

from __future__ import annotations

from typing import NamedTuple

DEBIAN_PACKAGES = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "libpam-systemd",
    "openssh-server",
    "python3",
    "sudo",
    "ca-certificates",
    "procps",
    "iproute2",
    "acl",
    "attr",
    # Moves the clock of a host for the tests of clocks that jump.
    "libfaketime",
    # For checkouts.
    "git",
    # For exec's interpreters, beside the sh, perl and python that are there anyway.
    "csh",
    "ruby",
    # Another package manager, with a database and a repository of its own.
    "dnf",
    "rpm",
    "createrepo-c",
)
"""Installed on every host, on top of Debian's required packages and apt."""

OFFLINE_PACKAGES = ("nginx-light", "python3-venv")
"""Debian packages that hosts can install from their local repository, with all that they depend on.
"""

REPOSITORY = "/srv/ccm-repo"
"""Where the local apt repository is on a host."""

RPM_REPOSITORY = "/srv/ccm-rpms"
"""Where the local RPM repository is on a host."""


class User(NamedTuple):
    """One account of a lab host: its name, its password and its line of sudoers (may be empty)."""

    name: str
    password: str
    sudo: str


USERS = (
    User("deploy", "lab-deploy", "deploy ALL=(ALL:ALL) NOPASSWD: ALL"),
    User("alice", "lab-alice", "alice ALL=(ALL:ALL) ALL"),
    User("bob", "lab-bob", "bob ALL=(appuser) NOPASSWD: ALL"),
    User("mallory", "lab-mallory", ""),
    User("appuser", "lab-appuser", ""),
)

PASSWORDS = {user.name: user.password for user in USERS}
"""The lab users' passwords. They open nothing but throwaway hosts without a route."""

MASKED_UNITS = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "getty.target",
    "console-getty.service",
    "systemd-firstboot.service",
    "systemd-machine-id-commit.service",
    "systemd-network-generator.service",
    "systemd-networkd.service",
    "systemd-pstore.service",
    "systemd-random-seed.service",
    "systemd-resolved.service",
    "systemd-sysctl.service",
    "systemd-timesyncd.service",
    "systemd-udevd.service",
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "sys-fs-fuse-connections.mount",
    "sys-kernel-config.mount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
)
"""Units that a throwaway host does not need; without them it boots in half the time."""

FILES = {
    "etc/ssh/sshd_config.d/lab.conf": (
        "UseDNS no\n"
        "PubkeyAuthentication yes\n"
        "PasswordAuthentication yes\n"
        "HostKey /etc/ssh/ssh_host_ed25519_key\n"
    ),
    "etc/systemd/journald.conf.d/lab.conf": "[Journal]\nSystemMaxUse=16M\nRuntimeMaxUse=8M\n",
    "etc/apt/sources.list.d/ccm-lab.list": f"deb [trusted=yes] file://{REPOSITORY} ./\n",
    "etc/rpm/macros": "%_dbpath /var/lib/rpm\n",  # Debian's rpm has it in root's home
    "etc/yum.repos.d/ccm-lab.repo": (
        f"[ccm-lab]\nname=ccm lab\nbaseurl=file://{RPM_REPOSITORY}\ngpgcheck=0\n"
    ),
    "etc/resolv.conf": "# A lab host has no name server.\n",
    "etc/sudoers.d/lab": "".join(f"{user.sudo}\n" for user in USERS if user.sudo),
}
"""Files of the base: path below its root, content."""

LEFT_OUT_OF_PACKAGES = (
    "/usr/share/man/*",
    "/usr/share/doc/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/lintian/*",
)
"""Paths that dpkg does not unpack, to keep the base small."""
