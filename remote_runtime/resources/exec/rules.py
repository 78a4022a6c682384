"""What an exec resource may say beyond its schema (both sides)."""

from typing import Any, Dict, List, Tuple

from remote_runtime import rules
from remote_runtime.text import duration, shell_words

Found = List[Tuple[str, str]]


def parse_umask(text: str) -> int:
    """Return the number of an octal umask. ``ValueError`` says what is wrong."""
    digits = text[2:] if text[:2] in ("0o", "0O") else text
    if not digits or any(d not in "01234567" for d in digits) or int(digits, 8) > 0o777:
        raise ValueError('%r is not an octal umask such as "022"' % text)
    return int(digits, 8)


def problems(name: str, properties: Dict[str, Any]) -> Found:
    """Every broken rule as (property, message)."""
    found: Found = []
    if not name.isprintable() and any(
        ord(char) == 127 or (ord(char) < 32 and char not in "\n\t") for char in name
    ):
        found.append(("name", "the name holds a control character"))
    found += of_words("name", name)
    plain = properties.get("provider", "posix") == "posix"
    if plain and properties.get("interpreter", "default") == "default":
        found += of_words("command", properties.get("command"))
    found += of_settings("", properties)
    for key in ("onlyif", "unless"):
        found += _of_guard(key, properties, plain)
    for entry in _list(properties.get("subscribe")):
        kind, mark, rest = entry.partition("#")
        if not (kind and mark and rest):
            found.append(("subscribe", "%r is not written as type#name" % entry))
    return found


def _of_guard(key: str, properties: Dict[str, Any], plain: bool) -> Found:
    guard = properties.get(key)
    found: Found = []
    if plain and properties.get("guard_interpreter", "default") == "default":
        found += of_words(key, guard.get("command") if isinstance(guard, dict) else guard)
    if isinstance(guard, dict):
        found += of_settings(key, guard)
    return found


def of_settings(prefix: str, values: Dict[str, Any]) -> Found:
    """What is wrong with how a command is to run, told of the property ``prefix`` where it is part
    of that."""
    found: Found = []

    def add(key: str, message: str) -> None:
        found.append((prefix or key, "%s: %s" % (key, message) if prefix else message))

    for folder in _path(values.get("path")):
        if not folder.startswith("/"):
            add("path", "%r is not an absolute directory" % folder)
    for entry in _list(values.get("environment")):
        key, mark, value = entry.partition("=")
        if not (key and mark and value) or "\0" in entry:
            add("environment", "%r is not KEY=value, with both of them given" % entry)
    for key, parse in (("timeout", duration.parse), ("umask", parse_umask)):
        if isinstance(values.get(key), str):
            for message in rules.of_text(parse, values[key]):
                add(key, message)
    if isinstance(values.get("cwd"), str) and not values["cwd"].startswith("/"):
        add("cwd", "%r is not an absolute path" % values["cwd"])
    return found


def of_words(key: str, text: Any) -> Found:
    """What is wrong with a command that is to be split into words."""
    if not isinstance(text, str):
        return []
    try:
        return [] if shell_words.split(text) else [(key, "the command is empty")]
    except ValueError as error:
        return [(key, str(error))]


def _path(value: Any) -> List[str]:
    return value.split(":") if isinstance(value, str) else []


def _list(value: Any) -> List[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, (list, tuple)) else []
