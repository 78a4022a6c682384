"""Translates Ansible's facts to those of ccm, and listed facts to lookups (controller)."""

import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.filter_substitutes import filtered
from orchestrator.ansible.jinja.mount_facts import MOUNTS
from orchestrator.ansible.jinja.parsing import expression, members, path_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.problems import NotConvertible

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
    "pop": "Pop!_OS",
}  # fmt: skip
"""ccm's platform, and Ansible's distribution."""

MANAGERS = {"debian": "apt", "rhel": "dnf", "fedora": "dnf", "suse": "zypper", "arch": "pacman"}

VARIETIES = {
    "debian": "Debian", "ubuntu": "Debian", "raspbian": "Debian", "kali": "Debian",
    "linuxmint": "Debian", "centos": "CentOS", "redhat": "RedHat", "rocky": "RedHat",
    "almalinux": "RedHat", "fedora": "RedHat", "oracle": "OracleLinux", "amazon": "Amazon",
    "alpine": "Alpine", "arch": "Archlinux", "sles": "SUSE", "opensuse-leap": "SUSE",
    "opensuse-tumbleweed": "SUSE", "gentoo": "Gentoo",
}  # fmt: skip
"""ccm's platform, and Ansible's distribution_file_variety."""

RELEASES = {
    "trixie": "13", "bookworm": "12", "bullseye": "11", "buster": "10", "stretch": "9",
    "jessie": "8", "noble": "24.04", "jammy": "22.04", "focal": "20.04", "bionic": "18.04",
    "xenial": "16.04", "trusty": "14.04",
}  # fmt: skip
"""Names of releases, and ccm's platformVersion."""

KINDS = {
    "vmware": "VMware", "vbox": "virtualbox", "hyperv": "VirtualPC", "": "NA",
    "systemd-nspawn": "container", "rkt": "container",
} | {
    name: name for name in ("kvm", "xen", "bhyve", "parallels", "docker", "podman", "lxc", "openvz")
}  # fmt: skip
"""ccm's virtualizationSystem, and Ansible's virtualization_type."""

ROLES = {"guest": "guest", "host": "host", "": "NA"}
"""ccm's virtualizationRole, and Ansible's virtualization_role."""

TABLES = {
    "virtualization_type": (f"{INFO}.virtualizationSystem", KINDS),
    "virtualization_role": (f"{INFO}.virtualizationRole", ROLES),
    "distribution_file_variety": (f"{INFO}.platform", VARIETIES),
    "os_family": (f"{INFO}.platformFamily", FAMILIES),
    "distribution": (f"{INFO}.platform", DISTRIBUTIONS),
    "pkg_mgr": (f"{INFO}.platformFamily", MANAGERS),
}
"""Facts whose values differ: their path in ccm, and ccm's values with Ansible's."""

_INTERFACE_OUT = (
    "Facts.network.addresses | selectattr('ipv4') | selectattr('default') | "
    "map(attribute='interface') | first"
)

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
    ("default_ipv4", "interface"): _INTERFACE_OUT,
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
    ("memory_mb", "real", "total"): "Facts.memory.virtual.total // 1048576",
    ("memory_mb", "swap", "total"): "Facts.memory.swap.info.total // 1048576",
    ("memfree_mb",): "Facts.memory.virtual.free // 1048576",
    ("userspace_architecture",): f"{INFO}.kernelArch",
    ("uptime_seconds",): f"{INFO}.uptime",
    ("default_ipv4", "macaddress"): (
        f"(Facts.network.interfaces | selectattr('name', 'equalto', ({_INTERFACE_OUT})) | first)"
        ".hardwareAddr"
    ),
    ("python", "version", "major"): "3",
}
"""Facts that ccm has, as expressions; the names do not include ``ansible_``."""

_ROUTE = ("address", "gateway", "netmask", "network", "prefix", "broadcast")
EMPTY = {("default_ipv6", "address"), *(("default_ipv4", word) for word in _ROUTE)}
"""Facts that are empty in ccm and undefined in Ansible if there is no default route."""

