"""The rules for a scaffold resource in addition to its schema (both sides)."""

from typing import Any, Dict

from remote_runtime.text import duration, shell_words
from remote_runtime.validation import rules
from remote_runtime.validation.rules import Problems

POST_TIMEOUT = "1m"


def problems(name: str, properties: Dict[str, Any]) -> Problems:
    """Each violated rule as (property, message)."""
    found = [("name", message) for message in rules.of_path(name)]
    if name == "/":
        found.append(("name", "the root directory cannot be a scaffold"))
    source = properties.get("source")
    if isinstance(source, str) and "://" in source:
        found.append(
            (
                "source",
                "source must be a directory of templates, not a URL: keep it next to the "
                "manifest, or download it first",
            )
        )
    found.extend(_of_delimiters(properties))
    found.extend(_of_post(properties))
    return found


def _of_delimiters(properties: Dict[str, Any]) -> Problems:
    found: Problems = []
    for key, other in (("left", "right"), ("right", "left")):
        value = properties.get(key + "_delimiter")
        if value is None:
            continue
        if not properties.get(other + "_delimiter"):
            found.append((key + "_delimiter", "%s_delimiter is also required" % other))
        if any(char.isspace() for char in str(value)):
            found.append((key + "_delimiter", "a delimiter must not contain whitespace"))
    left = properties.get("left_delimiter")
    if left is not None and left == properties.get("right_delimiter"):
        found.append(("right_delimiter", "the two delimiters must be different"))
    return found


def _of_post(properties: Dict[str, Any]) -> Problems:
    found: Problems = []
    for entry in properties.get("post") or []:
        for pattern, command in entry.items():
            if not pattern:
                found.append(("post", "the pattern of %r is empty" % command))
            try:
                if not shell_words.split(command):
                    found.append(("post", "the command for %r is empty" % pattern))
            except ValueError as error:
                found.append(("post", "the command for %r: %s" % (pattern, error)))
    if properties.get("post_timeout") is not None:
        timeout = str(properties["post_timeout"])
        found += [("post_timeout", message) for message in rules.of_text(duration.parse, timeout)]
    return found
