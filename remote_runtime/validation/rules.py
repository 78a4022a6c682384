"""What the rules of several types have in common (both sides)."""

import posixpath
from typing import Any, Callable, List


def of_path(path: str) -> List[str]:
    """What is wrong with a path that is to be managed."""
    if not path.startswith("/"):
        return ["the path must be absolute"]
    # Asked as a whole first: this runs for every file of every host.
    if not path.isprintable() and any(ord(char) < 32 or ord(char) == 127 for char in path):
        return ["the path holds a control character"]
    clean = posixpath.normpath("/" + path.lstrip("/"))
    if clean != path:
        return ["the path must be clean, without . or .. or doubled slashes: %s" % clean]
    return []


def of_validation(command: str) -> List[str]:
    """What is wrong with a command that checks a finished file."""
    from remote_runtime.text import shell_words

    try:
        parts = shell_words.split(command)
    except ValueError as error:
        return [str(error)]
    if not any("{}" in part for part in parts):
        return ["it must contain {}, the placeholder for the file to validate"]
    return []


def of_text(parse: Callable[[str], Any], text: str) -> List[str]:
    """What ``parse`` says against a text, by its ``ValueError``."""
    try:
        parse(text)
    except ValueError as error:
        return [str(error)]
    return []