_NETWORK = (
    "sh -c 'ip -o -4 addr show dev \"$(ip -4 route show default | head -n 1 | "
    'sed "s/.* dev \\([^ ]*\\).*/\\1/")" | sed -n "s/.* inet \\([^ ]*\\) .*/\\1/p" | head -n 1\''
)

_COMMANDS = {
    "apparmor": "sh -c 'test -d /sys/kernel/security/apparmor && echo enabled || echo disabled'",
    "bios": "cat /sys/class/dmi/id/bios_version",
    "bits": "getconf LONG_BIT",
    "cores": "sh -c 'lscpu | sed -n \"s/^Core(s) per socket: *//p\"'",
    "fips": "sh -c 'cat /proc/sys/crypto/fips_enabled 2>/dev/null || echo 0'",
    # As Ansible finds it; `hostname -f` prints nothing for a name that cannot be resolved.
    "fqdn": "python3 -c 'import socket; print(socket.getfqdn())'",
    "gateway": "sh -c 'ip -4 route show default | cut -d \" \" -f 3 | head -n 1'",
    "group_number": "id -g",
    "home": "sh -c 'getent passwd \"$(id -un)\" | cut -d: -f6'",
    "login": "sh -c 'echo \"${SUDO_USER:-$(id -un)}\"'",
    "login_shell": "sh -c 'getent passwd \"$(id -un)\" | cut -d: -f7'",
    "machine_id": "cat /etc/machine-id",
    "mounts": MOUNTS,
    "nameservers": "sh -c 'sed -n \"s/^nameserver *//p\" /etc/resolv.conf'",
    "network": _NETWORK,
    "product": "cat /sys/class/dmi/id/product_name",
    "python": "python3 -c 'import platform; print(platform.python_version())'",
    "python_minor": "python3 -c 'import sys; print(sys.version_info[1])'",
    "python_path": "python3 -c 'import sys; print(sys.executable)'",
    "release": "sh -c '. /etc/os-release && echo \"${VERSION_CODENAME:-}\"'",
    "release_name": "sh -c '. /etc/os-release && echo \"$PRETTY_NAME\"'",
    "selinux": "sh -c 'getenforce 2>/dev/null || echo Disabled'",
    "selinux_type": "sh -c '. /etc/selinux/config 2>/dev/null; echo \"$SELINUXTYPE\"'",
    "sockets": "sh -c 'lscpu | sed -n \"s/^Socket(s): *//p\"'",
    "user": "id -un",
    "user_number": "id -u",
    "vendor": "cat /sys/class/dmi/id/sys_vendor",
}
"""The commands of lookups, by their names."""

_STATUS_OF_SELINUX = "'disabled' if {} == 'Disabled' else 'enabled'"

