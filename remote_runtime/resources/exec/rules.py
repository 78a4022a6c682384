"""What an exec resource may say beyond its schema (both sides)."""

from typing import Any, Dict, List, Tuple

from remote_runtime import duration, words

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
    _words("name", name, found)
    plain = properties.get("provider", "posix") == "posix"
    if plain and properties.get("interpreter", "default") == "default":
        _words("command", properties.get("command"), found)
    _settings("", properties, found)
    for key in ("onlyif", "unless"):
        _guard(key, properties, plain, found)
    for entry in _list(properties.get("subscribe")):
        kind, mark, rest = entry.partition("#")
        if not (kind and mark and rest):
            found.append(("subscribe", "%r is not written as type#name" % entry))
    return found


def _guard(key: str, properties: Dict[str, Any], plain: bool, found: Found) -> None:
    guard = properties.get(key)
    if plain and properties.get("guard_interpreter", "default") == "default":
        _words(key, guard.get("command") if isinstance(guard, dict) else guard, found)
    if isinstance(guard, dict):
        _settings(key, guard, found)


def _settings(prefix: str, values: Dict[str, Any], found: Found) -> None:
    """What a command and a guard have in common."""

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
            try:
                parse(values[key])
            except ValueError as error:
                add(key, str(error))
    if isinstance(values.get("cwd"), str) and not values["cwd"].startswith("/"):
        add("cwd", "%r is not an absolute path" % values["cwd"])


def _words(key: str, text: Any, found: Found) -> None:
    if not isinstance(text, str):
        return
    try:
        if not words.split(text):
            found.append((key, "the command is empty"))
    except ValueError as error:
        found.append((key, str(error)))


def _path(value: Any) -> List[str]:
    return value.split(":") if isinstance(value, str) else []


def _list(value: Any) -> List[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, (list, tuple)) else []
