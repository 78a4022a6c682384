"""The conditions of ``@validate`` (controller)."""

import ipaddress
import re
from collections.abc import Callable
from typing import Any

from remote_runtime.text import duration

_LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
_HOSTNAME = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?\Z")
_FQDN = re.compile(rf"({_LABEL}\.)+(?=[A-Za-z0-9-]*[A-Za-z]){_LABEL}\.?\Z")
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_SHELL_UNSAFE = re.compile(r"[`$;|&<>(){}\[\]*?!\\\"'#~\n\r\0]")


def is_ip(value: Any) -> bool:
    """Whether it is an IPv4 or IPv6 address."""
    return is_ipv4(value) or is_ipv6(value)


def is_ipv4(value: Any) -> bool:
    """Whether it is an IPv4 address."""
    return isinstance(value, str) and _parses(ipaddress.IPv4Address, value)


def is_ipv6(value: Any) -> bool:
    """Whether it is an IPv6 address."""
    return isinstance(value, str) and _parses(ipaddress.IPv6Address, value)


def is_int(value: Any) -> bool:
    """Whether it is a whole number, or a string with one."""
    if isinstance(value, str):
        return _INTEGER.match(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def is_float(value: Any) -> bool:
    """Whether it is a number, or a string with one."""
    if isinstance(value, str):
        return "_" not in value and value == value.strip() and _parses(float, value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_duration(value: Any) -> bool:
    """Whether it is a duration such as 30s or 1h30m."""
    return isinstance(value, str) and _parses(duration.parse, value)


def is_regex(value: Any, pattern: str | None = None) -> bool:
    """Whether it is a regular expression; with a ``pattern``, whether it matches anywhere in the
    value.
    """
    if not isinstance(value, str):
        return False
    if pattern is not None:
        from orchestrator.language.exprlang.regex import compile_regex

        return compile_regex(pattern).search(value)
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def is_shell_safe(value: Any) -> bool:
    """Whether it is a string without special shell characters."""
    return isinstance(value, str) and not _SHELL_UNSAFE.search(value)


def is_hostname(value: Any) -> bool:
    """Whether it is a host name, with or without a domain."""
    return isinstance(value, str) and len(value) <= 253 and _HOSTNAME.match(value) is not None


def is_fqdn(value: Any) -> bool:
    """Whether it is a host name with its domain."""
    return isinstance(value, str) and len(value) <= 253 and _FQDN.match(value) is not None


def _parses(parse: Callable[[str], Any], value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True


def _each(check: Callable[..., bool]) -> Callable[..., bool]:
    """Apply the condition to every entry of a list, or to a single value."""

    def held(value: Any, *arguments: Any) -> bool:
        """Whether the value, or every entry of a list, satisfies the condition."""
        if isinstance(value, list):
            return all(held(entry, *arguments) for entry in value)
        return check(value, *arguments)

    return held


_CONDITIONS: dict[str, Callable[..., bool]] = {
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
}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


VALIDATORS: dict[str, Callable[..., bool]] = {
    spelling: held
    for name, held in ((name, _each(check)) for name, check in _CONDITIONS.items())
    for spelling in (name, _snake(name))
}