_ANSWERS: dict[tuple[str, ...], tuple[str, str]] = {
    ("apparmor", "status"): ("apparmor", "{}"),
    ("bios_version",): ("bios", "{}"),
    ("default_ipv4", "broadcast"): ("network", "{} | ipaddr('broadcast')"),
    ("default_ipv4", "gateway"): ("gateway", "{}"),
    ("default_ipv4", "netmask"): ("network", "{} | ipaddr('netmask')"),
    ("default_ipv4", "network"): ("network", "{} | ipaddr('network')"),
    ("default_ipv4", "prefix"): ("network", "{} | ipaddr('prefix')"),
    ("distribution_release",): ("release", "{}"),
    ("dns", "nameservers"): ("nameservers", "{}.split()"),
    ("domain",): ("fqdn", "{}.partition('.')[2]"),
    ("effective_user_id",): ("user_number", "{} | int"),
    ("env", "SUDO_USER"): ("login", "{}"),
    ("fips",): ("fips", "{} == '1'"),
    ("fqdn",): ("fqdn", "{}"),
    ("lsb", "codename"): ("release", "{}"),
    ("lsb", "description"): ("release_name", "{}"),
    ("machine_id",): ("machine_id", "{}"),
    ("mounts",): ("mounts", "({} | from_json)"),
    ("processor_cores",): ("cores", "{} | int"),
    ("processor_count",): ("sockets", "{} | int"),
    ("product_name",): ("product", "{}"),
    ("python", "executable"): ("python_path", "{}"),
    ("python", "version", "minor"): ("python_minor", "{} | int"),
    ("python_version",): ("python", "{}"),
    ("real_user_id",): ("user_number", "{} | int"),
    ("selinux",): ("selinux", f"{{{{'status': {_STATUS_OF_SELINUX}}}}}"),
    ("selinux", "mode"): ("selinux", "{} | lower"),
    ("selinux", "status"): ("selinux", f"({_STATUS_OF_SELINUX})"),
    ("selinux", "type"): ("selinux_type", "{}"),
    ("ssh_user",): ("login", "{}"),
    ("system_vendor",): ("vendor", "{}"),
    ("user",): ("login", "{}"),
    ("user_dir",): ("home", "{}"),
    ("user_gid",): ("group_number", "{} | int"),
    ("user_id",): ("user", "{}"),
    ("user_shell",): ("login_shell", "{}"),
    ("user_uid",): ("user_number", "{} | int"),
    ("userspace_bits",): ("bits", "{}"),
}
"""Facts that a lookup answers: its name, and the expression for its output."""

_TIMES = {
    "date": "%Y-%m-%d", "time": "%H:%M:%S", "epoch": "%s", "year": "%Y", "month": "%m",
    "day": "%d", "hour": "%H", "minute": "%M", "second": "%S", "weekday": "%A",
    "weekday_number": "%w", "weeknumber": "%W", "tz": "%Z", "tz_offset": "%z",
    "iso8601_basic_short": "%Y%m%dT%H%M%S",
}  # fmt: skip

UNCERTAIN_LOOK_UPS = {
    "login": "the user that logs in for the push; the original uses the one in its inventory",
    "env_path": "the PATH of the push; the original uses the PATH of its own login",
}
"""Lookups whose answers may differ from the fact."""

_ROUTED = (
    "ccm uses the address of the default route; the original uses the address that reaches {}, "
    "which can differ with policy routing"
)
UNCERTAIN_FACTS = {
    ("default_ipv4", "address"): _ROUTED.format("8.8.8.8"),
    ("default_ipv6", "address"): _ROUTED.format("2404:6800:400a:800::1012"),
    ("virtualization_type",): (
        "ccm's name for the virtual machine or container; the original also knows openstack, "
        "oVirt, RHEV and others, which are kvm here"
    ),
}
"""Facts that may differ, and the difference."""

_ENVIRONMENT = ("HOME", "USER", "LANG", "SHELL", "PATH")

_INTERFACE = re.compile(
    r"(?:eth|ens|eno|enp|wlan|bond|br|docker|tun|tap|wg|em|vlan|veth|venet|lxcbr|virbr)\w*|lo"
)


def look_up(words: tuple[str, ...]) -> tuple[str, dict[str, str], str] | None:
    """The lookup for a fact: its name, the question and the expression; None if there is none."""
    name, form, command = "", "{}", ""
    if words in _ANSWERS:
        name, form = _ANSWERS[words]
        command = _COMMANDS[name]
    elif len(words) == 2 and words[0] == "date_time" and words[1] in _TIMES:
        name, command = f"time_{words[1]}", f"date +{_TIMES[words[1]]}"
    elif len(words) == 2 and words[0] == "env" and words[1] in _ENVIRONMENT:
        name, command = f"env_{words[1].lower()}", f"printenv {words[1]}"
    text = form.format(f"Asked.{name}.stdout.strip()")
    return (name, {"command": command}, text) if name else None


