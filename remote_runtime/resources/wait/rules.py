"""The rules for a wait resource in addition to its schema (both sides)."""

import re
from typing import Any, Dict

from remote_runtime.text import duration
from remote_runtime.validation.command_rules import of_settings, of_words
from remote_runtime.validation.rules import Problems

CONDITIONS = ("port", "url", "file", "command")
_BELONGS = {
    "host": "port",
    "status": "url",
    "allow_insecure": "url",
    "cwd": "command",
    "environment": "command",
    "user": "command",
}
_HOST = re.compile(r"[^\s/\x00-\x1f\x7f]+\Z")
_SHORTEST = 0.1  # seconds between two looks


def problems(properties: Dict[str, Any]) -> Problems:
    """Each violated rule as (property, message)."""
    condition_keys = [key for key in CONDITIONS if properties.get(key) is not None]
    problems: Problems = []
    if len(condition_keys) != 1:
        problem = "set exactly one of %s or %s" % (", ".join(CONDITIONS[:-1]), CONDITIONS[-1])
        if condition_keys:
            problem += ", not %s" % " and ".join(condition_keys)
        problems.append((condition_keys[1] if condition_keys else "", problem))
    for key, condition in _BELONGS.items():
        if properties.get(key) is not None and condition_keys and condition not in condition_keys:
            problems.append((key, "it requires %s" % condition))
    problems += of_settings("", properties)
    problems += _duration("timeout", properties, 0.0)
    problems += _duration("interval", properties, _SHORTEST)
    problems += _condition(properties)
    return problems


def _duration(key: str, properties: Dict[str, Any], shortest: float) -> Problems:
    text = properties.get(key)
    if not isinstance(text, str):
        return []
    try:
        seconds = duration.parse(text)
    except ValueError as error:
        # The error of the timeout is reported with the settings of the command.
        return [(key, str(error))] if key == "interval" else []
    if seconds <= 0 or seconds < shortest:
        least = "at least %gs" % shortest if shortest else "more than 0"
        return [(key, "%r is too short, expected %s" % (text, least))]
    return []


def _condition(properties: Dict[str, Any]) -> Problems:
    problems: Problems = []
    url, path, host = properties.get("url"), properties.get("file"), properties.get("host")
    if isinstance(host, str) and not _HOST.match(host):
        problems.append(("host", "%r is not the name or the address of a host" % host))
    if isinstance(url, str):
        scheme, _, rest = url.partition("://")
        if scheme not in ("http", "https") or not rest.strip("/"):
            problems.append(("url", "a URL must begin with http:// or https:// and name a server"))
    if isinstance(path, str) and not path.startswith("/"):
        problems.append(("file", "%r is not an absolute path" % path))
    elif isinstance(path, str) and not path.isprintable():
        problems.append(("file", "the path contains a control character"))
    if properties.get("provider", "posix") == "posix":
        problems += of_words("command", properties.get("command"))
    return problems
