"""The common rules of several types (both sides)."""

import posixpath
from typing import Any, Callable, List, Mapping, Tuple

Problems = List[Tuple[str, str]]
"""The problems of a resource, each as (property, message)."""


def of_path(path: str) -> List[str]:
    """Return the problems of a path that must be managed."""
    if not path.startswith("/"):
        return ["the path must be absolute"]
    # Asked as a whole first: this runs for every file of every host.
    if not path.isprintable() and any(ord(char) < 32 or ord(char) == 127 for char in path):
        return ["the path contains a control character"]
    clean = posixpath.normpath("/" + path.lstrip("/"))
    if clean != path:
        return [
            "the path must not have '.' or '..' components, double slashes or a trailing slash: "
            "write %s" % clean
        ]
    return []


def of_validation(command: str) -> List[str]:
    """Return the problems of a command that validates a finished file."""
    from remote_runtime.text import shell_words

    try:
        parts = shell_words.split(command)
    except ValueError as error:
        return [str(error)]
    if not any("{}" in part for part in parts):
        return ["it must contain {}, the placeholder for the file to validate"]
    return []


def of_creates(path: Any, unless: str = "") -> List[str]:
    """Return the problems of a path that makes a resource unnecessary. The path is used literally,
    so a shell's pattern or home directory would never exist. ``unless`` is the property for
    conditions that a path cannot express."""
    if not isinstance(path, str):
        return []
    if path.startswith("~"):
        return ["%r is not expanded: write the home directory as a path" % path]
    if any(_is_pattern(part) for part in path.split("/")):
        other = "; for a pattern, use %s with provider: shell" % unless if unless else ""
        return ["the pattern %r is not expanded: write one path%s" % (path, other)]
    return []


def _is_pattern(part: str) -> bool:
    """Return whether a shell would expand it as a pattern; a lone bracket is a name, as in
    /usr/bin/[."""
    return "*" in part or "?" in part or ("]" in part[part.find("[") + 2 :] and "[" in part)


def of_tries(properties: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Return the problems of the pause between tries, as (property, message)."""
    from remote_runtime.text import duration

    pause = properties.get("try_sleep")
    if not isinstance(pause, str):
        return []
    return [("try_sleep", message) for message in of_text(duration.parse, pause)]


def of_text(parse: Callable[[str], Any], text: str) -> List[str]:
    """Return ``parse``'s message about a text, from its ``ValueError``."""
    try:
        parse(text)
    except ValueError as error:
        return [str(error)]
    return []