def is_fact(name: str) -> bool:
    """Whether a variable such as ``ansible_os_family`` is a fact that ccm has."""
    words = (name.removeprefix("ansible_"),)
    found = words[0] in TABLES or words in SIMPLE or words in _ANSWERS
    return name.startswith("ansible_") and found


def of_interface(words: tuple[str, ...]) -> str:
    """The address of a named interface as an expression; empty for other facts."""
    if len(words) != 3 or words[1:] not in (("ipv4", "address"), ("ipv6", "address")):
        return ""
    if _INTERFACE.fullmatch(words[0]) is None:
        return ""
    kind = "selectattr" if words[1] == "ipv4" else "rejectattr"
    return (
        f"(Facts.network.addresses | selectattr('interface', 'equalto', '{words[0]}') | "
        f"{kind}('ipv4') | map(attribute='address') | first)"
    )


def of_other_host(words: tuple[str, ...], host: nodes.Expr) -> tuple[nodes.Expr, int] | None:
    """A fact of another host, and how many words name it; None if its facts do not hold it."""
    for size in range(len(words), 0, -1):
        found = words[:size]
        text = SIMPLE.get(found, "") or of_interface(found)
        if len(found) == 1 and found[0] in TABLES:
            fact, table = TABLES[found[0]]
            text = f"{table!r}.get({fact}, {fact})"
        if text:
            parts = re.split(r"\bFacts\b", text)
            return expression(f"{unparse(host)}.facts".join(parts)), size
    return None


NUMBERS = {"memfree_mb", "memtotal_mb", "swaptotal_mb", "processor_vcpus", "processor_nproc"}
LISTS = {"all_ipv4_addresses", "all_ipv6_addresses", "interfaces", "mounts"}


def other_host(node: Any) -> tuple[Any, list[Any]]:
    """The host and the keys of ``hostvars[HOST].a.b``; None and no keys for other expressions."""
    keys: list[Any] = []
    while True:
        if isinstance(node, nodes.Getattr):
            keys.append(node.attr)
            node = node.node
            continue
        if not isinstance(node, nodes.Getitem):
            return None, []
        if isinstance(node.node, nodes.Name) and node.node.name == "hostvars":
            return node.arg, keys[::-1]
        if not isinstance(node.arg, nodes.Const):
            return None, []
        keys.append(node.arg.value)
        node = node.node


def fact_of(path: tuple[str, list[Any]]) -> str:
    """The name of the fact that a path reads as a whole, without ``ansible_``; "" for
    other paths.
    """
    name, keys = path
    if name == "ansible_facts" and len(keys) == 1:
        return str(keys[0]).removeprefix("ansible_")
    return name.removeprefix("ansible_") if name.startswith("ansible_") and not keys else ""


def may_be_empty(node: Any, scope: Scope) -> bool:
    """Whether a fact of any host is empty in ccm if Ansible leaves it undefined."""
    path = path_of(node)
    words = [path[0], *map(str, path[1])] if path is not None else ["", ""]
    if path is None:
        words += map(str, other_host(node)[1])
    if words[0] in scope.locals or words[0] in scope.values:
        return False
    if words[0] in ("hostvars", ""):
        words = words[2:]
    if words[:1] == ["ansible_facts"]:
        words = words[1:]
    return tuple(one.removeprefix("ansible_") for one in words) in EMPTY


def is_there(fact: Any, wanted: bool) -> nodes.Compare:
    """The test whether a fact that may be empty is set, or the opposite."""
    if not isinstance(fact, nodes.Getattr):
        fact = filtered(fact, "default", "", True)
    return nodes.Compare(fact, [nodes.Operand("ne" if wanted else "eq", nodes.Const(""))])


