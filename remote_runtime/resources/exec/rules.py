"""The rules for an exec resource in addition to its schema (both sides)."""

from typing import Any, Dict

from remote_runtime.validation import rules
from remote_runtime.validation.command_rules import listed, of_settings, of_words
from remote_runtime.validation.rules import Problems


def problems(name: str, properties: Dict[str, Any]) -> Problems:
    """Each violated rule as (property, message)."""
    problems: Problems = []
    if not name.isprintable() and any(
        ord(char) == 127 or (ord(char) < 32 and char not in "\n\t") for char in name
    ):
        problems.append(("name", "the name contains a control character"))
    plain = properties.get("provider", "posix") == "posix"
    if plain and properties.get("interpreter", "default") == "default":
        key = "command" if "command" in properties else "name"
        problems += of_words(key, properties.get("command", name))
    problems += of_settings("", properties)
    problems += [("creates", m) for m in rules.of_creates(properties.get("creates"), "unless")]
    problems += rules.of_tries(properties)
    for key in ("onlyif", "unless"):
        problems += _of_guard(key, properties, plain)
    for entry in listed(properties.get("subscribe")):
        kind, mark, rest = entry.partition("#")
        if not (kind and mark and rest):
            problems.append(("subscribe", "%r is not in the form type#name" % entry))
    return problems


def _of_guard(key: str, properties: Dict[str, Any], plain: bool) -> Problems:
    guard = properties.get(key)
    problems: Problems = []
    if plain and properties.get("guard_interpreter", "default") == "default":
        problems += of_words(key, guard.get("command") if isinstance(guard, dict) else guard)
    if isinstance(guard, dict):
        problems += of_settings(key, guard)
    return problems
