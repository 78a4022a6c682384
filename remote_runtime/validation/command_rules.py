"""The rules for a command and its settings that a schema cannot express (both sides)."""

from typing import Any, Dict, List

from remote_runtime.text import duration, shell_words
from remote_runtime.validation import rules
from remote_runtime.validation.rules import Problems


def parse_umask(text: str) -> int:
    """Return the number of an octal umask. ``ValueError`` says what is wrong."""
    digits = text[2:] if text[:2] in ("0o", "0O") else text
    if not digits or any(d not in "01234567" for d in digits) or int(digits, 8) > 0o777:
        raise ValueError('%r is not an octal umask such as "022"' % text)
    return int(digits, 8)


def of_settings(prefix: str, values: Dict[str, Any]) -> Problems:
    """Return the problems of a command's settings, under the property ``prefix`` if they are part
    of it."""
    problems: Problems = []

    def add(key: str, message: str) -> None:
        problems.append((prefix or key, "%s: %s" % (key, message) if prefix else message))

    for directory in _path(values.get("path")):
        if not directory.startswith("/"):
            add("path", "%r is not an absolute path" % directory)
    for entry in listed(values.get("environment")):
        key, mark, value = entry.partition("=")
        if not (key and mark and value):
            add("environment", "%r is not KEY=VALUE; neither part may be empty" % entry)
        elif "\0" in entry:
            add("environment", "%r contains a NUL character" % entry)
    for key, parse in (("timeout", duration.parse), ("umask", parse_umask)):
        if isinstance(values.get(key), str):
            for message in rules.of_text(parse, values[key]):
                add(key, message)
    if isinstance(values.get("cwd"), str) and not values["cwd"].startswith("/"):
        add("cwd", "%r is not an absolute path" % values["cwd"])
    return problems


def of_words(key: str, text: Any) -> Problems:
    """Return the problems of a command that must be split into words."""
    if not isinstance(text, str):
        return []
    try:
        return [] if shell_words.split(text) else [(key, "the command is empty")]
    except ValueError as error:
        return [(key, str(error))]


def _path(value: Any) -> List[str]:
    return value.split(":") if isinstance(value, str) else []


def listed(value: Any) -> List[str]:
    """Return the texts of a list; empty for any other value."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, (list, tuple)) else []