_KINDS = {
    ("services",): "services",
    ("ansible_services",): "services",
    ("ansible_facts", "services"): "services",
    ("packages",): "packages",
    ("ansible_packages",): "packages",
    ("ansible_facts", "packages"): "packages",
}
_NAME = re.compile(r"[A-Za-z0-9@._+-]+")
_OF_SERVICE = 3  # words of ``services[UNIT].state``
_MEMBERS = {
    "state": ("active", "running", "stopped"),
    "status": ("enabled", "enabled", "disabled"),
}


def kind_of(path: tuple[str, list[Any]] | None) -> str:
    """``services`` or ``packages`` for the name of such a fact, "" for other names."""
    return "" if path is None else _KINDS.get((path[0], *map(str, path[1])), "")


def is_among(left: Any, operator: str, right: Any, scope: Scope) -> Any:
    """``'a.service' in services`` and ``'a' in ansible_facts.packages`` as lookups.

    None for other expressions. NotConvertible.
    """
    kind = kind_of(path_of(right))
    if kind not in scope.uses.listed or not isinstance(left, nodes.Const):
        return None
    word = str(left.value)
    if _NAME.fullmatch(word) is None:
        raise NotConvertible(f"whether {word!r} is among the {kind}")
    if kind == "services":
        command = f"systemctl cat {word}"
    else:
        command = (
            f'sh -c \'dpkg-query -W -f "${{db:Status-Status}}" {word} 2>/dev/null '
            f"| grep -qx installed || rpm -q {word}'"
        )
    question = {"command": command}
    name = scope.uses.name_of(f"has_{word_of(word)}", question)
    scope.uses.ask(name, question, scope.uses.listed[kind])
    code = members(nodes.Name("Asked", "load"), [name, "exit_code"])
    return nodes.Compare(code, [nodes.Operand("eq" if operator == "in" else "ne", nodes.Const(0))])


def is_defined(node: Any, positive: bool, scope: Scope) -> Any:
    """``services['a.service'] is defined`` as the same lookup; None for other names."""
    path = path_of(node)
    if path is None or not path[1]:
        return None
    return is_among(nodes.Const(path[1][-1]), "in" if positive else "notin", node.node, scope)


def compared(left: Any, operator: str, right: Any, scope: Scope) -> Any:
    """``services[UNIT].status != 'not-found'`` as a lookup; None for other comparisons.

    NotConvertible for a value that ``of_service`` never has.
    """
    path = path_of(left)
    if path is None or operator not in ("eq", "ne") or not isinstance(right, nodes.Const):
        return None
    words = _words(path)
    if len(words) != _OF_SERVICE or kind_of((path[0], path[1][:-2])) != "services":
        return None
    if words[-1] == "status" and right.value == "not-found":
        return is_among(
            nodes.Const(words[1]), "notin" if operator == "eq" else "in", left.node.node, scope
        )
    if words[-1] in _MEMBERS and right.value not in _MEMBERS[words[-1]][1:]:
        raise NotConvertible(f"whether the {words[-1]} of the service {words[1]} is {right.value}")
    return None


def _words(path: tuple[str, list[Any]]) -> tuple[str, ...]:
    names = [path[0], *map(str, path[1])]
    return tuple(names[1:] if names[0] == "ansible_facts" else names)


def of_service(words: tuple[str, ...], scope: Scope) -> Any:
    """``services[UNIT].state`` and ``.status``; None for other expressions.

    NotConvertible.
    """
    if words[0] != "services" or "services" not in scope.uses.listed or len(words) != _OF_SERVICE:
        return None
    _, unit, key = words
    if key not in _MEMBERS or _NAME.fullmatch(unit) is None:
        raise NotConvertible(f"{key} of the service {unit}")
    question = {"service": unit.removesuffix(".service")}
    name = scope.uses.name_of(f"service_{word_of(unit)}", question)
    scope.uses.ask(name, question, scope.uses.listed["services"])
    member, yes, no = _MEMBERS[key]
    return expression(f"'{yes}' if Asked.{name}.{member} else '{no}'")


def word_of(text: str) -> str:
    """The part of a lookup's name that is derived from a text."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
