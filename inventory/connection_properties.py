"""The connection properties and their valid values (controller).

Each check receives the scalar as written and the directory to which paths are relative, and returns
the value for ``Host``, or raises RefusedError.
"""

import os
import re
from collections.abc import Callable

from inventory.document_nodes import Mapping, Node, Scalar
from remote_runtime.text import duration

PropertyValue = str | int | float | bool

ADDRESS = r"^[A-Za-z0-9_:\[][A-Za-z0-9._:%\[\]-]*$"
USER = r"^[\w][\w.@+\\-]*\$?$"
PYTHON = r"^[\w./+][\w./+-]*$"
JUMP = r"^[A-Za-z0-9_\[][A-Za-z0-9._:%@,\[\]+-]*$"
SITE = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
SITE_HINT = (
    "use letters a-z, digits, dots, underscores and hyphens, starting with a letter or digit"
)
DURATION = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"
MAX_CONNECT_TIMEOUT = 3600
TRUTH_WORDS = ("true", "false", "yes", "no", "on", "off")

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class RefusedError(ValueError):
    """The property does not accept the value; it has the expected value and the correction."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def check_property(name: str, node: Node, directory: str) -> PropertyValue:
    """The value of the property ``name`` (one of PROPERTIES); RefusedError if it is wrong."""
    expected, check = PROPERTIES[name]
    if not isinstance(node, Scalar) or node.kind == "null":
        raise RefusedError(f"{name} must be {expected}, not {node.describe()}")
    return check(name, node, directory)


class CheckedValues:
    """Checks the values of one document; hosts mostly have the same values, so each value is
    checked once.

    ``check`` receives a property's name and its written value.
    """

    def __init__(self, check: Callable[[str, Node], PropertyValue]) -> None:
        self._check = check
        self._good: dict[tuple[str, type, object], PropertyValue] = {}

    def value(self, name: str, mapping: Mapping, key: str) -> PropertyValue:
        """The value of the property under a key; RefusedError for a wrong one."""
        if name == "address":  # each host has its own
            return self._check(name, mapping.value(key))
        written = mapping.scalar(key)
        known = self._good.get((name, written.__class__, written))
        if known is None:
            known = self._check(name, mapping.value(key))
            self._good[(name, written.__class__, written)] = known
        return known


def seconds(text: str) -> float:
    """A duration such as ``10s``, ``500ms`` or ``1m30s`` in seconds; RefusedError otherwise."""
    if not re.fullmatch(DURATION, text):
        raise RefusedError(
            f"{text[:40]!r} is not a duration", "write seconds, or a duration such as 10s or 1m"
        )
    return duration.parse(text)


def _text(name: str, node: Scalar) -> str:
    if node.kind not in ("str", "timestamp"):
        expected = PROPERTIES[name][0]
        raise RefusedError(f"{name} must be {expected}, not {node.describe()}", "put it in quotes")
    if _CONTROL.search(node.text):
        raise RefusedError(f"{name} contains a control character", "remove it")
    return node.text


_PLAIN = "it must not be empty, start with a dash, or contain whitespace or shell characters"


def _matching(pattern: str, hint: str = _PLAIN) -> Callable[[str, Scalar, str], PropertyValue]:
    whole = pattern.replace("$", r"\Z") if pattern != USER else r"[\w][\w.@+\\-]*\$?\Z"

    def check(name: str, node: Scalar, directory: str) -> PropertyValue:
        text = _text(name, node)
        if not re.match(whole, text):
            raise RefusedError(f"{name} must be {PROPERTIES[name][0]}, not {text[:60]!r}", hint)
        return text

    return check


def _port(name: str, node: Scalar, directory: str) -> PropertyValue:
    value = node.value
    if node.kind != "int" or not isinstance(value, int):
        hint = "write it without quotes" if node.text.isdigit() else ""
        raise RefusedError(f"port must be a number from 1 to 65535, not {node.text[:40]!r}", hint)
    if not 1 <= value <= 65535:
        raise RefusedError(f"port must be a number from 1 to 65535, not {node.text[:40]}")
    return value


def _path(name: str, node: Scalar, directory: str) -> PropertyValue:
    text = _text(name, node)
    if not text:
        raise RefusedError(f"{name} is empty", "remove it")
    return os.path.normpath(os.path.join(directory, os.path.expanduser(text)))


def _become(name: str, node: Scalar, directory: str) -> PropertyValue:
    if isinstance(node.value, bool):
        return node.value
    if node.text.lower() in TRUTH_WORDS:
        raise RefusedError(f"become is the text {node.text!r}", "write true or false")
    return _user(name, node, directory)


def _connection(name: str, node: Scalar, directory: str) -> PropertyValue:
    if node.kind != "str" or node.text not in ("ssh", "local"):
        raise RefusedError(f"connection must be ssh or local, not {node.text[:40]!r}")
    return node.text


def _connect_timeout(name: str, node: Scalar, directory: str) -> PropertyValue:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        expected = PROPERTIES[name][0]
        raise RefusedError(f"connect_timeout must be {expected}, not {node.describe()}")
    number = seconds(value) if isinstance(value, str) else value
    if not 0 < number <= MAX_CONNECT_TIMEOUT:
        raise RefusedError(
            f"connect_timeout must be greater than 0 and at most {MAX_CONNECT_TIMEOUT} seconds, "
            f"not {node.text[:40]}"
        )
    return float(number)


_user = _matching(USER)

PROPERTIES: dict[str, tuple[str, Callable[[str, Scalar, str], PropertyValue]]] = {
    "address": ("a host name or an IP address", _matching(ADDRESS)),
    "port": ("a number from 1 to 65535", _port),
    "user": ("a username", _user),
    "key_file": ("the path of a private key", _path),
    "known_hosts": ("the path of a known_hosts file", _path),
    "become": ("true, false or a username", _become),
    "python": ("the path or name of a Python interpreter", _matching(PYTHON)),
    "connection": ("ssh or local", _connection),
    "connect_timeout": ("seconds or a duration such as 10s", _connect_timeout),
    "site": ("the name of a site", _matching(SITE, SITE_HINT)),
    "jump": ("a host such as user@gate:22, or several with commas", _matching(JUMP)),
}
