"""Ansible's facts in the words of ccm (controller)."""

from __future__ import annotations

INFO = "Facts.host.info"

FAMILIES = {
    "debian": "Debian", "rhel": "RedHat", "fedora": "RedHat", "suse": "Suse", "arch": "Archlinux",
    "alpine": "Alpine", "gentoo": "Gentoo", "slackware": "Slackware",
}  # fmt: skip
"""ccm's platformFamily, and Ansible's os_family."""

DISTRIBUTIONS = {
    "debian": "Debian", "ubuntu": "Ubuntu", "redhat": "RedHat", "centos": "CentOS",
    "rocky": "Rocky", "almalinux": "AlmaLinux", "oracle": "OracleLinux", "amazon": "Amazon",
    "fedora": "Fedora", "arch": "Archlinux", "alpine": "Alpine", "sles": "SLES",
    "opensuse-leap": "openSUSE Leap", "opensuse-tumbleweed": "openSUSE Tumbleweed",
    "linuxmint": "Linux Mint", "raspbian": "Raspbian", "gentoo": "Gentoo", "kali": "Kali",
}  # fmt: skip
"""ccm's platform, and Ansible's distribution."""

MANAGERS = {"debian": "apt", "rhel": "dnf", "fedora": "dnf", "suse": "zypper", "arch": "pacman"}

TABLES = {
    "os_family": (f"{INFO}.platformFamily", FAMILIES),
    "distribution": (f"{INFO}.platform", DISTRIBUTIONS),
    "pkg_mgr": (f"{INFO}.platformFamily", MANAGERS),
}
"""Facts whose values differ: where ccm has it, and ccm's values with Ansible's."""

_FIRST = "(Facts.network.addresses | selectattr('ipv4') | selectattr('default') | first)"

SIMPLE: dict[tuple[str, ...], str] = {
    ("distribution_version",): f"{INFO}.platformVersion",
    ("distribution_major_version",): f"{INFO}.platformVersion.split('.')[0]",
    ("lsb", "id"): f"{INFO}.platform | capitalize",
    ("lsb", "major_release"): f"{INFO}.platformVersion.split('.')[0]",
    ("lsb", "release"): f"{INFO}.platformVersion",
    ("architecture",): f"{INFO}.kernelArch",
    ("machine",): f"{INFO}.kernelArch",
    ("kernel",): f"{INFO}.kernelVersion",
    ("hostname",): f"{INFO}.hostname.split('.')[0]",
    ("nodename",): f"{INFO}.hostname",
    ("memtotal_mb",): "Facts.memory.virtual.total // 1048576",
    ("swaptotal_mb",): "Facts.memory.swap.info.total // 1048576",
    ("processor_vcpus",): "Facts.cpu.info | length",
    ("processor_nproc",): "Facts.cpu.info | length",
    ("default_ipv4", "address"): "Facts.network.default_ipv4",
    ("default_ipv4", "interface"): f"{_FIRST}.interface",
    ("default_ipv6", "address"): "Facts.network.default_ipv6",
    ("all_ipv4_addresses",): (
        "Facts.network.addresses | selectattr('ipv4') | map(attribute='address') | list"
    ),
    ("all_ipv6_addresses",): (
        "Facts.network.addresses | rejectattr('ipv4') | map(attribute='address') | list"
    ),
    ("interfaces",): "Facts.network.interfaces | map(attribute='name') | list",
    ("service_mgr",): "'systemd'",
    ("version", "full"): "'2.19.0'",
    ("version", "string"): "'2.19.0'",
    ("version", "major"): "2",
    ("version", "minor"): "19",
    ("system",): "'Linux'",
    ("virtualization_type",): f"{INFO}.virtualizationSystem",
    ("virtualization_role",): f"{INFO}.virtualizationRole",
}
"""Facts that ccm has, as expressions; the names are without ``ansible_``."""

_RELEASE = "sh -c '. /etc/os-release && echo \"${VERSION_CODENAME:-}\"'"

LOOK_UPS: dict[tuple[str, ...], tuple[str, dict[str, str], str]] = {
    ("distribution_release",): ("release", {"command": _RELEASE}, "Asked.release.stdout.strip()"),
    ("lsb", "codename"): ("release", {"command": _RELEASE}, "Asked.release.stdout.strip()"),
    ("fqdn",): ("fqdn", {"command": "hostname -f"}, "Asked.fqdn.stdout.strip()"),
    ("domain",): (
        "fqdn",
        {"command": "hostname -f"},
        "Asked.fqdn.stdout.strip().partition('.')[2]",
    ),
    ("selinux", "status"): (
        "selinux",
        {"command": "sh -c 'getenforce 2>/dev/null || echo Disabled'"},
        "('disabled' if Asked.selinux.stdout.strip() == 'Disabled' else 'enabled')",
    ),
    ("selinux", "mode"): (
        "selinux",
        {"command": "sh -c 'getenforce 2>/dev/null || echo Disabled'"},
        "Asked.selinux.stdout.strip() | lower",
    ),
    ("selinux",): (
        "selinux",
        {"command": "sh -c 'getenforce 2>/dev/null || echo Disabled'"},
        "{'status': 'disabled' if Asked.selinux.stdout.strip() == 'Disabled' else 'enabled'}",
    ),
    ("user_id",): ("user", {"command": "id -un"}, "Asked.user.stdout.strip()"),
}
"""Facts that a look-up answers: its name, the look-up and the expression."""

NUMBERS = {"memtotal_mb", "swaptotal_mb", "processor_vcpus", "processor_nproc"}
LISTS = {"all_ipv4_addresses", "all_ipv6_addresses", "interfaces"}
