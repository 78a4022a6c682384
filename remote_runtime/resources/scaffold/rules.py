"""The rules for a scaffold resource in addition to its schema (both sides)."""

from typing import Any, Dict

from remote_runtime.text import duration, shell_words
from remote_runtime.validation import rules
from remote_runtime.validation.rules import Problems

POST_TIMEOUT = "1m"


def problems(name: str, properties: Dict[str, Any]) -> Problems:
    """Each violated rule as (property, message)."""
    problems = [("name", message) for message in rules.of_path(name)]
    if name == "/":
        problems.append(("name", "the root directory cannot be a scaffold"))
    source = properties.get("source")
    if isinstance(source, str) and "://" in source:
        problems.append(
            (
                "source",
                "source must be a directory of templates, not a URL: keep it next to the "
                "manifest, or download it first",
            )
        )
    problems.extend(_of_delimiters(properties))
    problems.extend(_of_post(properties))
    return problems


def _of_delimiters(properties: Dict[str, Any]) -> Problems:
    problems: Problems = []
    for key, other in (("left", "right"), ("right", "left")):
        value = properties.get(key + "_delimiter")
        if value is None:
            continue
        if not properties.get(other + "_delimiter"):
            problems.append((key + "_delimiter", "%s_delimiter is also required" % other))
        if any(char.isspace() for char in str(value)):
            problems.append((key + "_delimiter", "a delimiter must not contain whitespace"))
    left = properties.get("left_delimiter")
    if left is not None and left == properties.get("right_delimiter"):
        problems.append(("right_delimiter", "the two delimiters must be different"))
    return problems


def _of_post(properties: Dict[str, Any]) -> Problems:
    problems: Problems = []
    for entry in properties.get("post") or []:
        for pattern, command in entry.items():
            if not pattern:
                problems.append(("post", "the pattern of %r is empty" % command))
            try:
                if not shell_words.split(command):
                    problems.append(("post", "the command for %r is empty" % pattern))
            except ValueError as error:
                problems.append(("post", "the command for %r: %s" % (pattern, error)))
    if properties.get("post_timeout") is not None:
        timeout = str(properties["post_timeout"])
        problems += [
            ("post_timeout", message) for message in rules.of_text(duration.parse, timeout)
        ]
    return problems
