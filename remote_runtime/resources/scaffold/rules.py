"""What a scaffold resource may say beyond its schema (both sides)."""

import posixpath
from typing import Any, Dict, List, Tuple

from remote_runtime import duration, words

Found = List[Tuple[str, str]]

POST_TIMEOUT = "1m"


def problems(name: str, properties: Dict[str, Any]) -> Found:
    """Every broken rule as (property, message)."""
    found = [("name", message) for message in _of_name(name)]
    source = properties.get("source")
    if isinstance(source, str) and "://" in source:
        found.append(
            (
                "source",
                "a URL is not a folder of templates: keep them beside the manifest, or fetch them "
                "into it before the push",
            )
        )
    found.extend(_of_delimiters(properties))
    found.extend(_of_post(properties))
    return found


def _of_name(name: str) -> List[str]:
    if not name.startswith("/"):
        return ["the path must be absolute"]
    if any(ord(char) < 32 or ord(char) == 127 for char in name):
        return ["the path holds a control character"]
    clean = posixpath.normpath("/" + name.lstrip("/"))
    if clean != name:
        return ["the path must be clean, without . or .. or doubled slashes: %s" % clean]
    return ["the root directory cannot be a scaffold"] if name == "/" else []


def _of_delimiters(properties: Dict[str, Any]) -> Found:
    found: Found = []
    for key, other in (("left", "right"), ("right", "left")):
        value = properties.get(key + "_delimiter")
        if value is None:
            continue
        if not properties.get(other + "_delimiter"):
            found.append((key + "_delimiter", "%s_delimiter is needed beside it" % other))
        if any(char.isspace() for char in str(value)):
            found.append((key + "_delimiter", "a delimiter holds no blanks"))
    left = properties.get("left_delimiter")
    if left is not None and left == properties.get("right_delimiter"):
        found.append(("right_delimiter", "the two delimiters must differ"))
    return found


def _of_post(properties: Dict[str, Any]) -> Found:
    found: Found = []
    for entry in properties.get("post") or []:
        for pattern, command in entry.items():
            if not pattern:
                found.append(("post", "the pattern of %r is empty" % command))
            try:
                if not words.split(command):
                    found.append(("post", "the command for %r is empty" % pattern))
            except ValueError as error:
                found.append(("post", "the command for %r: %s" % (pattern, error)))
    if properties.get("post_timeout") is not None:
        try:
            duration.parse(str(properties["post_timeout"]))
        except ValueError as error:
            found.append(("post_timeout", str(error)))
    return found
