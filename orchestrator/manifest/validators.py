"""The conditions that ``@validate`` knows (controller)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any

from remote_runtime import duration

_LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
_HOSTNAME = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?\Z")
_FQDN = re.compile(rf"({_LABEL}\.)+(?=[A-Za-z0-9-]*[A-Za-z]){_LABEL}\.?\Z")
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_SHELL_UNSAFE = re.compile(r"[`$;|&<>(){}\[\]*?!\\\"'#~\n\r\0]")


def is_ip(value: Any) -> bool:
    """An IPv4 or IPv6 address."""
    return is_ipv4(value) or is_ipv6(value)


def is_ipv4(value: Any) -> bool:
    """An IPv4 address."""
    return isinstance(value, str) and _parses(ipaddress.IPv4Address, value)


def is_ipv6(value: Any) -> bool:
    """An IPv6 address."""
    return isinstance(value, str) and _parses(ipaddress.IPv6Address, value)


def is_int(value: Any) -> bool:
    """A whole number, or a text that is one."""
    if isinstance(value, str):
        return _INTEGER.match(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def is_float(value: Any) -> bool:
    """A number, or a text that is one."""
    if isinstance(value, str):
        return "_" not in value and value == value.strip() and _parses(float, value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_duration(value: Any) -> bool:
    """A duration such as 30s or 1h30m."""
    return isinstance(value, str) and _parses(duration.parse, value)


def is_regex(value: Any) -> bool:
    """A regular expression."""
    if not isinstance(value, str):
        return False
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def is_shell_safe(value: Any) -> bool:
    """A text that means only itself in a shell."""
    return isinstance(value, str) and not _SHELL_UNSAFE.search(value)


def is_hostname(value: Any) -> bool:
    """A host name, with or without a domain."""
    return isinstance(value, str) and len(value) <= 253 and _HOSTNAME.match(value) is not None


def is_fqdn(value: Any) -> bool:
    """A host name with its domain."""
    return isinstance(value, str) and len(value) <= 253 and _FQDN.match(value) is not None


def _parses(parse: Callable[[str], Any], value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True


VALIDATORS: dict[str, Callable[[Any], bool]] = {
    "isIP": is_ip,
    "isIPv4": is_ipv4,
    "isIPv6": is_ipv6,
    "isInt": is_int,
    "isFloat": is_float,
    "isDuration": is_duration,
    "isRegex": is_regex,
    "isShellSafe": is_shell_safe,
    "isHostname": is_hostname,
    "isFQDN": is_fqdn,
    "is_ip": is_ip,
    "is_ipv4": is_ipv4,
    "is_ipv6": is_ipv6,
    "is_int": is_int,
    "is_float": is_float,
    "is_duration": is_duration,
    "is_regex": is_regex,
    "is_shell_safe": is_shell_safe,
    "is_hostname": is_hostname,
    "is_fqdn": is_fqdn,
}
