"""The rules for a download resource in addition to its schema (both sides)."""

from typing import Any, Dict, List, Tuple

from remote_runtime.downloads import checksums, request
from remote_runtime.resources.archive.rules import parse_size
from remote_runtime.resources.file.modes import parse_mode
from remote_runtime.validation import rules
from remote_runtime.validation.rules import Problems

_PARSERS = (
    ("timeout", request.positive_seconds),
    ("max_size", parse_size),
    ("mode", parse_mode),
)


def problems(name: str, properties: Dict[str, Any]) -> Problems:
    """Each violated rule as (property, message); no message repeats text that could be a
    credential.
    """
    problems = [("name", message) for message in rules.of_path(name)]
    if name == "/":
        problems.append(("name", "the root directory is not a file"))
    for key in ("url", "checksum_url"):
        value = properties.get(key)
        wrong = request.url_problem(value) if isinstance(value, str) else ""
        problems += [(key, wrong)] if wrong else []
    if "checksum" in properties and "checksum_url" in properties:
        problems.append(("checksum_url", "checksum and checksum_url are mutually exclusive"))
    problems += checksums.checksum_problem(properties.get("checksum"))
    problems += request.access_problems(properties)
    problems += rules.of_tries(properties)
    for key, parse in _PARSERS:
        if isinstance(properties.get(key), str):
            problems += [(key, message) for message in rules.of_text(parse, properties[key])]
    return problems


def warnings(properties: Dict[str, Any]) -> List[Tuple[str, str, str]]:
    """Return settings that are allowed but probably a mistake, as (property, message, hint)."""
    verified = "checksum" in properties or "checksum_url" in properties
    if properties.get("force") and verified:
        hint = "omit it: ccm always replaces a file with another checksum"
        return [("force", "force has no effect with a checksum", hint)]
    return []
