"""The known rules for the kernel's parameters, before they are set (target; previews).

Each rule is valid for every Linux since 4.18.
"""

import re
from typing import Dict, Optional, Sequence

from remote_runtime.system.kernel.sysctl_files import number_of

_LARGEST = (1 << 31) - 1
_SWITCH, _INT = (0, 1), (-_LARGEST, _LARGEST)
_OF_V4 = (
    "accept_redirects|accept_source_route|arp_accept|arp_announce|arp_filter|arp_ignore|forwarding"
    "|log_martians|proxy_arp|rp_filter|secure_redirects|send_redirects|shared_media"
)
_OF_V6 = (
    "accept_dad|accept_ra|accept_ra_defrtr|accept_ra_pinfo|accept_ra_rtr_pref|accept_redirects"
    "|accept_source_route|autoconf|dad_transmits|disable_ipv6|forwarding|router_solicitations"
    "|use_tempaddr"
)
_ACCEPTED = (
    (r"net/ipv4/conf/[^/]+/(%s)" % _OF_V4, _SWITCH),
    (r"net/ipv4/conf/[^/]+/(arp_announce|arp_ignore|rp_filter)", (0, 2)),
    (r"net/ipv6/conf/[^/]+/(%s)" % _OF_V6, _SWITCH),
    (r"net/ipv6/conf/[^/]+/(accept_ra|use_tempaddr)", (0, 2)),
    (
        r"net/ipv4/(icmp_echo_ignore_all|icmp_echo_ignore_broadcasts|ip_forward|ip_nonlocal_bind"
        r"|icmp_ignore_bogus_error_responses|tcp_no_metrics_save|tcp_rfc1337|tcp_sack|tcp_ecn"
        r"|tcp_slow_start_after_idle|tcp_syncookies|tcp_timestamps|tcp_tw_reuse"
        r"|tcp_window_scaling|tcp_mtu_probing|tcp_moderate_rcvbuf)",
        _SWITCH,
    ),
    (r"net/ipv4/ip_default_ttl", (1, 255)),
    (r"net/ipv4/ip_unprivileged_port_start", (0, 1024)),  # at most the least local port
    (r"net/ipv4/tcp_syn_retries", (1, 127)),
    (r"net/ipv4/(tcp_keepalive_probes|tcp_synack_retries|tcp_retries[12])", (1, 100)),
    (r"net/ipv4/(tcp_fin_timeout|tcp_keepalive_(time|intvl))", (1, 32767)),
    (r"net/ipv4/(tcp_max_syn_backlog|tcp_max_tw_buckets|tcp_max_orphans)", (1, _LARGEST)),
    (r"net/core/(somaxconn|netdev_max_backlog)", (1, 65535)),
    (r"net/core/[rw]mem_(default|max)", (4608, _LARGEST)),
    (r"vm/swappiness", (0, 100)),
    (r"vm/(overcommit_memory|panic_on_oom)", (0, 2)),
    (r"vm/(max_map_count|vfs_cache_pressure)", (1, _LARGEST)),
    (r"vm/dirty_(background_)?ratio", (1, 100)),
    (r"fs/(file-max|aio-max-nr|inotify/max_user_(watches|instances))", (1, _LARGEST)),
    (r"fs/(suid_dumpable|protected_regular|protected_fifos)", (0, 2)),
    (r"fs/protected_(hardlinks|symlinks)", _SWITCH),
    (r"kernel/(dmesg_restrict|core_uses_pid|sysrq|panic_on_oops)", _SWITCH),
    (r"kernel/(kptr_restrict|randomize_va_space)", (0, 2)),
    (r"kernel/panic", (0, 3600)),
    (r"kernel/pid_max", (32768, 4194304)),
)
_FORWARD = ("net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding")
_CONF = "net/ipv%d/conf/%s/%s"
_ALL_V6 = ("disable_ipv6", "forwarding")  # which the interfaces take over
_SOME_V6 = ("ignore_routes_with_linkdown", "addr_gen_mode", "disable_policy", "use_tempaddr")
_EITHER = {
    "vm/dirty_bytes": "vm/dirty_ratio",
    "vm/dirty_ratio": "vm/dirty_bytes",
    "vm/dirty_background_bytes": "vm/dirty_background_ratio",
    "vm/dirty_background_ratio": "vm/dirty_background_bytes",
}


def is_accepted(key: str, value: str) -> bool:
    """Return whether the kernel is known to accept a value of a parameter and then show it."""
    number = number_of(value)
    if number is None:
        return False
    return any(
        least <= number <= maximum and re.match(pattern + r"\Z", key)
        for pattern, (least, maximum) in _ACCEPTED
    )


def dependent_parameters(
    key: str, value: str, interfaces: Sequence[str]
) -> Dict[str, Optional[str]]:
    """The other parameters that change with one, with their values; None for an unknown value.

    ``interfaces`` are the names below ``net/ipv4/conf`` or ``net/ipv6/conf``.
    """
    on = number_of(value)
    shown = value if on is None else str(on)
    result: Dict[str, Optional[str]] = {}
    if key in _FORWARD:
        result.update((_CONF % (4, name, "forwarding"), shown) for name in interfaces)
        result["net/ipv4/ip_forward"] = shown
        result["net/ipv4/conf/all/accept_redirects"] = None if on is None else str(int(not on))
    elif key in _EITHER:
        result[_EITHER[key]] = "0"
    else:
        match = re.match(r"net/ipv([46])/conf/(all|default)/([^/]+)\Z", key)
        family, of, name = match.groups() if match else ("", "", "")
        others = [_CONF % (int(family), one, name) for one in interfaces] if family else []
        if family == "6" and of == "all" and name in _ALL_V6:
            result.update((other, shown) for other in others)
        elif family == "6" and of == "all" and name in _SOME_V6:
            result.update((other, None) for other in others)
        elif family == "4" and of == "default" and name != "forwarding":
            fixed = ("net/ipv4/conf/all/", "net/ipv4/conf/default/")
            result.update((other, None) for other in others if not other.startswith(fixed))
    result.pop(key, None)
    return result


def family_of(key: str) -> str:
    """The directory of the interfaces to which a parameter may apply; "" for none."""
    match = re.match(r"(net/ipv[46])/(conf/|ip_forward\Z)", key)
    return match.group(1) + "/conf" if match else ""
